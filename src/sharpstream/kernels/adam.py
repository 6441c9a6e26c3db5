"""Adam with coupled weight decay, fused with the gradient it needs: no gradient matrix is ever stored.

A linear layer's gradient for one token is the outer product δ xᵀ, so its update runs row by row while the weights are
read for the backward product anyway: one read-modify-write of p, m and v. A window of T inputs gives Σ_t δ_t x_tᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from sharpstream.kernels.jit import Array, kernel


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


@kernel
def adam_step(like: Array, hyper: Array, lr: float, t: int) -> Step:
    """The scalars of step t ≥ 1 at this learning rate; hyper = (β1, β2, eps, decay), `like` carries the dtype."""
    kind = like.dtype.type
    beta1, beta2, eps, decay = hyper[0], hyper[1], hyper[2], hyper[3]
    size = lr / (1.0 - beta1**t)
    root = 1.0 / np.sqrt(1.0 - beta2**t)
    return Step(
        kind(beta1), kind(beta2), kind(1.0 - beta1), kind(1.0 - beta2), kind(size), kind(root), kind(eps), kind(decay)
    )


@kernel
def adam_vector(p: Array, m: Array, v: Array, g: Array, s: Step) -> None:
    """One step on a vector of parameters with gradient g; p, m, v, g (n,)."""
    for j in range(p.size):
        gradient = g[j] + s.decay * p[j]
        m[j] = s.beta1 * m[j] + s.keep1 * gradient
        v[j] = s.beta2 * v[j] + s.keep2 * gradient * gradient
        p[j] -= s.size * m[j] / (np.sqrt(v[j]) * s.root + s.eps)


@kernel
def adam_outer(p: Array, m: Array, v: Array, delta: Array, x: Array, s: Step) -> None:
    """One step on a matrix with gradient δ xᵀ; p (rows, columns), δ (rows,), x (columns,)."""
    for i in range(p.shape[0]):
        _adam_row(p[i], m[i], v[i], delta[i], x, s)


@kernel
def adam_outer_backward(p: Array, m: Array, v: Array, delta: Array, x: Array, back: Array, s: Step) -> None:
    """`adam_outer`, and back ← pᵀδ with the weights as they were before the step; back (columns,)."""
    back[:] = 0
    for i in range(p.shape[0]):
        _adam_row_backward(p[i], m[i], v[i], delta[i], x, back, s)


@kernel
def adam_outers(p: Array, m: Array, v: Array, deltas: Array, xs: Array, row: Array, s: Step) -> None:
    """One step with gradient Σ_t δ_t x_tᵀ; deltas (T, rows), xs (T, columns), row (≥ columns,) is scratch."""
    g = row[: p.shape[1]]
    for i in range(p.shape[0]):
        g[:] = 0
        for t in range(xs.shape[0]):
            delta = deltas[t, i]
            x = xs[t]
            for j in range(g.size):
                g[j] += delta * x[j]
        adam_vector(p[i], m[i], v[i], g, s)


@kernel
def _adam_row(p: Array, m: Array, v: Array, delta: float, x: Array, s: Step) -> None:
    for j in range(p.size):
        gradient = delta * x[j] + s.decay * p[j]
        m[j] = s.beta1 * m[j] + s.keep1 * gradient
        v[j] = s.beta2 * v[j] + s.keep2 * gradient * gradient
        p[j] -= s.size * m[j] / (np.sqrt(v[j]) * s.root + s.eps)


@kernel
def _adam_row_backward(p: Array, m: Array, v: Array, delta: float, x: Array, back: Array, s: Step) -> None:
    for j in range(p.size):
        weight = p[j]
        back[j] += delta * weight
        gradient = delta * x[j] + s.decay * weight
        m[j] = s.beta1 * m[j] + s.keep1 * gradient
        v[j] = s.beta2 * v[j] + s.keep2 * gradient * gradient
        p[j] = weight - s.size * m[j] / (np.sqrt(v[j]) * s.root + s.eps)
