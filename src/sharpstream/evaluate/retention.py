"""The retention matrix: bits on each probe segment (columns) at each time (rows), with the learner frozen.

In come probe segments, each with the place in the stream where it was learned, and a learner at chosen times; out comes
the matrix that `transfer.py` reads. The loop records into it; the report draws it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError
from sharpstream.evaluate.probes import frozen_bits
from sharpstream.learners.contract import Learner, Tokens

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """A probe: its tokens, and the span of the stream [start, end) that teaches it; None when it is held out."""

    name: str
    start: int | None
    end: int | None
    tokens: Tokens | None = field(default=None, compare=False, repr=False)

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

    def record(self, learner: Learner, time: int, *, seen_only: bool = False) -> Matrix:
        """Measure every segment now; with `seen_only` leave those not begun, and those held out, unmeasured."""
        row = np.full(len(self.segments), np.nan)
        for column, segment in enumerate(self.segments):
            if seen_only and not segment.started_by(time):
                continue
            if segment.tokens is None:
                raise ConfigError(f"segment {segment.name!r} has no tokens, so it cannot be measured")
            row[column] = float(frozen_bits(learner, segment.tokens, probe=segment.name).mean())
        self.add(time, row)
        return row

    def add(self, time: int, row: npt.ArrayLike) -> None:
        """Append a row measured elsewhere; times only go forward."""
        array = np.asarray(row, dtype=np.float64)
        if array.shape != (len(self.segments),):
            raise ConfigError(f"a row needs {len(self.segments)} numbers, one per segment, not shape {array.shape}")
        if self.times and time <= self.times[-1]:
            raise ConfigError(f"time {time} does not come after the last recorded time {self.times[-1]}")
        self.times.append(int(time))
        self._rows.append(array.copy())

    def state(self) -> dict[str, Any]:
        """Plain values for JSON, without the tokens; NaN becomes None, which JSON has a word for."""
        return {
            "segments": [[segment.name, segment.start, segment.end] for segment in self.segments],
            "times": list(self.times),
            "bits": [[None if np.isnan(value) else float(value) for value in row] for row in self._rows],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], tokens: Mapping[str, Tokens] | None = None) -> "RetentionMatrix":
        """The matrix back; give the segments' tokens by name to go on recording."""
        given = tokens or {}
        segments = [Segment(name, start, end, given.get(name)) for name, start, end in state["segments"]]
        matrix = cls(segments)
        for time, row in zip(state["times"], state["bits"], strict=True):
            matrix.add(int(time), [np.nan if value is None else value for value in row])
        return matrix

    def corrected(self, baseline: npt.ArrayLike, *, ratio: bool = False) -> "RetentionMatrix":
        """The matrix against a baseline's bits: the excess B − C, or with `ratio` B / C, so no hard segment dominates.

        C is one number per segment, or a whole matrix measured at the same times. With one number per segment the
        excess leaves within-segment differences (backward transfer, forgetting) as they are: it matters where
        different segments are compared, as in `recall_gain`; the ratio and a matrix C matter everywhere.
        """
        reference = np.asarray(baseline, dtype=np.float64)
        if reference.shape not in ((len(self.segments),), self.bits.shape):
            raise ConfigError(
                f"the baseline has shape {reference.shape}; it must be ({len(self.segments)},) or {self.bits.shape}"
            )
        if ratio and not np.all(reference[np.isfinite(reference)] > 0.0):
            raise ConfigError("a ratio needs a baseline above 0 bits on every segment")
        other = RetentionMatrix(self.segments)
        for time, row in zip(self.times, self.bits / reference if ratio else self.bits - reference, strict=True):
            other.add(time, row)
        return other
