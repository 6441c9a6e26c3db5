"""A learner from its config: the one place that knows every learner by name."""

from typing import Any

import numpy.typing as npt

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Learner

LEARNERS = ("sharp",)


def make_learner(config: RunConfig, vocabulary: int, *, vectors: npt.NDArray[Any] | None = None) -> Learner:
    """The learner a run asks for, before its first token."""
    if config.learner not in LEARNERS:
        raise ConfigError(f"there is no learner {config.learner!r}; there are: {', '.join(LEARNERS)}")
    if config.engine == "reference":
        require_torch(f"the reference engine of {config.learner}")
        from sharpstream.reference.sharp import ReferenceSharp

        return ReferenceSharp(config.sharp, vocabulary, seed=config.seed, vectors=vectors)
    from sharpstream.learners.sharp import Sharp

    return Sharp(config.sharp, vocabulary, seed=config.seed, vectors=vectors)


def require_torch(what: str) -> None:
    """Refuse in one sentence when PyTorch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError as problem:
        raise ConfigError(f"{what} needs PyTorch: pip install 'sharpstream[torch]'") from problem


def window_of(config: RunConfig) -> int:
    """The shortest stream this learner can learn from: one full window."""
    return config.sharp.window if config.learner == "sharp" else 1
