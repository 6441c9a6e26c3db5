"""Recurrent cells, element by element, and the products of a whole window that read each weight row once.

A cell gets its pre-activations from outside (`given` = W_ih x + b_ih, `recurrent` = W_hh h + b_hh, gates in PyTorch's
order: LSTM i f g o, GRU r z n), so that RNN, LSTM and GRU share all matrix work and differ only here.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.adam import Step, adam_vector
from sharpstream.kernels.cell_kinds import LSTM, RNN
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.views import clear

FIRST: Any = np.int64(0)  # typed: a literal 0 would compile a function once more


@lean_kernel
def cell_forward(
    kind: int,
    given: Array,
    recurrent: Array,
    state: Array,
    memory: Array,
    gates: Array,
    squashed: Array,
    new_state: Array,
    new_memory: Array,
) -> None:
    """One step of a cell; given, recurrent, gates (G·H,), states (H,). An LSTM also keeps its memory and tanh of it.

    σ(x) = (1 + tanh(x/2)) / 2, so that one vectorised tanh serves every gate.
    """
    n = state.size
    one, half = state.dtype.type(1), state.dtype.type(0.5)
    for i in range(gates.size):
        gates[i] = given[i] + recurrent[i]
    if kind == RNN:
        tanh_inplace(gates)
        for i in range(n):
            new_state[i] = gates[i]
        return
    squashing = gates if kind == LSTM else gates[: 2 * n]
    for i in range(2 * n):
        gates[i] *= half
    for i in range(3 * n, gates.size):  # the LSTM's o; its g (and the GRU's n) are no sigmoids
        gates[i] *= half
    tanh_inplace(squashing)
    for i in range(2 * n):
        gates[i] = half * (one + gates[i])
    for i in range(3 * n, gates.size):
        gates[i] = half * (one + gates[i])
    if kind == LSTM:
        for i in range(n):
            new_memory[i] = gates[n + i] * memory[i] + gates[i] * gates[2 * n + i]
            squashed[i] = new_memory[i]
        tanh_inplace(squashed)
        for i in range(n):
            new_state[i] = gates[3 * n + i] * squashed[i]
        return
    candidate = gates[2 * n :]  # the GRU's n: its recurrent part passes the reset gate before the tanh
    for i in range(n):
        candidate[i] = given[2 * n + i] + gates[i] * recurrent[2 * n + i]
    tanh_inplace(candidate)
    for i in range(n):
        new_state[i] = candidate[i] + gates[n + i] * (state[i] - candidate[i])


@lean_kernel
def cell_backward(
    kind: int,
    recurrent: Array,
    state: Array,
    memory: Array,
    gates: Array,
    squashed: Array,
    back: Array,
    back_memory: Array,
    delta_in: Array,
    delta_rec: Array,
) -> None:
    """δ at `given` and `recurrent` from `back`, the gradient of the new state, which becomes its direct path's share.

    Only the GRU's two δ differ; other cells may pass one array as both. `back_memory` likewise steps back in time.
    """
    n = state.size
    one = state.dtype.type(1)
    for i in range(n):
        if kind == RNN:
            delta_in[i] = back[i] * (one - gates[i] * gates[i])
            back[i] = 0
        elif kind == LSTM:
            enter, keep, value, show = gates[i], gates[n + i], gates[2 * n + i], gates[3 * n + i]
            inner = back_memory[i] + back[i] * show * (one - squashed[i] * squashed[i])
            delta_in[i] = inner * value * enter * (one - enter)
            delta_in[n + i] = inner * memory[i] * keep * (one - keep)
            delta_in[2 * n + i] = inner * enter * (one - value * value)
            delta_in[3 * n + i] = back[i] * squashed[i] * show * (one - show)
            back_memory[i] = inner * keep
            back[i] = 0
        else:
            reset, keep, value = gates[i], gates[n + i], gates[2 * n + i]
            inner = back[i] * (one - keep) * (one - value * value)
            delta_in[i] = inner * recurrent[2 * n + i] * reset * (one - reset)
            delta_in[n + i] = back[i] * (state[i] - value) * keep * (one - keep)
            delta_in[2 * n + i] = inner
            delta_rec[i] = delta_in[i]
            delta_rec[n + i] = delta_in[n + i]
            delta_rec[2 * n + i] = inner * reset
            back[i] *= keep


@lean_kernel
def window_affine(weight: Array, bias: Array, xs: Array, outs: Array, count: int) -> None:
    """outs[t] ← W xs[t] + b for the first `count` positions; W (rows, columns) is read once."""
    for i in range(weight.shape[0]):
        row = weight[i]
        for t in range(count):
            x = xs[t]
            total = outs.dtype.type(0)
            for j in range(row.size):
                total += row[j] * x[j]
            outs[t, i] = total + bias[i]


@lean_kernel
def window_step(
    p: Array,
    m: Array,
    v: Array,
    deltas: Array,
    first_row: int,
    xs: Array,
    first_column: int,
    backs: Array,
    row: Array,
    s: Step,
) -> None:
    """One Adam step with gradient Σ_t δ_t x_tᵀ, and backs[t] += pᵀ δ_t with the weights from before the step.

    p (rows, columns) meets deltas[t, first_row:] and xs[t, first_column:]; backs (T, columns), or (0, 0) for none;
    row (≥ columns,) is scratch.
    """
    size, last = p.shape[1], deltas.shape[0] - 1
    more, end = row[:size], first_column + p.shape[1]
    x0, x1 = xs[0, first_column:end], xs[min(1, last), first_column:end]
    x2, x3 = xs[min(2, last), first_column:end], xs[min(3, last), first_column:end]
    zero = p.dtype.type(0)
    clear(more)
    for i in range(p.shape[0]):
        weights, first, second = p[i], m[i], v[i]
        at = first_row + i
        for t in range(backs.shape[0]):
            back, delta = backs[t], deltas[t, at]
            for j in range(size):
                back[j] += delta * weights[j]
        for t in range(4, last + 1):
            x, delta = xs[t, first_column:end], deltas[t, at]
            for j in range(size):
                more[j] = delta * x[j] + (more[j] if t > 4 else zero)
        # The usual four positions never leave the registers.
        d0, d1 = deltas[0, at], deltas[1, at] if last >= 1 else zero
        d2, d3 = deltas[2, at] if last >= 2 else zero, deltas[3, at] if last >= 3 else zero
        for j in range(size):
            gradient = d0 * x0[j] + d1 * x1[j] + d2 * x2[j] + d3 * x3[j] + more[j] + s.decay * weights[j]
            mean = s.beta1 * first[j] + s.keep1 * gradient
            square = s.beta2 * second[j] + s.keep2 * gradient * gradient
            first[j], second[j] = mean, square
            weights[j] -= s.size * mean / (np.sqrt(square) * s.root + s.eps)


@lean_kernel
def window_bias_step(p: Array, m: Array, v: Array, deltas: Array, first_row: int, row: Array, s: Step) -> None:
    """One Adam step with the gradient Σ_t δ_t; p (rows,) meets deltas[t, first_row:], row (≥ rows,) is scratch."""
    g = row[: p.size]
    clear(g)
    for t in range(deltas.shape[0]):
        delta = deltas[t, first_row : first_row + p.size]
        for i in range(p.size):
            g[i] += delta[i]
    adam_vector(p, m, v, g, s)


@lean_kernel
def table_step(p: Array, m: Array, v: Array, tokens: Array, deltas: Array, row: Array, s: Step) -> None:
    """One Adam step on a table (V, E): every row moves on its moments, the window's rows also on deltas (T, E)."""
    g = row[: p.shape[1]]
    for token in range(p.shape[0]):
        clear(g)
        for t in range(tokens.size):
            if tokens[t] == token:
                for j in range(g.size):
                    g[j] += deltas[t, j]
        adam_vector(p[token], m[token], v[token], g, s)
