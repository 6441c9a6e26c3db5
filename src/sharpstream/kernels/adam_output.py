"""Adam on a very large output layer with less memory to move: without a first moment, with a factored second, or both.

A token's pass over V × H weights costs seven reads and writes of that size: p forwards, p, m and v for the update.
Without m it is five, without v five, without both three. The factored second moment keeps a mean square for each row
and each column, v_ij = r_i c_j / mean(r); they stand in the first V + H places of the buffer that v would fill.
"""

import numpy as np

from sharpstream.kernels.adam import TILE, Step
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.linear import add_transposed
from sharpstream.kernels.views import clear

FULL, NO_MOMENTUM, FACTORED, FACTORED_NO_MOMENTUM = range(4)
TINY = 1e-30  # below any mean square that is one; nothing is divided by 0


@kernel
def adam_output_backward(p: Array, m: Array, v: Array, delta: Array, x: Array, back: Array, s: Step, kind: int) -> None:
    """One step with gradient δ xᵀ, and back ← pᵀδ with the weights before it; p (rows, columns), kind not FULL."""
    rows, columns = p.shape
    row_roots, column_roots = np.empty(rows, p.dtype), np.empty(columns, p.dtype)
    if kind != NO_MOMENTUM:
        flat = v.reshape(v.size)
        factor(flat[:rows], flat[rows : rows + columns], delta, x, s, row_roots, column_roots)
    clear(back)
    for start in range(0, rows, TILE):
        end = min(start + TILE, rows)
        add_transposed(p[start:end], delta[start:end], back)
        if kind == NO_MOMENTUM:
            step_second(p[start:end], v[start:end], delta[start:end], x, s)
        elif kind == FACTORED:
            roots = row_roots[start:end]
            step_factored(p[start:end], m[start:end], roots, column_roots, delta[start:end], x, s)
        else:
            step_rank_one(p[start:end], row_roots[start:end], column_roots, delta[start:end], x, s)


@kernel
def factor(
    row_squares: Array, column_squares: Array, delta: Array, x: Array, s: Step, row_roots: Array, column_roots: Array
) -> None:
    """Move the mean squares of rows (V,) and columns (H,) on by those of δ xᵀ; the product of two roots is √v_ij."""
    kind = delta.dtype.type
    mean_delta, mean_x, total = kind(0), kind(0), kind(0)
    for i in range(delta.size):
        mean_delta += delta[i] * delta[i]
    for j in range(x.size):
        mean_x += x[j] * x[j]
    mean_delta /= kind(delta.size)
    mean_x /= kind(x.size)
    for i in range(delta.size):
        row_squares[i] = s.beta2 * row_squares[i] + s.keep2 * delta[i] * delta[i] * mean_x
        total += row_squares[i]
    for j in range(x.size):
        column_squares[j] = s.beta2 * column_squares[j] + s.keep2 * mean_delta * x[j] * x[j]
    scale = kind(1) / max(total / kind(delta.size), kind(TINY))
    for i in range(delta.size):
        row_roots[i] = np.sqrt(row_squares[i] * scale) * s.root
    for j in range(x.size):
        column_roots[j] = np.sqrt(column_squares[j])


@kernel
def step_second(p: Array, v: Array, delta: Array, x: Array, s: Step) -> None:
    """β1 = 0: the gradient itself is the first moment."""
    for i in range(p.shape[0]):
        d = delta[i]
        for j in range(p.shape[1]):
            gradient = d * x[j] + s.decay * p[i, j]
            second = s.beta2 * v[i, j] + s.keep2 * gradient * gradient
            v[i, j] = second
            p[i, j] -= s.rate * gradient / (np.sqrt(second) * s.root + s.eps)


@kernel
def step_factored(p: Array, m: Array, row_roots: Array, column_roots: Array, delta: Array, x: Array, s: Step) -> None:
    """A whole first moment, a factored second."""
    for i in range(p.shape[0]):
        d, root = delta[i], row_roots[i]
        for j in range(p.shape[1]):
            gradient = d * x[j] + s.decay * p[i, j]
            first = s.beta1 * m[i, j] + s.keep1 * gradient
            m[i, j] = first
            p[i, j] -= s.size * first / (root * column_roots[j] + s.eps)


@kernel
def step_rank_one(p: Array, row_roots: Array, column_roots: Array, delta: Array, x: Array, s: Step) -> None:
    """β1 = 0 and a factored second: nothing but the weights is as large as the weights."""
    for i in range(p.shape[0]):
        d, root = delta[i], row_roots[i]
        for j in range(p.shape[1]):
            gradient = d * x[j] + s.decay * p[i, j]
            p[i, j] -= s.rate * gradient / (root * column_roots[j] + s.eps)
