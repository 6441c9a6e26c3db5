"""Adam with coupled weight decay, fused with the gradient it needs: no gradient matrix is ever stored.

A linear layer's gradient for one token is the outer product δ xᵀ, so it is formed in registers inside the update: one
read-modify-write of p, m and v. A window of T inputs gives Σ_t δ_t x_tᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from sharpstream.kernels.jit import Array, flat_kernel, lean_kernel
from sharpstream.kernels.lanes import LANES, load, root, spread, store
from sharpstream.kernels.linear import add_transposed
from sharpstream.kernels.views import clear

TILE = 32  # rows: 64 kB of float32 weights at width 512, well inside the second-level cache


class Step(NamedTuple):
    """The scalars of one Adam step, in the dtype of the weights."""

    beta1: Any
    beta2: Any
    keep1: Any  # 1 − β1
    keep2: Any  # 1 − β2
    size: Any  # lr / (1 − β1^t)
    root: Any  # 1 / √(1 − β2^t)
    eps: Any
    decay: Any
    rate: Any  # lr: the size of a step without a first moment


@lean_kernel
def adam_step(like: Array, hyper: Array, lr: float, t: int) -> Step:
    """The scalars of step t ≥ 1 at this learning rate; hyper = (β1, β2, eps, decay), `like` carries the dtype."""
    kind = like.dtype.type
    beta1, beta2, eps, decay = hyper[0], hyper[1], hyper[2], hyper[3]
    size = lr / (1.0 - beta1**t)
    root = 1.0 / np.sqrt(1.0 - beta2**t)
    return Step(
        kind(beta1), kind(beta2), kind(1.0 - beta1), kind(1.0 - beta2), kind(size), kind(root), kind(eps), kind(decay),
        kind(lr),
    )  # fmt: skip


@flat_kernel
def moved(p: Any, m: Any, v: Any, gradient: Any, s: Step) -> Any:
    """Adam itself: the new p, m and v; each argument one number, or lanes of them."""
    gradient = gradient + s.decay * p
    first = s.beta1 * m + s.keep1 * gradient
    second = s.beta2 * v + s.keep2 * gradient * gradient
    return p - s.size * first / (root(second) * s.root + s.eps), first, second


@flat_kernel
def move_lanes(p: Array, m: Array, v: Array, at: int, gradient: Any, s: Step) -> None:
    """The sixteen parameters from `at` on; p, m, v (n,)."""
    a, b, c = moved(load(p, at), load(m, at), load(v, at), gradient, s)
    store(p, at, a)
    store(m, at, b)
    store(v, at, c)


@flat_kernel
def move_one(p: Array, m: Array, v: Array, at: int, gradient: Any, s: Step) -> None:
    """The one parameter at `at`; p, m, v (n,)."""
    p[at], m[at], v[at] = moved(p[at], m[at], v[at], gradient, s)


@lean_kernel
def adam_vector(p: Array, m: Array, v: Array, g: Array, s: Step) -> None:
    """One step on a vector of parameters with gradient g; p, m, v, g (n,)."""
    for j in range(p.size):
        move_one(p, m, v, j, g[j], s)


@lean_kernel
def adam_outer(p: Array, m: Array, v: Array, delta: Array, x: Array, s: Step) -> None:
    """One step on a matrix with gradient δ xᵀ; p (rows, columns), δ (rows,), x (columns,)."""
    for i in range(p.shape[0]):
        weights, first, second, d = p[i], m[i], v[i], delta[i]
        for j in range(x.size):
            move_one(weights, first, second, j, d * x[j], s)


@lean_kernel
def adam_outer_backward(p: Array, m: Array, v: Array, delta: Array, x: Array, back: Array, s: Step) -> None:
    """`adam_outer`, and back ← pᵀδ with the weights as they were before the step; back (columns,).

    Two passes over each tile of rows, the second with p still in cache.
    """
    clear(back)
    for start in range(0, p.shape[0], TILE):
        end = min(start + TILE, p.shape[0])
        add_transposed(p[start:end], delta[start:end], back)
        adam_outer(p[start:end], m[start:end], v[start:end], delta[start:end], x, s)


@lean_kernel
def adam_outers(
    p: Array, m: Array, v: Array, deltas: Array, first_row: int, xs: Array, first_column: int, s: Step
) -> None:
    """One step with gradient Σ_t δ_t x_tᵀ; p (rows, columns) meets deltas[t, first_row:] and xs[t, first_column:]."""
    columns, zero = p.shape[1], p.dtype.type(0)
    whole = columns - columns % LANES
    if deltas.shape[0] == 4:  # the paper's T: what belongs to a row is loaded once for it
        _adam_four_outers(p, m, v, deltas, first_row, xs, first_column, s)
        return
    for i in range(p.shape[0]):
        weights, first, second = p[i], m[i], v[i]
        for j in range(0, whole, LANES):
            sums = spread(zero)
            for t in range(deltas.shape[0]):
                sums += deltas[t, first_row + i] * load(xs[t], first_column + j)
            move_lanes(weights, first, second, j, sums, s)
        for j in range(whole, columns):
            gradient = zero
            for t in range(deltas.shape[0]):
                gradient += deltas[t, first_row + i] * xs[t, first_column + j]
            move_one(weights, first, second, j, gradient, s)


@lean_kernel
def _adam_four_outers(
    p: Array, m: Array, v: Array, deltas: Array, first_row: int, xs: Array, first_column: int, s: Step
) -> None:
    """In lanes where they fit, which is 1.1 to 1.6 times as fast; else the compiler does what it can."""
    columns, end = p.shape[1], first_column + p.shape[1]
    x0, x1, x2, x3 = xs[0, first_column:end], xs[1, first_column:end], xs[2, first_column:end], xs[3, first_column:end]
    for i in range(p.shape[0]):
        weights, first, second, at = p[i], m[i], v[i], first_row + i
        d0, d1, d2, d3 = deltas[0, at], deltas[1, at], deltas[2, at], deltas[3, at]
        if columns % LANES == 0:
            for j in range(0, columns, LANES):
                sums = d0 * load(x0, j) + d1 * load(x1, j) + d2 * load(x2, j) + d3 * load(x3, j)
                move_lanes(weights, first, second, j, sums, s)
        else:
            for j in range(columns):
                move_one(weights, first, second, j, d0 * x0[j] + d1 * x1[j] + d2 * x2[j] + d3 * x3[j], s)
