"""The online loop of the recurrent baselines, compiled: score the token, learn from the window before it, move on.

One forward pass serves both: the window x_{t−T}..x_{t−1}, read from the carried state with the present weights, gives
p̂_t before x_t is seen, and the loss of that very prediction is what the gradient is taken of.
"""

import numpy as np

from sharpstream.kernels.adam import adam_outer_backward, adam_step, adam_vector
from sharpstream.kernels.cells import finite, table_step, window_bias_step, window_step
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.linear import affine
from sharpstream.kernels.norm import LN2, softmax
from sharpstream.kernels.views import clear, copy, matrix, vector
from sharpstream.learners.clockwork_layer import clockwork_forward, clockwork_learn
from sharpstream.learners.recurrent_arrays import CLOCKWORK, Desk, Mind, Model
from sharpstream.learners.recurrent_stack import stack_forward, stack_learn


@kernel
def wake(
    model: Model,
    mind: Mind,
    desk: Desk,
    tokens: Array,
    learning: bool,
    every: int,
    bits: Array,
    correct: Array,
    level: int,
    states: Array,
) -> int:
    """Score every token and, if `learning`, learn from it; returns how many were taken before a loss was not finite.

    One loop and one call site of each part for learning, frozen scoring (`every` > 0 forgets the past every so often)
    and reading states (n, H) of one level: the same machine code gives the same bits, however a run is cut up.
    """
    for i in range(tokens.size + 1):
        if every > 0 and i < tokens.size and i % every == 0:
            forget(mind)
            desk.ready[0] = 0
        if not desk.ready[0]:
            look_ahead(model, mind, desk)
            if i > 0 and states.shape[0] > 0:
                read_state(model, mind, desk, level, states[i - 1])
        if i == tokens.size:
            break
        x = tokens[i]
        bits[i] = (float(softmax(desk.logits, desk.p)) - float(desk.logits[x])) / LN2
        correct[i] = np.argmax(desk.logits) == x
        if learning:
            if not finite(bits[i]):
                desk.failed[0] = 1
                return i
            if mind.fill[0] == mind.tokens.size:
                credit(model, mind, desk, x)
            mind.observed[0] += 1
        move_on(model, mind, desk, x, learning)
    return tokens.size


@kernel
def look_ahead(model: Model, mind: Mind, desk: Desk) -> None:
    """Read the window from the carried state, then the logits of the token that comes next."""
    count = mind.fill[0]
    tokens = mind.tokens[mind.tokens.size - count :]
    embed, embed_bias = matrix(model.p, model.table, 0), vector(model.p, model.table, 1)
    for t in range(count):
        if model.vectors.shape[0] > 0:
            affine(embed, embed_bias, model.vectors[tokens[t]], desk.embedded[t])
        else:
            copy(embed[tokens[t]], desk.embedded[t])
    if model.kind == CLOCKWORK:
        clockwork_forward(model, mind, desk, count)
    else:
        stack_forward(model, mind, desk, count)
    top = desk.states[desk.states.shape[0] - 1, count]
    read, bias = matrix(model.p, model.table, model.read), vector(model.p, model.table, model.read + 1)
    affine(read, bias, top, desk.logits)
    desk.ready[0] = 1


@kernel
def credit(model: Model, mind: Mind, desk: Desk, x: int) -> None:
    """One Adam step on everything from −log p̂(x); desk.p holds p̂ and becomes the gradient of the logits."""
    mind.updates[0] += 1
    s = adam_step(model.p, model.hyper, model.lr, mind.updates[0])
    window = mind.tokens.size
    top = desk.states[desk.states.shape[0] - 1, window]
    desk.p[x] -= 1
    for t in range(window - 1):
        clear(desk.above[t])  # only the last position predicts
    r = model.read
    adam_outer_backward(
        matrix(model.p, model.table, r), matrix(model.m, model.table, r), matrix(model.v, model.table, r),
        desk.p, top, desk.above[window - 1], s,
    )  # fmt: skip
    adam_vector(
        vector(model.p, model.table, r + 1), vector(model.m, model.table, r + 1), vector(model.v, model.table, r + 1),
        desk.p, s,
    )  # fmt: skip
    if model.kind == CLOCKWORK:
        clockwork_learn(model, mind, desk, s)
    else:
        stack_learn(model, mind, desk, s)
    embed, embed_m, embed_v = (
        matrix(model.p, model.table, 0), matrix(model.m, model.table, 0), matrix(model.v, model.table, 0)
    )  # fmt: skip
    if model.vectors.shape[0] == 0:
        table_step(embed, embed_m, embed_v, mind.tokens, desk.delta_embed, desk.row, s)
        return
    for t in range(window):
        copy(model.vectors[mind.tokens[t]], desk.seen[t])
    window_step(embed, embed_m, embed_v, desk.delta_embed, 0, desk.seen, 0, desk.none, desk.row, s)
    window_bias_step(
        vector(model.p, model.table, 1), vector(model.m, model.table, 1), vector(model.v, model.table, 1),
        desk.delta_embed, 0, desk.row, s,
    )  # fmt: skip


@kernel
def move_on(model: Model, mind: Mind, desk: Desk, x: int, learning: bool) -> None:
    """Carry the state to where the next window is read from, and put x_t into that window.

    aligned: after the window's first token, so that windows stay in step with time. Learning off, nothing behind the
    newest token will be read again, so the state moves to the window's end and the window holds x_t alone.
    overlap: to the window's end, from where its tokens are read again. A window not yet full is kept and read again.
    """
    count, window = mind.fill[0], mind.tokens.size
    only_newest = not learning and not model.overlap
    if only_newest or count == window:
        consumed = count if only_newest or model.overlap else 1
        layers = desk.states.shape[0]
        carried = mind.carried.reshape((layers, desk.states.shape[2]))
        for layer in range(layers):
            copy(desk.states[layer, consumed], carried[layer])
            if mind.memory.shape[0] > 0:
                copy(desk.memory[layer, consumed], mind.memory[layer])
        mind.clock[0] += consumed
    for t in range(window - 1):
        mind.tokens[t] = mind.tokens[t + 1]
    mind.tokens[window - 1] = x
    mind.fill[0] = 1 if only_newest else min(count + 1, window)
    desk.ready[0] = 0


@kernel
def forget(mind: Mind) -> None:
    """Back to where nothing has been seen; the weights stay."""
    for level in range(mind.carried.shape[0]):
        clear(mind.carried[level])
        if mind.memory.shape[0] > 0:
            clear(mind.memory[level])
    mind.fill[0] = 0
    mind.clock[0] = 0


@kernel
def read_state(model: Model, mind: Mind, desk: Desk, level: int, out: Array) -> None:
    """out ← state of a layer (Clockwork: of a module) after the newest token; level counts from 1."""
    if model.kind == CLOCKWORK:
        here = (level - 1) * out.size
        copy(desk.states[0, mind.fill[0], here : here + out.size], out)
    else:
        copy(desk.states[level - 1, mind.fill[0]], out)
