"""Paired differences over seeds or segments: mean (or median), its 95 % interval, and how many pairs.

In come two mappings from keys (seed, segment, or both) to a number; out comes one difference, over the keys that both
have: an unpaired mean hides which seeds were lucky. The tables and the experiments call this.
"""

import math
import statistics
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


def median_interval(values: Sequence[float], *, level: float = 0.95) -> Estimate:
    """The median between two order statistics: nothing is assumed of the values, and infinite ones are welcome.

    The k-th smallest and k-th largest, k as large as P(Binomial(n, ½) < k) ≤ (1 − level)/2 allows. Fewer than six
    values bound nothing at 95 %.

    >>> median_interval([-9.0, -5.0, -4.0, -3.0, -2.0, -math.inf])
    Estimate(mean=-4.5, low=-inf, high=-2.0, n=6, level=0.95)
    >>> median_interval([1.0, 2.0, 3.0]).high
    inf
    """
    ordered, n = sorted(values), len(values)
    if n == 0:
        raise ConfigError("there are no values to take the median of")
    k, below = 0, 0.5**n  # below: P(Binomial(n, 1/2) ≤ k)
    while below <= 0.5 * (1.0 - level):
        k += 1
        below += math.comb(n, k) * 0.5**n
    low, high = (ordered[k - 1], ordered[n - k]) if k else (-math.inf, math.inf)
    return Estimate(statistics.median(ordered), low, high, n, level)


def estimate_of(values: Iterable[float]) -> Estimate | None:
    """`mean_interval`, or None where nothing was measured."""
    known = list(values)
    return mean_interval(known) if known else None


def difference_where_both(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> Estimate | None:
    """mean of ours[key] − theirs[key] over the keys that both have; None where they share none.

    In bits, negative means ours is better.
    """
    return estimate_of(_differences(ours, theirs))


def median_difference_where_both(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> Estimate | None:
    """The same with `median_interval`, for values of which some are only known to be large."""
    pairs = _differences(ours, theirs)
    return median_interval(pairs) if pairs else None


def _differences(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> list[float]:
    return [ours[key] - theirs[key] for key in ours if key in theirs]
