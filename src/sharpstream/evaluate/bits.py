"""Bits per token: what they sum up to over one array, and over a stream that never ends.

In come arrays of −log2 p, one number per token, as every learner returns them; out come means, capped means and the
prequential curve. The probes, the loop and the experiments call this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError, NumericalError, StreamError

PAPER_CAP = 4.755  # log2(27) rounded: the cap of the published tables, also on the 50,257-way task


@dataclass(frozen=True)
class BitsSummary:
    """The mean over one array: `bits` is the headline, `bits_clipped` only stands beside published numbers."""

    tokens: int
    bits: float
    bits_clipped: float
    cap: float


def check_bits(bits: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The bits as a flat float64 array; NaN and negative values are a learner's fault and are not averaged away.

    +∞ (a token given probability 0) is a true score and stays.
    """
    array = np.asarray(bits, dtype=np.float64)
    if array.ndim != 1:
        raise ConfigError(f"bits must be one number per token, not an array of shape {array.shape}")
    bad = np.flatnonzero(~(array >= -1e-9))  # NaN fails every comparison; rounding may leave p a hair above 1
    if bad.size:
        raise NumericalError(f"bits[{int(bad[0])}] = {array[bad[0]]}: a score must be a number ≥ 0")
    return array


def check_cap(cap: float) -> float:
    """The cap, or an error: it is in bits and must be positive (∞ caps nothing)."""
    if not cap > 0.0:
        raise ConfigError(f"cap = {cap!r}: it must be a positive number of bits")
    return float(cap)


def summarise(bits: npt.ArrayLike, *, cap: float = PAPER_CAP) -> BitsSummary:
    """Mean bits, and the mean after capping each token at `cap`.

    >>> summarise([1.0, 3.0, 8.0], cap=5.0)
    BitsSummary(tokens=3, bits=4.0, bits_clipped=3.0, cap=5.0)
    """
    array = check_bits(bits)
    if not array.size:
        raise StreamError("there are no bits to average: the token array was empty")
    cap = check_cap(cap)
    return BitsSummary(int(array.size), float(array.mean()), float(np.minimum(array, cap).mean()), cap)


def accuracy(predictions: npt.ArrayLike, tokens: npt.ArrayLike) -> float:
    """Share of tokens equal to the guess made before each was seen.

    >>> accuracy([0, 1, 2, 2], [0, 1, 1, 2])
    0.75
    """
    guessed, seen = np.asarray(predictions), np.asarray(tokens)
    if guessed.shape != seen.shape or guessed.ndim != 1:
        raise ConfigError(f"{guessed.shape} predictions do not pair with {seen.shape} tokens")
    if not seen.size:
        raise StreamError("there are no predictions to count: the token array was empty")
    return float(np.mean(guessed == seen))


class Prequential:
    """The score of a single pass: the mean of bits before each update, and its curve per `every` tokens.

    Only sums are kept, and two numbers per finished interval, so a run of any length fits; `state` is plain numbers
    for a checkpoint, and the same chunks after a resume give the same floats.

    >>> score = Prequential(every=2)
    >>> score.add([1.0, 3.0, 8.0])
    >>> score.bits, score.curve().bits.tolist()
    (4.0, [2.0])
    """

    def __init__(self, *, every: int = 100_000, cap: float = PAPER_CAP) -> None:
        if every < 1:
            raise ConfigError(f"every = {every!r}: a curve needs intervals of at least 1 token")
        self.every, self.cap = every, check_cap(cap)
        self.tokens = 0
        self._total = self._total_clipped = 0.0
        self._open = self._open_clipped = 0.0  # sums of the interval that has not ended yet
        self._points: list[float] = []
        self._points_clipped: list[float] = []

    def add(self, bits: npt.ArrayLike) -> None:
        """Count the next tokens of the stream, in any chunking."""
        array = check_bits(bits)
        start = 0
        while start < array.size:
            room = self.every - self.tokens % self.every
            piece = array[start : start + room]
            clipped = float(np.minimum(piece, self.cap).sum())
            self._total += float(piece.sum())
            self._total_clipped += clipped
            self._open += float(piece.sum())
            self._open_clipped += clipped
            self.tokens += piece.size
            start += piece.size
            if self.tokens % self.every == 0:
                self._points.append(self._open / self.every)
                self._points_clipped.append(self._open_clipped / self.every)
                self._open = self._open_clipped = 0.0

    @property
    def bits(self) -> float:
        """Mean over everything so far; NaN before the first token."""
        return self._total / self.tokens if self.tokens else float("nan")

    @property
    def bits_clipped(self) -> float:
        """The same with every token capped."""
        return self._total_clipped / self.tokens if self.tokens else float("nan")

    def curve(self) -> "Curve":
        """One point per finished interval, placed at its end."""
        ends = self.every * np.arange(1, len(self._points) + 1, dtype=np.int64)
        return Curve(ends, np.array(self._points), np.array(self._points_clipped))

    def state(self) -> dict[str, Any]:
        """Plain numbers and lists of them, ready for JSON."""
        return {
            "every": self.every,
            "cap": self.cap,
            "tokens": self.tokens,
            "sums": [self._total, self._total_clipped, self._open, self._open_clipped],
            "points": list(self._points),
            "points_clipped": list(self._points_clipped),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Prequential":
        """Continue exactly where `state` was taken."""
        score = cls(every=int(state["every"]), cap=float(state["cap"]))
        score.tokens = int(state["tokens"])
        sums: Sequence[float] = state["sums"]
        score._total, score._total_clipped, score._open, score._open_clipped = map(float, sums)
        score._points = [float(point) for point in state["points"]]
        score._points_clipped = [float(point) for point in state["points_clipped"]]
        return score


@dataclass(frozen=True)
class Curve:
    """Prequential bits against tokens; the three arrays have one entry per finished interval."""

    tokens: npt.NDArray[np.int64]
    bits: npt.NDArray[np.float64]
    bits_clipped: npt.NDArray[np.float64]
