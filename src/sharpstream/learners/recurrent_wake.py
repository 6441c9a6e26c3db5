"""The online loop of the recurrent baselines, compiled: score the token, learn from the window before it, move on.

One forward pass serves both: the window x_{t−T}..x_{t−1}, read from the carried state with the present weights, gives
p̂_t before x_t is seen, and the loss of that very prediction is what the gradient is taken of.
"""

import numpy as np

from sharpstream.kernels.adam import Step, adam_outer_backward, adam_step, adam_vector
from sharpstream.kernels.jit import FIRST, Array, kernel
from sharpstream.kernels.linear import affine
from sharpstream.kernels.norm import LN2, softmax
from sharpstream.kernels.views import clear, copy, matrix, vector
from sharpstream.kernels.window import table_step, window_bias_step, window_step
from sharpstream.learners.clockwork_layer import clockwork_forward, clockwork_step
from sharpstream.learners.recurrent_arrays import CLOCKWORK, Desk, Mind, Model
from sharpstream.learners.recurrent_stack import stack_forward, stack_step

EMBED, EMBED_BIAS = FIRST, FIRST + 1  # layout rows


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
    layer: int,
    unit: int,
    states: Array,
) -> int:
    """Score every token and, if `learning`, learn from it; returns how many were taken before a loss was not finite.

    One loop and one call site of each part for learning, frozen scoring (`every` > 0 forgets the past every so often)
    and reading states (n, H) of one layer from `unit` on: the same machine code gives the same bits, however a run is
    cut up. Small parts take only the arrays they need: each whole tuple in a signature costs compile time.
    """
    for i in range(tokens.size + 1):
        if every > 0 and i < tokens.size and i % every == 0:
            forget(mind)
            desk.ready[0] = 0
        count, window = mind.fill[0], mind.tokens.size
        top = desk.states[desk.states.shape[0] - 1, count]
        if not desk.ready[0]:  # look ahead: read the window, then the logits of the token that comes next
            embed(model.p, model.table, model.vectors, mind.tokens[window - count :], desk.embedded)
            if model.kind == CLOCKWORK:
                clockwork_forward(model, mind, desk, count)
            else:
                stack_forward(model, mind, desk, count)
            affine(
                matrix(model.p, model.table, model.read), vector(model.p, model.table, model.read + 1), top, desk.logits
            )
            desk.ready[0] = 1
            if i > 0 and states.shape[0] > 0:
                copy(desk.states[layer, count, unit : unit + states.shape[1]], states[i - 1])
        if i == tokens.size:
            break
        x = tokens[i]
        bits[i] = (float(softmax(desk.logits, desk.p)) - float(desk.logits[x])) / LN2
        correct[i] = np.argmax(desk.logits) == x
        if learning:
            if not np.isfinite(bits[i]):
                desk.failed[0] = 1
                return i
            if count == window:  # one Adam step on everything, from the top down
                mind.updates[0] += 1
                s = adam_step(model.p, model.hyper, model.lr, mind.updates[0])
                desk.p[x] -= 1  # the gradient of the logits
                read_out_step(model.p, model.m, model.v, model.table, model.read, desk.p, top, desk.above, s)
                if model.kind == CLOCKWORK:
                    clockwork_step(model, mind, desk, s)
                else:
                    stack_step(model, mind, desk, s)
                embedding_step(
                    model.p, model.m, model.v, model.table, model.vectors, mind.tokens,
                    desk.delta_embed, desk.seen, desk.none, desk.row, s,
                )  # fmt: skip
            mind.observed[0] += 1
        move_on(mind, desk.states, desk.memory, x, learning, model.overlap)
        desk.ready[0] = 0
    return tokens.size


@kernel
def embed(p: Array, table: Array, vectors: Array, tokens: Array, embedded: Array) -> None:
    """The window's tokens as vectors (T, E): rows of the table, or frozen vectors through the Linear."""
    weight, bias = matrix(p, table, EMBED), vector(p, table, EMBED_BIAS)
    for t in range(tokens.size):
        if vectors.shape[0] > 0:
            affine(weight, bias, vectors[tokens[t]], embedded[t])
        else:
            copy(weight[tokens[t]], embedded[t])


@kernel
def read_out_step(
    p: Array, m: Array, v: Array, table: Array, r: int, delta: Array, top: Array, above: Array, s: Step
) -> None:
    """Adam on the read-out from δ (V,); above (T, H) ← gradient of the top states, of which only the last predicts."""
    last = above.shape[0] - 1
    for t in range(last):
        clear(above[t])
    adam_outer_backward(matrix(p, table, r), matrix(m, table, r), matrix(v, table, r), delta, top, above[last], s)
    adam_vector(vector(p, table, r + 1), vector(m, table, r + 1), vector(v, table, r + 1), delta, s)


@kernel
def embedding_step(
    p: Array,
    m: Array,
    v: Array,
    table: Array,
    vectors: Array,
    tokens: Array,
    deltas: Array,
    seen: Array,
    none: Array,
    row: Array,
    s: Step,
) -> None:
    """Adam on the embedding from its gradient at each position, deltas (T, E)."""
    weight, weight_m, weight_v = matrix(p, table, EMBED), matrix(m, table, EMBED), matrix(v, table, EMBED)
    if vectors.shape[0] == 0:
        table_step(weight, weight_m, weight_v, tokens, deltas, row, s)
        return
    for t in range(tokens.size):
        copy(vectors[tokens[t]], seen[t])
    window_step(weight, weight_m, weight_v, deltas, FIRST, seen, FIRST, none, s)
    bias, bias_m, bias_v = vector(p, table, EMBED_BIAS), vector(m, table, EMBED_BIAS), vector(v, table, EMBED_BIAS)
    window_bias_step(bias, bias_m, bias_v, deltas, FIRST, row, s)


@kernel
def move_on(mind: Mind, states: Array, memory: Array, x: int, learning: bool, overlap: bool) -> None:
    """Carry the state to where the next window is read from, and put x_t into that window.

    aligned: after the window's first token, so that windows stay in step with time. Learning off, nothing behind the
    newest token will be read again, so the state moves to the window's end and the window holds x_t alone.
    overlap: to the window's end, from where its tokens are read again. A window not yet full is kept and read again.
    """
    count, window = mind.fill[0], mind.tokens.size
    only_newest = not learning and not overlap
    if only_newest or count == window:
        consumed = count if only_newest or overlap else 1
        carried = mind.carried.reshape((states.shape[0], states.shape[2]))
        for layer in range(states.shape[0]):
            copy(states[layer, consumed], carried[layer])
            if mind.memory.shape[0] > 0:
                copy(memory[layer, consumed], mind.memory[layer])
        mind.clock[0] += consumed
    for t in range(window - 1):
        mind.tokens[t] = mind.tokens[t + 1]
    mind.tokens[window - 1] = x
    mind.fill[0] = 1 if only_newest else min(count + 1, window)


@kernel
def forget(mind: Mind) -> None:
    """Back to where nothing has been seen; the weights stay."""
    for level in range(mind.carried.shape[0]):
        clear(mind.carried[level])
        if mind.memory.shape[0] > 0:
            clear(mind.memory[level])
    mind.fill[0] = 0
    mind.clock[0] = 0
