"""Student's t without SciPy: the distribution function through the incomplete beta function, the quantile by bisection.

In: a probability and degrees of freedom; out: t. `pairs.py` calls this once per interval, so speed does not matter.
"""

import math

from sharpstream.errors import ConfigError


def t_quantile(probability: float, degrees: float) -> float:
    """The t below which `probability` of Student's distribution lies.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    if not 0.0 < probability < 1.0:
        raise ConfigError(f"probability = {probability!r}: it must be between 0 and 1")
    if not degrees > 0.0:
        raise ConfigError(f"degrees = {degrees!r}: degrees of freedom must be above 0")
    if probability < 0.5:
        return -t_quantile(1.0 - probability, degrees)
    low, high = 0.0, 1.0
    while t_below(high, degrees) < probability:
        low, high = high, 2.0 * high
    for _ in range(200):  # halves the bracket down to neighbouring floats
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if t_below(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def t_below(t: float, degrees: float) -> float:
    """P(T ≤ t) = 1 − ½ I_{ν/(ν+t²)}(ν/2, ½) for t ≥ 0, and by symmetry below 0."""
    if t == 0.0:
        return 0.5
    tail = 0.5 * incomplete_beta(degrees / (degrees + t * t), 0.5 * degrees, 0.5)
    return 1.0 - tail if t > 0.0 else tail


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised I_x(a, b), by the continued fraction on the side where it converges fast."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )  # x^a (1−x)^b / B(a, b)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """1/(1+ d₁/(1+ d₂/(1+ …))), d_{2m} = m(b−m)x/((a+2m−1)(a+2m)), d_{2m+1} = −(a+m)(a+b+m)x/((a+2m)(a+2m+1)).

    Evaluated forward as a running product of ratios (the modified Lentz scheme), which tells when it has converged.
    """
    tiny = 1e-300
    value, upper, lower = tiny, tiny, 0.0
    for k in range(10_000):
        m = k // 2
        if k == 0:
            term = 1.0
        elif k % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        lower = 1.0 / ((1.0 + term * lower) or tiny)
        upper = (1.0 + term / upper) or tiny
        change = upper * lower
        value *= change
        if k and abs(change - 1.0) < 1e-15:
            break
    return value
