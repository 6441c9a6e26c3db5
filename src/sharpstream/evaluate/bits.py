"""Bits per token: what they sum up to over one array, true and capped.

In come arrays of −log2 p, one number per token, as every learner returns them; out come means and capped means. The
probes, the loop and the experiments call this.
"""

from dataclasses import dataclass

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
