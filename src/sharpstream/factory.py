"""A learner from its config: the one place that knows every learner by name."""

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy.typing as npt

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Learner

Vectors = npt.NDArray[Any] | None
Make = Callable[[RunConfig, int, Vectors], Learner]


def _sharp(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    if config.engine == "reference":
        from sharpstream.reference.sharp import ReferenceSharp

        return ReferenceSharp(config.sharp, vocabulary, seed=config.seed, vectors=vectors)
    from sharpstream.learners.sharp import Sharp

    return Sharp(config.sharp, vocabulary, seed=config.seed, vectors=vectors)


def _recurrent(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    cell = cast(Literal["rnn", "lstm", "gru"], config.learner)
    settings = replace(config.recurrent, cell=cell)
    if config.engine == "reference":
        from sharpstream.reference.recurrent import ReferenceRecurrent

        return ReferenceRecurrent(settings, vocabulary, seed=config.seed, vectors=vectors)
    from sharpstream.learners.recurrent import Recurrent

    return Recurrent(settings, vocabulary, seed=config.seed, vectors=vectors)


def _clockwork(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    if config.engine == "reference":
        from sharpstream.reference.clockwork import ReferenceClockwork

        return ReferenceClockwork(config.clockwork, vocabulary, seed=config.seed, vectors=vectors)
    from sharpstream.learners.clockwork import Clockwork

    return Clockwork(config.clockwork, vocabulary, seed=config.seed, vectors=vectors)


def _transformer(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    require_torch("the Transformer")
    from sharpstream.reference.transformer import TransformerLearner

    return TransformerLearner(config.transformer, vocabulary, seed=config.seed, vectors=vectors)


def _counts(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    from sharpstream.learners.counts import Counts

    order = {"uniform": -1, "unigram": 0}.get(config.learner, config.counts.order)
    return Counts(replace(config.counts, order=order), vocabulary, seed=config.seed)


def _episodic(config: RunConfig, vocabulary: int, vectors: Vectors) -> Learner:
    from sharpstream.learners.episodic import Episodic

    kind, expert = config.episodic.expert, None
    if kind != "none":
        expert = LEARNERS[kind](config.replace(learner=kind, engine="fused"), vocabulary, None)
    return Episodic(config.episodic, vocabulary, seed=config.seed, expert=expert)


LEARNERS: dict[str, Make] = {
    "sharp": _sharp,
    "rnn": _recurrent,
    "lstm": _recurrent,
    "gru": _recurrent,
    "clockwork": _clockwork,
    "transformer": _transformer,
    "counts": _counts,
    "unigram": _counts,
    "uniform": _counts,
    "episodic": _episodic,
}
WITH_TWIN = ("sharp", "rnn", "lstm", "gru", "clockwork")


def make_learner(config: RunConfig, vocabulary: int, *, vectors: Vectors = None) -> Learner:
    """The learner a run asks for, before its first token."""
    name = config.learner
    if name not in LEARNERS:
        near = difflib.get_close_matches(name, LEARNERS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigError(f"there is no learner {name!r}{hint}; there are: {', '.join(LEARNERS)}")
    if config.engine == "reference":
        if name not in WITH_TWIN:
            raise ConfigError(f"engine = 'reference': {name} has no twin; only {', '.join(WITH_TWIN)} do")
        require_torch(f"the reference engine of {name}")
    return LEARNERS[name](config, vocabulary, vectors)


def require_torch(what: str) -> None:
    """Refuse in one sentence when PyTorch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError as problem:
        raise ConfigError(f"{what} needs PyTorch: pip install 'sharpstream[torch]'") from problem


def window_of(config: RunConfig) -> int:
    """The shortest stream this learner can learn from: one full window, where it has one."""
    windows = {"sharp": config.sharp.window, "clockwork": config.clockwork.window}
    windows |= dict.fromkeys(("rnn", "lstm", "gru"), config.recurrent.window + 1)  # T inputs and the one they predict
    return windows.get(config.learner, 1)
