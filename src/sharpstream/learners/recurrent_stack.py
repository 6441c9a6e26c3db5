"""Stacked RNN, LSTM or GRU cells over one window, compiled: forwards from the carried state, backwards with Adam.

Layer by layer, so that input weights are read once for the whole window. Called by `recurrent_wake.py`; the layout rows
are the embedding's two, four a layer, and the read-out's two.
"""

from sharpstream.kernels.adam import Step
from sharpstream.kernels.cells import cell_backward, cell_forward
from sharpstream.kernels.jit import FIRST, Array, kernel
from sharpstream.kernels.linear import add_product, add_transposed
from sharpstream.kernels.views import clear, copy, matrix, vector
from sharpstream.kernels.window import window_affine, window_bias_step, window_step
from sharpstream.learners.recurrent_arrays import Desk, Mind, Model

FIRST_ROW, ARRAYS_PER_LAYER = 2, 4  # weight_ih, weight_hh, bias_ih, bias_hh


@kernel
def stack_forward(model: Model, mind: Mind, desk: Desk, count: int) -> None:
    """States of every layer over the first `count` positions of the window, from the carried state."""
    lstm = mind.memory.shape[0] > 0
    for layer in range(mind.carried.shape[0]):
        row = FIRST_ROW + ARRAYS_PER_LAYER * layer
        states, memory = desk.states[layer], desk.memory[layer]
        weight, bias = matrix(model.p, model.table, row + 1), vector(model.p, model.table, row + 3)
        xs = desk.embedded if layer == 0 else desk.states[layer - 1, 1:]
        window_affine(matrix(model.p, model.table, row), vector(model.p, model.table, row + 2), xs, desk.given, count)
        copy(mind.carried[layer], states[0])
        if lstm:
            copy(mind.memory[layer], memory[0])
        for t in range(count):
            recurrent = desk.recurrent[layer, t]
            copy(bias, recurrent)
            add_product(weight, states[t], recurrent)
            cell_forward(
                model.kind, desk.given[t], recurrent, states[t], memory[t],
                desk.gates[layer, t], desk.squashed[layer, t], states[t + 1], memory[t + 1],
            )  # fmt: skip


@kernel
def stack_step(model: Model, mind: Mind, desk: Desk, s: Step) -> None:
    """One Adam step on every layer; desk.above holds the gradient of the top states, desk.delta_embed gets ours.

    Each layer first goes back through time, then updates its weights while it reads them for the layer below.
    """
    for layer in range(mind.carried.shape[0] - 1, -1, -1):
        row = FIRST_ROW + ARRAYS_PER_LAYER * layer
        through_time(model, desk, layer, matrix(model.p, model.table, row + 1))
        below = desk.above if layer > 0 else desk.delta_embed
        for t in range(below.shape[0]):
            clear(below[t])
        for part in range(2):  # weight_ih with bias_ih, then weight_hh with bias_hh
            xs = desk.states[layer]
            if part == 0:
                xs = desk.embedded if layer == 0 else desk.states[layer - 1, 1:]
            deltas = desk.delta_in if part == 0 else desk.delta_rec
            i, b = row + part, row + part + 2
            window_step(
                matrix(model.p, model.table, i), matrix(model.m, model.table, i), matrix(model.v, model.table, i),
                deltas, FIRST, xs, FIRST, below if part == 0 else desk.none, s,
            )  # fmt: skip
            window_bias_step(
                vector(model.p, model.table, b), vector(model.m, model.table, b), vector(model.v, model.table, b),
                deltas, FIRST, desk.row, s,
            )  # fmt: skip


@kernel
def through_time(model: Model, desk: Desk, layer: int, weight: Array) -> None:
    """δ of one layer at every position, from the newest back; the carried state's own gradient is cut."""
    states, memory = desk.states[layer], desk.memory[layer]
    clear(desk.back)
    clear(desk.back_memory)
    for t in range(desk.above.shape[0] - 1, -1, -1):
        above = desk.above[t]
        for i in range(desk.back.size):
            desk.back[i] += above[i]
        cell_backward(
            model.kind, desk.recurrent[layer, t], states[t], memory[t], desk.gates[layer, t], desk.squashed[layer, t],
            desk.back, desk.back_memory, desk.delta_in[t], desk.delta_rec[t],
        )  # fmt: skip
        if t > 0:
            add_transposed(weight, desk.delta_rec[t], desk.back)
