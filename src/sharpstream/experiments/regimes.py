"""From a protocol to the settings it means, and from a learner to the regime its numbers came about in."""

from dataclasses import replace

from sharpstream.config import RunConfig, SharpConfig
from sharpstream.evaluate.protocols import EvaluationProtocol
from sharpstream.evaluate.rows import NOT_APPLICABLE, Regime
from sharpstream.learners.contract import Learner


def under(protocol: EvaluationProtocol, config: RunConfig) -> RunConfig:
    """The same run under a protocol: how baselines carry their state, how a Transformer is scored, what sleep resets.

    >>> from sharpstream.evaluate.protocols import PAPER
    >>> paper = under(PAPER, RunConfig())
    >>> paper.recurrent.carry, paper.clockwork.wiring, paper.transformer.scoring, paper.sharp.sleep.reset_on_sleep
    ('overlap', 'reversed', 'window4', True)
    """
    published = protocol.carry == "overlap"
    return replace(
        config,
        recurrent=replace(config.recurrent, carry=protocol.carry),
        clockwork=replace(config.clockwork, carry=protocol.carry, wiring="reversed" if published else "original"),
        transformer=replace(config.transformer, scoring=protocol.transformer_context),
        sharp=_published_sharp(config.sharp) if published else config.sharp,
    )


def _published_sharp(sharp: SharpConfig) -> SharpConfig:
    """What the published runs had beside the algorithm: cells in ±1/√H, noisy replay, a sleep that resets."""
    return replace(sharp, cells="uniform", sleep=replace(sharp.sleep, reset_on_sleep=True, replay_noise=0.1))


def regime_of(learner: Learner, *, clip: float | None, tokens: int) -> Regime:
    """How this learner's number came about; what a learner does not say of itself does not apply to it."""
    said = learner.regime
    return Regime(
        clip=clip,
        train_context=_known(said.get("train_context", said.get("window"))),
        score_context=_known(said.get("score_context", "carried")),
        carry=str(said.get("carry", NOT_APPLICABLE)),
        update_interval=int(said.get("update_interval", 1)),
        token_budget=tokens,
    )


def _known(value: str | int | float | None) -> int | str:
    return NOT_APPLICABLE if value is None else (value if isinstance(value, str) else int(value))
