"""Squared maximum mean discrepancy: how far apart two clouds of states are, without knowing their distribution.

In come two samples of vectors, (n, H) and (m, H); out comes one number, unbiased and so sometimes below 0. The
`replay-quality` study compares wake with replay, with itself and with noise, all at one bandwidth.
"""

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError

Real = npt.NDArray[np.float64]


def mmd_squared(first: npt.ArrayLike, second: npt.ArrayLike, *, bandwidth: float | None = None) -> float:
    """mean_{i≠j} k(x_i, x_j) + mean_{i≠j} k(y_i, y_j) − 2 mean_{ij} k(x_i, y_j), k(a, b) = exp(−‖a−b‖² / 2σ²).

    σ is the median distance of the pooled sample unless `bandwidth` gives it: give one for comparisons that stand
    side by side. Leaving out i = j makes the mean 0 for two samples of one distribution; nothing is clamped.
    """
    x, y = _sample(first, "first"), _sample(second, "second")
    if x.shape[1] != y.shape[1]:
        raise ConfigError(f"the samples have {x.shape[1]} and {y.shape[1]} dimensions: they must have the same")
    sigma = median_bandwidth(np.concatenate([x, y])) if bandwidth is None else bandwidth
    if not (np.isfinite(sigma) and sigma > 0.0):
        raise ConfigError(f"bandwidth = {bandwidth!r}: it must be a finite number above 0")
    within = _mean_of_pairs(_kernel(x, x, sigma)) + _mean_of_pairs(_kernel(y, y, sigma))
    return within - 2.0 * float(_kernel(x, y, sigma).mean())


def median_bandwidth(*samples: npt.ArrayLike) -> float:
    """The median distance between different points of the pooled samples.

    When most points coincide the median is 0 and no bandwidth: then the median of the
    distances above 0 serves, and 1 when all points are one.
    """
    pooled = np.concatenate([_sample(sample, "pooled") for sample in samples])
    distances = np.sqrt(_squared_distances(pooled, pooled)[np.triu_indices(len(pooled), k=1)])
    floor = 1e-6 * float(distances.max())  # equal points may come out a rounding error apart
    median = float(np.median(distances))
    if median > floor:
        return median
    apart = distances[distances > floor]
    return float(np.median(apart)) if apart.size else 1.0


def gaussian_twin(sample: npt.ArrayLike, generator: np.random.Generator) -> Real:
    """Noise with the sample's mean and variance in each dimension: what states look like when nothing links them."""
    x = _sample(sample, "sample")
    return generator.normal(x.mean(axis=0), x.std(axis=0), size=x.shape)


def _sample(values: npt.ArrayLike, name: str) -> Real:
    """At least two finite vectors, as float64."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or len(array) < 2:
        raise ConfigError(f"the {name} sample has shape {array.shape}: it must hold at least two vectors, (n, H)")
    if not np.isfinite(array).all():
        raise ConfigError(f"the {name} sample holds values that are not finite")
    return array


def _squared_distances(x: Real, y: Real) -> Real:
    """‖x_i − y_j‖², (n, m), through one matrix product; points are centred first, and rounding below 0 is cut."""
    centre = x.mean(axis=0)
    x, y = x - centre, y - centre
    squared = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2.0 * (x @ y.T)
    return np.asarray(np.maximum(squared, 0.0))


def _kernel(x: Real, y: Real, sigma: float) -> Real:
    """(n, m)."""
    return np.exp(_squared_distances(x, y) / (-2.0 * sigma**2))


def _mean_of_pairs(kernel: Real) -> float:
    """The mean off the diagonal."""
    n = len(kernel)
    return float((kernel.sum() - np.trace(kernel)) / (n * (n - 1)))
