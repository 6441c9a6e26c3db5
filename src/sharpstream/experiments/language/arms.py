"""Who stands in a language table: every learner of the contract as a run, and the compressors beside them.

In come the name of an arm, a size and a protocol; out comes the run. Under `fair` each neural arm has the step size
that its grid chose (`recipes.text8_steps`); under `paper` all have the published one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sharpstream.config import (
    ClockworkConfig,
    CountsConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    TransformerConfig,
)
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.experiments import recipes
from sharpstream.experiments.regimes import under

# Other pattern blocks than the paper's, each an arm of its own.
BLOCKS: dict[str, Callable[[SharpConfig], SharpConfig]] = {
    "film-normed": recipes.film_normed,
    "film-normed-between": lambda sharp: recipes.gelu_between(recipes.film_normed(sharp)),
}
RECURRENT = ("rnn", "lstm", "gru")
COUNTS = tuple(f"counts-{order}" for order in range(1, 7))
SIMPLE = ("uniform", "unigram", *COUNTS)
COMPRESSORS = ("ppmd-4", "ppmd-6", "ppmd-16", "zpaq-5")


@dataclass(frozen=True)
class Size:
    """How large the neural learners of a table are: levels, layers or modules, H and E; and the Transformers."""

    stack: int
    width: int
    embedding: int
    transformers: Mapping[str, TransformerConfig]
    sleep: SleepConfig = recipes.text8().sharp.sleep
    tuned: bool = False
    """Whether `recipes.text8_steps` were chosen for this size; else every arm has the published step."""

    @property
    def neural(self) -> tuple[str, ...]:
        """The arms trained by gradient."""
        return ("sharp", *BLOCKS, *RECURRENT, "clockwork", *self.transformers)


PUBLISHED_TRANSFORMERS = {
    "transformer-5m": TransformerConfig(layers=6, width=256, heads=8, d_ff=736),
    "transformer-10m": TransformerConfig(layers=12, width=256, heads=8, d_ff=704),
}
# 0.6M parameters: as many as SHARP and the LSTM have at width 128.
SMALL_TRANSFORMER = TransformerConfig(layers=3, width=128, heads=4, d_ff=352)
SIZES = {
    "tiny": Size(
        2,
        8,
        4,
        {"transformer-small": TransformerConfig(layers=1, width=16, heads=2, d_ff=32, chunk=64)},
        SleepConfig(every=2_000, tags=2, replay_length=16),
    ),
    "128": Size(5, 128, 30, {"transformer-small": SMALL_TRANSFORMER, **PUBLISHED_TRANSFORMERS}, tuned=True),
    "512": Size(5, 512, 100, PUBLISHED_TRANSFORMERS),
}


def run_of(arm: str, size: Size, protocol: str) -> RunConfig:
    """The run of one arm; stream, tokens and seed are the experiment's to set."""
    base = recipes.text8()
    if arm in SIMPLE:
        order = int(arm.removeprefix("counts-")) if arm in COUNTS else 0
        return base.replace(learner="counts" if arm in COUNTS else arm, counts=CountsConfig(order=order))
    if arm not in size.neural:
        raise ConfigError(f"there is no arm {arm!r}; there are: {', '.join((*size.neural, *SIMPLE, *COMPRESSORS))}")
    tuned = size.tuned and protocol == "fair"
    adam = recipes.text8_steps(arm) if tuned else base.sharp.adam
    stack, width, embedding = size.stack, size.width, size.embedding
    sharp = replace(base.sharp, levels=stack, width=width, embedding=embedding, adam=adam, sleep=size.sleep)
    if tuned and arm == "sharp":
        sharp = replace(sharp, gamma=recipes.TEXT8_GAMMA)
    run = base.replace(
        learner="transformer" if arm in size.transformers else "sharp" if arm in BLOCKS else arm,
        sharp=BLOCKS[arm](sharp) if arm in BLOCKS else sharp,
        recurrent=RecurrentConfig(layers=stack, width=width, embedding=embedding, adam=adam),
        clockwork=ClockworkConfig(modules=stack, width=width, embedding=embedding, adam=adam),
        transformer=replace(size.transformers.get(arm, TransformerConfig()), adam=adam),
    )
    return under(protocol_named(protocol), run)
