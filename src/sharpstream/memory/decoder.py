"""How a memory that learns is asked for its last T inputs: decode them from one read-out, compare, go back.

The same for every kind that learns: it knows the read-out and the gradient it leaves there (`w.back`), not the memory.
"""

from sharpstream.kernels.adam import Step, adam_outer, adam_outers, adam_vector
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import FIRST, Array, lean_kernel
from sharpstream.kernels.linear import add_product, add_transposed, affine
from sharpstream.kernels.norm import softmax
from sharpstream.kernels.views import clear, copy
from sharpstream.memory.arrays import Arrays, Workspace


@lean_kernel
def decode(p: Arrays, w: Workspace) -> None:
    """The window's inputs in forward order, from the read-out of the last state alone, which is decoded[0]."""
    window, size = w.output.shape
    if p.decode_rec.shape[0] == 0:  # recall: T linear read-outs of the one state
        affine(p.read, p.read_bias, w.decoded[0], w.output.reshape(window * size))
        return
    for t in range(window):
        state = w.decoded[t + 1]
        for i in range(state.size):
            state[i] = p.decode_in_bias[i] + p.decode_rec_bias[i]
        if t > 0:
            copy(w.output[t - 1], w.fed[t])
            add_product(p.decode_in, w.fed[t], state)
        add_product(p.decode_rec, w.decoded[t], state)
        tanh_inplace(state)
        affine(p.read, p.read_bias, state, w.output[t])


@lean_kernel
def compare_tokens(tokens: Array, w: Workspace) -> float:
    """Mean cross-entropy (nats) of what was decoded; its gradient into `w.error`."""
    window = tokens.size
    loss = 0.0
    for t in range(window):
        loss += softmax(w.output[t], w.error[t]) - w.output[t, tokens[t]]
        w.error[t, tokens[t]] -= 1
        for i in range(w.error.shape[1]):
            w.error[t, i] /= window
    return loss / window


@lean_kernel
def compare_vectors(targets: Array, w: Workspace) -> float:
    """Mean squared error of what was decoded, (T, D); its gradient into `w.error`."""
    window, size = targets.shape
    loss = 0.0
    scale = targets.dtype.type(2.0 / (window * size))
    for t in range(window):
        squares = targets.dtype.type(0)
        for i in range(size):
            difference = w.output[t, i] - targets[t, i]
            squares += difference * difference
            w.error[t, i] = scale * difference
        loss += squares
    return loss / (window * size)


@lean_kernel
def backward(p: Arrays, w: Workspace) -> None:
    """From the error at the outputs back to the read-out, `w.back`; the weights are only read."""
    window, size = w.output.shape
    clear(w.back)
    if p.decode_rec.shape[0] == 0:
        add_transposed(p.read, w.error.reshape(window * size), w.back)
        return
    for t in range(window - 1, -1, -1):
        add_transposed(p.read, w.error[t], w.back)
        through_tanh(w.back, w.decoded[t + 1], w.delta_decode[t])
        clear(w.back)
        add_transposed(p.decode_rec, w.delta_decode[t], w.back)


@lean_kernel
def through_tanh(back: Array, state: Array, delta: Array) -> None:
    """delta ← back · (1 − state²)."""
    one = state.dtype.type(1)
    for i in range(state.size):
        delta[i] = back[i] * (one - state[i] * state[i])


@lean_kernel
def update(p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """One Adam step on the decoder."""
    window, size = w.output.shape
    if p.decode_rec.shape[0] == 0:
        error = w.error.reshape(window * size)
        adam_outer(p.read, m.read, v.read, error, w.decoded[0], s)
        adam_vector(p.read_bias, m.read_bias, v.read_bias, error, s)
        return
    adam_outers(p.decode_in, m.decode_in, v.decode_in, w.delta_decode, FIRST, w.fed, FIRST, s)
    adam_outers(p.decode_rec, m.decode_rec, v.decode_rec, w.delta_decode, FIRST, w.decoded[:window], FIRST, s)
    update_biases(p.decode_in_bias, m.decode_in_bias, v.decode_in_bias, w.delta_decode, w.back, s)
    update_biases(p.decode_rec_bias, m.decode_rec_bias, v.decode_rec_bias, w.delta_decode, w.back, s)
    adam_outers(p.read, m.read, v.read, w.error, FIRST, w.decoded[1:], FIRST, s)
    update_biases(p.read_bias, m.read_bias, v.read_bias, w.error, w.row[:size], s)


@lean_kernel
def update_biases(p: Array, m: Array, v: Array, deltas: Array, total: Array, s: Step) -> None:
    """One Adam step with the gradient Σ_t δ_t; `total` is scratch."""
    clear(total)
    for t in range(deltas.shape[0]):
        for i in range(total.size):
            total[i] += deltas[t, i]
    adam_vector(p, m, v, total, s)
