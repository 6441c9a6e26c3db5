"""Adam with coupled weight decay, fused with the gradient it needs: no gradient matrix is ever stored.

A linear layer's gradient for one token is the outer product δ xᵀ, so it is formed in registers inside the update: one
read-modify-write of p, m and v. A window of T inputs gives Σ_t δ_t x_tᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
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


@lean_kernel
def adam_vector(p: Array, m: Array, v: Array, g: Array, s: Step) -> None:
    """One step on a vector of parameters with gradient g; p, m, v, g (n,)."""
    for j in range(p.size):
        gradient = g[j] + s.decay * p[j]
        first = s.beta1 * m[j] + s.keep1 * gradient
        second = s.beta2 * v[j] + s.keep2 * gradient * gradient
        m[j] = first
        v[j] = second
        p[j] -= s.size * first / (np.sqrt(second) * s.root + s.eps)


@lean_kernel
def adam_outer(p: Array, m: Array, v: Array, delta: Array, x: Array, s: Step) -> None:
    """One step on a matrix with gradient δ xᵀ; p (rows, columns), δ (rows,), x (columns,)."""
    for i in range(p.shape[0]):
        d = delta[i]
        for j in range(p.shape[1]):
            gradient = d * x[j] + s.decay * p[i, j]
            first = s.beta1 * m[i, j] + s.keep1 * gradient
            second = s.beta2 * v[i, j] + s.keep2 * gradient * gradient
            m[i, j] = first
            v[i, j] = second
            p[i, j] -= s.size * first / (np.sqrt(second) * s.root + s.eps)


@lean_kernel
def adam_outer_backward(p: Array, m: Array, v: Array, delta: Array, x: Array, back: Array, s: Step) -> None:
    """`adam_outer`, and back ← pᵀδ with the weights as they were before the step; back (columns,).

    Two passes over each tile of rows, the second with p still in cache: one pass with everything in it was 1.5 times
    slower at width 128 (too many arrays for the compiler to prove apart) and no faster at 512.
    """
    clear(back)
    for start in range(0, p.shape[0], TILE):
        end = min(start + TILE, p.shape[0])
        add_transposed(p[start:end], delta[start:end], back)
        adam_outer(p[start:end], m[start:end], v[start:end], delta[start:end], x, s)


@lean_kernel
def adam_outers(p: Array, m: Array, v: Array, deltas: Array, xs: Array, row: Array, s: Step) -> None:
    """One step with gradient Σ_t δ_t x_tᵀ; deltas (T, rows), xs (T, columns), row (≥ columns,) is scratch."""
    if xs.shape[0] == 4:  # the paper's T: the sum stays in registers
        _adam_four_outers(p, m, v, deltas, xs, s)
        return
    g = row[: p.shape[1]]
    for i in range(p.shape[0]):
        clear(g)
        for t in range(xs.shape[0]):
            delta = deltas[t, i]
            for j in range(g.size):
                g[j] += delta * xs[t, j]
        adam_vector(p[i], m[i], v[i], g, s)


@lean_kernel
def _adam_four_outers(p: Array, m: Array, v: Array, deltas: Array, xs: Array, s: Step) -> None:
    for i in range(p.shape[0]):
        d0, d1, d2, d3 = deltas[0, i], deltas[1, i], deltas[2, i], deltas[3, i]
        for j in range(p.shape[1]):
            gradient = d0 * xs[0, j] + d1 * xs[1, j] + d2 * xs[2, j] + d3 * xs[3, j] + s.decay * p[i, j]
            first = s.beta1 * m[i, j] + s.keep1 * gradient
            second = s.beta2 * v[i, j] + s.keep2 * gradient * gradient
            m[i, j] = first
            v[i, j] = second
            p[i, j] -= s.size * first / (np.sqrt(second) * s.root + s.eps)
