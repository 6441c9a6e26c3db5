"""The retention matrix: bits on each probe segment (columns) at each time (rows), with the learner frozen.

In come probe segments, each with the place in the stream where it was learned, and bits measured at chosen times; out
comes the matrix that `transfer.py` reads and the report draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """A probe: the span of the stream [start, end) that teaches it; None when it is held out."""

    name: str
    start: int | None
    end: int | None

    def __post_init__(self) -> None:
        if (self.start is None) != (self.end is None):
            raise ConfigError(f"segment {self.name!r}: give both start and end, or neither for a held-out segment")
        if self.start is not None and self.end is not None and not 0 <= self.start < self.end:
            raise ConfigError(f"segment {self.name!r}: start {self.start} and end {self.end} must obey 0 ≤ start < end")

    def started_by(self, time: int) -> bool:
        """Whether a learner that has seen `time` tokens has seen any of this segment."""
        return self.start is not None and time > self.start

    def learned_by(self, time: int) -> bool:
        """Whether it has seen all of it."""
        return self.end is not None and time >= self.end


class RetentionMatrix:
    """Rows are times (tokens learned from so far), columns are segments, NaN is "not measured"."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        names = [segment.name for segment in segments]
        if not names or len(set(names)) != len(names):
            raise ConfigError(f"a retention matrix needs segments with distinct names, not {names}")
        self.segments = tuple(segments)
        self.times: list[int] = []
        self._rows: list[Matrix] = []

    @property
    def bits(self) -> Matrix:
        """(times, segments)."""
        return np.array(self._rows, dtype=np.float64).reshape(len(self.times), len(self.segments))

    def add(self, time: int, row: npt.ArrayLike) -> None:
        """Append a row; times only go forward."""
        array = np.asarray(row, dtype=np.float64)
        if array.shape != (len(self.segments),):
            raise ConfigError(f"a row needs {len(self.segments)} numbers, one per segment, not shape {array.shape}")
        if self.times and time <= self.times[-1]:
            raise ConfigError(f"time {time} does not come after the last recorded time {self.times[-1]}")
        self.times.append(int(time))
        self._rows.append(array.copy())

    def corrected(self, baseline: npt.ArrayLike) -> "RetentionMatrix":
        """The excess over a baseline's bits, B − C, so that no hard segment dominates.

        C is one number per segment, or a whole matrix measured at the same times. With one number per segment the
        excess leaves within-segment differences (backward transfer, forgetting) as they are: it matters where
        different segments are compared, as in `recall_gain`; a matrix C matters everywhere.
        """
        reference = np.asarray(baseline, dtype=np.float64)
        if reference.shape not in ((len(self.segments),), self.bits.shape):
            raise ConfigError(
                f"the baseline has shape {reference.shape}; it must be ({len(self.segments)},) or {self.bits.shape}"
            )
        other = RetentionMatrix(self.segments)
        for time, row in zip(self.times, self.bits - reference, strict=True):
            other.add(time, row)
        return other
