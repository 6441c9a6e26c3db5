"""The one contract every learner keeps: SHARP, its baselines, its references.

The loop, the evaluations and the contract suite of the tests know learners only through this file.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError, RunError
from sharpstream.streams.base import check_tokens as check_tokens

Array = npt.NDArray[Any]
Bits = npt.NDArray[np.float64]
Tokens = npt.NDArray[np.integer[Any]]
State = dict[str, Array]  # a learner's whole state: flat, named NumPy arrays
Regime = Mapping[str, str | int | float]  # how a number came about: clip, contexts, carry, update interval


@runtime_checkable
class Learner(Protocol):
    """A predictor of the next token that learns from each token once."""

    name: str
    vocabulary: int
    seed: int
    regime: Regime
    correct: npt.NDArray[np.bool_]  # of the last learn or evaluate: was the top token right? Empty where nobody counts

    def predict(self) -> npt.NDArray[np.float64]:
        """Probabilities of the next token, (V,). Changes nothing."""

    def observe(self, token: int) -> float:
        """Score one token in bits by what was predicted before it was seen, then learn from it."""

    def learn(self, tokens: Tokens) -> Bits:
        """`observe` over a whole chunk: the same result token for token, compiled."""

    def evaluate(self, tokens: Tokens) -> Bits:
        """Bits of each token with learning off, on a copy of the state. Changes nothing."""

    def forget(self) -> None:
        """Back to where no token has been seen: states, windows and clocks. What was learned stays."""

    def state_dict(self) -> State:
        """Copies of every array that decides what happens next."""

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Continue from a `state_dict`; refuses unknown, missing or misshapen arrays."""

    def parameters(self, *, active: bool = False) -> int:
        """How many trained numbers there are; with `active`, only those that change while awake."""

    def metrics(self) -> Mapping[str, Any]:
        """Totals since the start, for the log: plain numbers and lists of them; empty where there is nothing to say."""

    @property
    def growth_bytes(self) -> int:
        """How much larger than now its state can become: windows, tags and tables fill up."""

    def compiled(self) -> bool:
        """Whether nothing is left to compile before it learns."""


class LearnerBase:
    """The parts of the contract that most learners have nothing to say to."""

    def metrics(self) -> Mapping[str, Any]:
        return {}

    @property
    def growth_bytes(self) -> int:
        return 0

    def compiled(self) -> bool:
        return True


@runtime_checkable
class Sleeper(Protocol):
    """A learner that also learns offline."""

    sleep_reports: deque[Mapping[str, Any]]  # what the latest sleeps did; whoever reads them clears them

    def sleep(self) -> Mapping[str, Any] | None:
        """Replay and consolidate now; a report of what was done, or None when nothing was tagged."""


@runtime_checkable
class Resettable(Protocol):
    """A learner that can be scored, frozen, with its hidden state set back to the start at fixed distances."""

    name: str

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate`, with hidden states and clocks zeroed before token 0 and every `every` tokens after (0: never).

        Changes nothing. The first token after a reset is scored by the prediction of an empty memory.
        """


@runtime_checkable
class Layered(Protocol):
    """A learner whose states can be looked at, level by level."""

    def hidden_states(self, tokens: Tokens, level: int = 1) -> Array:
        """The state of a level after each token from the present state, learning off, (n, H). Changes nothing."""


def sleep_reports() -> deque[Mapping[str, Any]]:
    """An empty list of reports; where nobody reads and clears them, the oldest are let go."""
    return deque(maxlen=1_000)


def check_state_tokens(name: str, tokens: Array, vocabulary: int) -> None:
    """Refuse a state whose window holds tokens that are none: compiled loops index their tables by them."""
    if tokens.size and not (tokens.min() >= 0 and tokens.max() < vocabulary):
        raise RunError(f"the state's {name} holds tokens outside the vocabulary of {vocabulary}")


def check_level(level: int, levels: int) -> int:
    """A level that the learner has: compiled loops index by it without looking."""
    if not isinstance(level, (int, np.integer)) or not 1 <= level <= levels:
        raise ConfigError(f"level = {level!r}: this learner has levels 1..{levels}")
    return int(level)


def check_resets(every: int) -> int:
    """A distance between resets: 0 (never) or more tokens."""
    if not isinstance(every, (int, np.integer)) or every < 0:
        raise ConfigError(f"every = {every!r}: it must be an integer ≥ 0 (0: never)")
    return int(every)


def check_shape(name: str, array: Array, shape: tuple[int | None, ...]) -> Array:
    """An array of this shape (None: any length): compiled loops read as far as the shapes of others say."""
    given = np.asarray(array)
    if given.ndim != len(shape) or any(b is not None and a != b for a, b in zip(given.shape, shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ConfigError(f"{name} has the shape {given.shape}; it must be ({wanted})")
    return given


@contextmanager
def frozen(learner: Learner) -> Iterator[None]:
    """Run a block and put the learner's state back afterwards, whatever happened inside."""
    state = learner.state_dict()
    try:
        yield
    finally:
        learner.load_state_dict(state)
