"""Paired differences over seeds or segments: mean, 95 % interval by Student's t, and how many pairs.

In come two mappings from keys (seed, segment, or both) to a number; out comes one difference, over the keys that both
have: an unpaired mean hides which seeds were lucky. The tables and the experiments call this.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharpstream.errors import ConfigError
from sharpstream.evaluate.student import t_quantile


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval; with a single value the interval is unknown (NaN), not zero."""

    mean: float
    low: float
    high: float
    n: int
    level: float = 0.95

    @property
    def half_width(self) -> float:
        """Half of the interval: the number after ±."""
        return 0.5 * (self.high - self.low)


def mean_interval(values: Sequence[float], *, level: float = 0.95) -> Estimate:
    """mean ± t_{(1+level)/2, n−1} · s/√n, s the standard deviation with n − 1.

    >>> mean_interval([1.0]).n
    1
    """
    n = len(values)
    if n == 0:
        raise ConfigError("there are no values to average")
    if not 0.0 < level < 1.0:
        raise ConfigError(f"level = {level!r}: it must be between 0 and 1, such as 0.95")
    mean = math.fsum(values) / n if all(map(math.isfinite, values)) else sum(values) / n
    if math.isinf(mean) and n > 1 and min(values) == max(values):
        return Estimate(mean, mean, mean, n, level)  # every one of them diverged
    if n == 1 or not math.isfinite(mean):
        return Estimate(mean, math.nan, math.nan, n, level)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = t_quantile(0.5 * (1.0 + level), n - 1) * deviation / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n, level)


def estimate_of(values: Iterable[float]) -> Estimate | None:
    """`mean_interval`, or None where nothing was measured."""
    known = list(values)
    return mean_interval(known) if known else None


def difference_where_both(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> Estimate | None:
    """mean of ours[key] − theirs[key] over the keys that both have; None where they share none.

    In bits, negative means ours is better.
    """
    return estimate_of([ours[key] - theirs[key] for key in ours if key in theirs])
