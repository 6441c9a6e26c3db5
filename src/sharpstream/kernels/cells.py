"""Recurrent cells, element by element.

A cell gets its pre-activations from outside (`given` = W_ih x + b_ih, `recurrent` = W_hh h + b_hh, gates in PyTorch's
order: LSTM i f g o, GRU r z n), so that RNN, LSTM and GRU share all matrix work and differ only here.
"""

from sharpstream.kernels.cell_kinds import LSTM, RNN
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import Array, lean_kernel


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
