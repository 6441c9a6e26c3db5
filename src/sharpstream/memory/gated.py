"""Gated memories, GRU and LSTM, from the cells the baselines have (`kernels/cells.py`).

An LSTM's state is its hidden units with its cells behind them, (2H,); only the hidden units are read.
"""

from sharpstream.kernels.adam import Step, adam_outers
from sharpstream.kernels.cells import cell_backward, cell_forward
from sharpstream.kernels.jit import FIRST, Array, lean_kernel
from sharpstream.kernels.linear import add_transposed, affine
from sharpstream.kernels.views import clear, copy
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.decoder import update_biases


@lean_kernel
def advance(kind: int, p: Arrays, embedded: Array, state: Array, out: Array, passed: Array) -> None:
    """One step of the cell; passed ← activated gates, recurrent part, input part; of an LSTM also tanh of its cells."""
    rows, n = p.encode_rec.shape
    gates, recurrent, given = passed[:rows], passed[rows : 2 * rows], passed[2 * rows : 3 * rows]
    affine(p.encode_in, p.encode_in_bias, embedded, given)
    affine(p.encode_rec, p.encode_rec_bias, state[:n], recurrent)
    squashed = passed[3 * rows : 3 * rows + n]
    cell_forward(kind, given, recurrent, state[:n], state[n:], gates, squashed, out[:n], out[n:])


@lean_kernel
def backward(kind: int, p: Arrays, w: Workspace) -> None:
    """Gradients at every pre-activation and embedding, from `w.back` at the last hidden units.

    An LSTM's gradient at its cells steps back in the row of scratch.
    """
    window = w.embedded.shape[0]
    rows, n = p.encode_rec.shape
    back_cells = w.passed[window][3 * rows + n :]
    clear(back_cells)
    for t in range(window - 1, -1, -1):
        state, passed = w.states[t], w.passed[t]
        cell_backward(
            kind, passed[rows : 2 * rows], state[:n], state[n:], passed[:rows], passed[3 * rows : 3 * rows + n],
            w.back, back_cells, w.delta_encode[t], w.delta_rec[t],
        )  # fmt: skip
        add_transposed(p.encode_rec, w.delta_rec[t], w.back)
        clear(w.delta_embed[t])
        add_transposed(p.encode_in, w.delta_encode[t], w.delta_embed[t])


@lean_kernel
def update(p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """One Adam step on the encoder."""
    window, rows = w.embedded.shape[0], p.encode_rec.shape[0]
    hidden = w.states[:window]
    if w.before.shape[1] > 0:  # an LSTM: its hidden units without the cells, in one piece
        for t in range(window):
            copy(w.states[t], w.before[t])
        hidden = w.before
    adam_outers(p.encode_in, m.encode_in, v.encode_in, w.delta_encode, FIRST, w.embedded, FIRST, s)
    adam_outers(p.encode_rec, m.encode_rec, v.encode_rec, w.delta_rec, FIRST, hidden, FIRST, s)
    update_biases(p.encode_in_bias, m.encode_in_bias, v.encode_in_bias, w.delta_encode, w.row[:rows], s)
    update_biases(p.encode_rec_bias, m.encode_rec_bias, v.encode_rec_bias, w.delta_rec, w.row[:rows], s)
