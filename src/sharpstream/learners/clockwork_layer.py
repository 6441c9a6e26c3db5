"""One Clockwork layer over one window, compiled: modules that tick at their own periods and otherwise keep their state.

Module i reads the token and the previous states of itself and of every slower module (`reverse`: every faster one), a
contiguous stretch of the state. Called by `recurrent_wake.py`; the layout has three rows a module.
"""

from sharpstream.kernels.adam import Step
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import kernel
from sharpstream.kernels.linear import add_product, add_transposed
from sharpstream.kernels.views import clear, copy, matrix, vector
from sharpstream.kernels.window import window_bias_step, window_step
from sharpstream.learners.recurrent_arrays import Desk, Mind, Model

FIRST_ROW, ARRAYS_PER_MODULE = 2, 3  # input weight (H, E), recurrent weight (H, n·H), bias (H,)


@kernel
def ticks(model: Model, mind: Mind, module: int, t: int) -> bool:
    """Whether a module updates at the window's position t; the first token ever read is number 1."""
    return bool((mind.clock[0] + t + 1) % model.periods[module] == 0)


@kernel
def clockwork_forward(model: Model, mind: Mind, desk: Desk, count: int) -> None:
    """States over the first `count` positions of the window, from the carried state."""
    modules, width = mind.carried.shape
    states = desk.states[0]  # (T + 1, M·H)
    copy(mind.carried.reshape(modules * width), states[0])
    for t in range(count):
        copy(states[t], states[t + 1])
        for module in range(modules):
            if ticks(model, mind, module, t):
                row, here = FIRST_ROW + ARRAYS_PER_MODULE * module, module * width
                heard = matrix(model.p, model.table, row + 1)
                start = 0 if model.reverse else here
                state = states[t + 1, here : here + width]
                copy(vector(model.p, model.table, row + 2), state)
                add_product(matrix(model.p, model.table, row), desk.embedded[t], state)
                add_product(heard, states[t, start : start + heard.shape[1]], state)
                tanh_inplace(state)


@kernel
def clockwork_step(model: Model, mind: Mind, desk: Desk, s: Step) -> None:
    """One Adam step on every module; desk.above holds the gradient of the states, desk.delta_embed gets ours.

    A module that did not tick has gradient zero and still moves on its moments, as every parameter does.
    """
    modules, width = mind.carried.shape
    clockwork_through_time(model, mind, desk)
    for t in range(desk.delta_embed.shape[0]):
        clear(desk.delta_embed[t])
    for module in range(modules):
        row, here = FIRST_ROW + ARRAYS_PER_MODULE * module, module * width
        for part in range(2):
            start = 0 if part == 0 or model.reverse else here
            i = row + part
            window_step(
                matrix(model.p, model.table, i), matrix(model.m, model.table, i), matrix(model.v, model.table, i),
                desk.delta_in, here, desk.embedded if part == 0 else desk.states[0], start,
                desk.delta_embed if part == 0 else desk.none, s,
            )  # fmt: skip
        window_bias_step(
            vector(model.p, model.table, row + 2), vector(model.m, model.table, row + 2),
            vector(model.v, model.table, row + 2), desk.delta_in, here, desk.row, s,
        )  # fmt: skip


@kernel
def clockwork_through_time(model: Model, mind: Mind, desk: Desk) -> None:
    """δ of every module at every position, from the newest back; a resting module hands its gradient on unchanged."""
    modules, width = mind.carried.shape
    states, one = desk.states[0], desk.back.dtype.type(1)
    clear(desk.back)
    for t in range(desk.above.shape[0] - 1, -1, -1):
        above, delta = desk.above[t], desk.delta_in[t]
        for i in range(desk.back.size):
            desk.back[i] += above[i]
        clear(desk.earlier)
        for module in range(modules):
            here = module * width
            if not ticks(model, mind, module, t):
                for i in range(here, here + width):
                    delta[i] = 0
                    desk.earlier[i] += desk.back[i]
                continue
            for i in range(here, here + width):
                delta[i] = desk.back[i] * (one - states[t + 1, i] * states[t + 1, i])
            if t > 0:
                heard = matrix(model.p, model.table, FIRST_ROW + ARRAYS_PER_MODULE * module + 1)
                start = 0 if model.reverse else here
                stretch = desk.earlier[start : start + heard.shape[1]]
                add_transposed(heard, delta[here : here + width], stretch)
        copy(desk.earlier, desk.back)
