"""tanh, exp and GELU over whole vectors, written so that LLVM vectorises the float32 case.

float64 goes through the C library: it is the precision of the equality tests, not of production.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from sharpstream.kernels.jit import OPTIONS, Array, kernel

SQRT_HALF = math.sqrt(0.5)
DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
LOG2_E = math.log2(math.e)
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4  # ln 2 in two pieces: k·high is exact for every exponent k


@intrinsic
def _exponent_bits(context: Any, k: Any) -> Any:
    """2^k as a float32, by writing k into the exponent bits; k in -126..127."""

    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        biased = builder.add(arguments[0], ctx.get_constant(types.int32, 127))
        bits = builder.shl(biased, ctx.get_constant(types.int32, 23))
        return builder.bitcast(bits, ctx.get_value_type(types.float32))

    return types.float32(types.int32), build


_power_of_two: Any = _exponent_bits  # called with k alone; the context is Numba's


def _exp(x: float) -> float:
    """e^x; stands for the overloads below in plain Python."""
    return math.exp(x)


@overload(_exp, jit_options=OPTIONS)
def _exp_typed(x: Any) -> Any:
    if x != types.float32:

        def exp64(x: Any) -> Any:
            return math.exp(x)

        return exp64

    def exp32(x: Any) -> Any:
        # e^x = 2^k e^r with |r| ≤ ln2/2; the Taylor sum to r^7 is below float32's rounding there.
        clamped = min(max(x, np.float32(-87.0)), np.float32(88.0))
        k = np.int32(math.floor(clamped * np.float32(LOG2_E) + np.float32(0.5)))
        r = clamped - np.float32(k) * np.float32(LN2_HIGH) - np.float32(k) * np.float32(LN2_LOW)
        s = np.float32(1.0 / 5040.0)
        s = s * r + np.float32(1.0 / 720.0)
        s = s * r + np.float32(1.0 / 120.0)
        s = s * r + np.float32(1.0 / 24.0)
        s = s * r + np.float32(1.0 / 6.0)
        s = s * r + np.float32(0.5)
        s = s * r + np.float32(1.0)
        s = s * r + np.float32(1.0)
        return s * _power_of_two(k) if x == x else x  # the clamp must not swallow a NaN

    return exp32


def _tanh(x: float) -> float:
    return math.tanh(x)


@overload(_tanh, jit_options=OPTIONS)
def _tanh_typed(x: Any) -> Any:
    if x != types.float32:

        def tanh64(x: Any) -> Any:
            return math.tanh(x)

        return tanh64

    def tanh32(x: Any) -> Any:
        e = _exp(np.float32(-2.0) * abs(x))
        return math.copysign((np.float32(1.0) - e) / (np.float32(1.0) + e), x)

    return tanh32


def _erf(x: float) -> float:
    return math.erf(x)


@overload(_erf, jit_options=OPTIONS)
def _erf_typed(x: Any) -> Any:
    if x != types.float32:

        def erf64(x: Any) -> Any:
            return math.erf(x)

        return erf64

    def erf32(x: Any) -> Any:
        # Abramowitz & Stegun 7.1.26: 1 − (a₁t + … + a₅t⁵) e^{−x²}, absolute error below 1.5e-7.
        a = abs(x)
        t = np.float32(1.0) / (np.float32(1.0) + np.float32(0.3275911) * a)
        s = np.float32(1.061405429)
        s = s * t - np.float32(1.453152027)
        s = s * t + np.float32(1.421413741)
        s = s * t - np.float32(0.284496736)
        s = s * t + np.float32(0.254829592)
        return math.copysign(np.float32(1.0) - s * t * _exp(-a * a), x)

    return erf32


@kernel
def tanh_inplace(x: Array) -> None:
    """x ← tanh x."""
    for i in range(x.size):
        x[i] = _tanh(x[i])


@kernel
def exp_shifted(x: Array, shift: float, out: Array) -> None:
    """out ← e^(x − shift)."""
    for i in range(x.size):
        out[i] = _exp(x[i] - shift)


@kernel
def gelu(x: Array, out: Array) -> None:
    """out ← x Φ(x), the exact GELU."""
    half, one, scale = x.dtype.type(0.5), x.dtype.type(1.0), x.dtype.type(SQRT_HALF)
    for i in range(x.size):
        out[i] = x[i] * half * (one + _erf(x[i] * scale))


@kernel
def gelu_backward(x: Array, grad: Array) -> None:
    """grad ← grad · (Φ(x) + x φ(x)), in place."""
    half, one, scale = x.dtype.type(0.5), x.dtype.type(1.0), x.dtype.type(SQRT_HALF)
    density = x.dtype.type(DENSITY)
    for i in range(x.size):
        cumulative = half * (one + _erf(x[i] * scale))
        grad[i] *= cumulative + x[i] * density * _exp(-half * x[i] * x[i])
