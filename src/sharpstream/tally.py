"""What the loop counts between two rows of the log, and how a checkpoint gives it back.

Bits are added from the left one token at a time, so that a sum does not show where the chunks were cut.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sharpstream.evaluate.bits import PAPER_CAP

MOST_TOKENS = 2**62  # no run is longer, and every position fits an int64


@dataclass(kw_only=True)
class Tally:
    """Sums over the present interval or over the whole run; plain numbers, so that a checkpoint holds them exactly."""

    tokens: int = 0
    bits: float = 0.0
    clipped: float = 0.0
    wrong: int | None = 0  # None: this learner does not say which guesses were right

    def add(self, bits: npt.NDArray[np.float64], wrong: int | None) -> None:
        """Count one chunk."""
        self.tokens += bits.size
        self.bits = _sum(bits, self.bits)
        self.clipped = _sum(np.minimum(bits, PAPER_CAP), self.clipped)
        self.wrong = None if wrong is None or self.wrong is None else self.wrong + wrong

    def means(self) -> dict[str, Any]:
        """Per token: true bits first, what the published cap would make of them, and the share of wrong guesses."""
        n = max(self.tokens, 1)
        error = None if self.wrong is None else self.wrong / n
        return {"bits": self.bits / n, "bits_clipped": self.clipped / n, "error": error}

    @classmethod
    def from_record(cls, values: Any) -> Self:
        """A tally read back; a ValueError says what cannot be."""
        if not isinstance(values, Mapping) or values.keys() != cls().__dict__.keys():
            raise ValueError("a tally has other fields")
        for name in ("tokens", "wrong"):
            unknown = name == "wrong" and values[name] is None
            if not unknown and (type(values[name]) is not int or not 0 <= values[name] <= MOST_TOKENS):
                raise ValueError(f"{name} is no count")
        for name in ("bits", "clipped"):
            if type(values[name]) is not float or not (math.isfinite(values[name]) and values[name] >= 0):
                raise ValueError(f"{name} is no sum of bits")
        return cls(**values)


def _sum(bits: npt.NDArray[np.float64], start: float) -> float:
    for cost in bits.tolist():  # a chunk has 250 of them: nothing beside learning
        start += cost
    return start


def same_form(ours: Any, theirs: Any) -> bool:
    """Whether two nested values of the log have the same names, lengths and kinds of finite numbers."""
    if isinstance(ours, Mapping):
        return (
            isinstance(theirs, Mapping)
            and ours.keys() == theirs.keys()
            and all(same_form(ours[name], theirs[name]) for name in ours)
        )
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(same_form, ours, theirs))
    if type(ours) is not type(theirs):
        return False
    return not isinstance(theirs, float) or math.isfinite(theirs)


def interval_of(before: Mapping[str, Any], after: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """SHARP's own numbers over one interval: reconstruction error per level, share of gated updates, tags, sleeps."""
    if "recon_sum" not in after:
        return {}
    sums = [b - a for a, b in zip(before["recon_sum"], after["recon_sum"], strict=True)]
    counts = [b - a for a, b in zip(before["recon_count"], after["recon_count"], strict=True)]
    return {
        "reconstruction": [s / n if n else None for s, n in zip(sums, counts, strict=True)],
        "gated": (after["updates"][0] - before["updates"][0]) / max(tally.tokens, 1),
        "tagged": after["tagged"] - before["tagged"],
        "tags_stored": after["tags_stored"],
        "sleeps": after["sleeps"],
    }
