"""How much a text changes as it goes: Hellinger distances between the letter counts of its windows.

In come tokens; out comes the mean distance at each lag ≥ 1, beside the same for the tokens shuffled, which shows how
much of the distance is only the noise of finite windows. The `nonstationarity` study calls this.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError, StreamError
from sharpstream.learners.contract import Tokens, check_tokens

Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Nonstationarity:
    """Mean Hellinger distance at each lag, counted in windows."""

    window: int
    lags: npt.NDArray[np.int64]
    distance: Real
    shuffled: Real  # the same tokens in random order: the level at which nothing changes


def histograms(tokens: Tokens, *, vocabulary: int, window: int = 1024) -> Real:
    """Relative frequencies in each whole window, (W, V); a last part of a window is left out."""
    checked = check_tokens(tokens, vocabulary)
    count = len(checked) // window if window >= 1 else 0
    if count < 2:
        raise StreamError(f"{len(checked)} tokens do not fill two windows of {window}")
    place = np.repeat(np.arange(count, dtype=np.int64), window) * vocabulary
    counts = np.bincount(place + checked[: count * window], minlength=count * vocabulary)
    return counts.reshape(count, vocabulary) / float(window)


def hellinger(p: npt.ArrayLike, q: npt.ArrayLike) -> Real:
    """√(½ Σ (√p − √q)²) along the last axis: 0 for equal distributions, 1 for disjoint ones.

    >>> float(hellinger([1.0, 0.0], [0.0, 1.0]))
    1.0
    """
    difference = np.sqrt(np.asarray(p, dtype=np.float64)) - np.sqrt(np.asarray(q, dtype=np.float64))
    return np.asarray(np.sqrt(0.5 * (difference**2).sum(axis=-1)))


def distance_by_lag(frequencies: Real, *, max_lag: int | None = None) -> Real:
    """The mean over all pairs of windows `lag` apart, for lag = 1..max_lag (all lags when not given)."""
    longest = len(frequencies) - 1 if max_lag is None else max_lag
    if not 1 <= longest < len(frequencies):
        raise ConfigError(f"max_lag = {max_lag!r} for {len(frequencies)} windows: it must be 1..{len(frequencies) - 1}")
    return np.array([hellinger(frequencies[lag:], frequencies[:-lag]).mean() for lag in range(1, longest + 1)])


def distance_across(left: Real, right: Real, max_lag: int) -> Real:
    """The mean over pairs of one window before a boundary and one after it, for lag = 1..max_lag.

    >>> a, b = np.array([[1.0, 0.0]] * 2), np.array([[0.0, 1.0]] * 2)
    >>> distance_across(a, b, 2).tolist()
    [1.0, 1.0]
    """
    most = min(len(left), len(right))
    if not 1 <= max_lag <= most:
        raise ConfigError(f"max_lag = {max_lag!r}: it must be 1..{most}, the windows on each side")
    return np.array([hellinger(left[-lag:], right[:lag]).mean() for lag in range(1, max_lag + 1)])


def nonstationarity(
    tokens: Tokens, *, vocabulary: int, window: int = 1024, max_lag: int | None = None, seed: int = 0
) -> Nonstationarity:
    """Distances of the text, and of the same tokens shuffled. Lag 0 is left out: it is 0 by definition."""
    text = distance_by_lag(histograms(tokens, vocabulary=vocabulary, window=window), max_lag=max_lag)
    mixed = np.random.default_rng(seed).permutation(np.asarray(tokens))
    reference = distance_by_lag(histograms(mixed, vocabulary=vocabulary, window=window), max_lag=max_lag)
    return Nonstationarity(window, np.arange(1, len(text) + 1, dtype=np.int64), text, reference)
