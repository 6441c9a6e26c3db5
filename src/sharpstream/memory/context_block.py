"""A context block, compiled: encode one input, reconstruct the last T, learn from the error of that.

Its arrays are cut from the flat buffers (`Arrays`), its intermediate results live in a `Workspace` made once. Called by
the wake loop for block 1 and by consolidation for the blocks above. Token blocks and vector blocks share everything but
the embedding and the loss.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharpstream.config import SharpConfig
from sharpstream.kernels.adam import Step, adam_outer, adam_outers, adam_vector
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.linear import add_product, add_transposed, affine
from sharpstream.kernels.norm import softmax
from sharpstream.kernels.views import clear, copy, matrix, shift, vector
from sharpstream.memory.shapes import ARRAYS_PER_BLOCK, target_size

KEEP = 0.9  # how much of the old reconstruction error the smoothed one keeps, awake and asleep, in both engines


class Arrays(NamedTuple):
    """One block's parameters, or their first or second moments: views into a flat buffer, in the layout's order."""

    embed: Array  # (V, E) for tokens, (E, D) for vectors
    embed_bias: Array  # (E,) for vectors
    encode_in: Array  # (H, E)
    encode_rec: Array  # (H, H)
    encode_in_bias: Array
    encode_rec_bias: Array
    decode_in: Array  # (H, D); absent with `recall`, like the next three
    decode_rec: Array  # (H, H)
    decode_in_bias: Array
    decode_rec_bias: Array
    read: Array  # (D, H), or (T·D, H) with `recall`
    read_bias: Array  # (D,) or (T·D,)


class Workspace(NamedTuple):
    """What one reconstruction leaves for its gradient, and for the next window."""

    embedded: Array  # (T, E)
    states: Array  # (T + 1, H): states[0] is carried in, states[t + 1] is after the window's input t
    decoded: Array  # (T + 1, H): decoder states, decoded[0] is the encoder's last
    output: Array  # (T, D): reconstructed inputs (logits for tokens)
    error: Array  # (T, D): gradient of the loss with respect to the output
    delta_encode: Array  # (T, H)
    delta_decode: Array  # (T, H)
    delta_embed: Array  # (T, E)
    fed: Array  # (T, D): what the decoder was fed: zero, then its own outputs
    back: Array  # (H,)
    row: Array  # (max(D, H, E),): scratch of the fused update
    aligned: Array  # (1,): 1 when states and embedded still hold, so that only the newest input needs encoding


def make_workspace(config: SharpConfig, vocabulary: int, level: int) -> Workspace:
    """Zeroed workspace for block ℓ (all upper blocks share one size)."""
    size, width, window = target_size(config, vocabulary, level), config.width, config.window

    def zeros(*shape: int) -> npt.NDArray[Any]:
        return np.zeros(shape, dtype=config.dtype)

    return Workspace(
        embedded=zeros(window, config.embedding),
        states=zeros(window + 1, width),
        decoded=zeros(window + 1, width),
        output=zeros(window, size),
        error=zeros(window, size),
        delta_encode=zeros(window, width),
        delta_decode=zeros(window, width),
        delta_embed=zeros(window, config.embedding),
        fed=zeros(window, size),
        back=zeros(width),
        row=zeros(max(size, width, config.embedding)),
        aligned=np.zeros(1, dtype=np.int64),
    )


@kernel
def block_arrays(buffer: Array, table: Array, first: int, level: int) -> Arrays:
    """Block ℓ's views into a buffer; `first` is the layout row where context blocks begin."""
    r = first + (level - 1) * ARRAYS_PER_BLOCK
    return Arrays(
        matrix(buffer, table, r),
        vector(buffer, table, r + 1),
        matrix(buffer, table, r + 2),
        matrix(buffer, table, r + 3),
        vector(buffer, table, r + 4),
        vector(buffer, table, r + 5),
        matrix(buffer, table, r + 6),
        matrix(buffer, table, r + 7),
        vector(buffer, table, r + 8),
        vector(buffer, table, r + 9),
        matrix(buffer, table, r + 10),
        vector(buffer, table, r + 11),
    )


@kernel
def embed_token(p: Arrays, token: int, out: Array) -> None:
    """The token's row of the table."""
    copy(p.embed[token], out)


@kernel
def embed_vector(p: Arrays, x: Array, out: Array) -> None:
    """Linear D→E, no activation."""
    affine(p.embed, p.embed_bias, x, out)


@kernel
def encode(p: Arrays, embedded: Array, state: Array, out: Array) -> None:
    """out ← tanh(W_in e + W_rec h + b_in + b_rec); `out` and `state` are different arrays."""
    for i in range(out.size):
        out[i] = p.encode_in_bias[i] + p.encode_rec_bias[i]
    add_product(p.encode_in, embedded, out)
    add_product(p.encode_rec, state, out)
    tanh_inplace(out)


@kernel
def reconstruct_tokens(p: Arrays, tokens: Array, carried: Array, w: Workspace) -> float:
    """Mean cross-entropy (nats) of reading the window's T tokens back; `carried` moves on to after the first."""
    window = tokens.size
    first = window - 1 if w.aligned[0] else 0
    _start(w, carried)
    for t in range(first, window):
        embed_token(p, tokens[t], w.embedded[t])
        encode(p, w.embedded[t], w.states[t], w.states[t + 1])
    copy(w.states[1], carried)
    decode(p, w)
    loss = 0.0
    for t in range(window):
        loss += softmax(w.output[t], w.error[t]) - w.output[t, tokens[t]]
        w.error[t, tokens[t]] -= 1
        for i in range(w.error.shape[1]):
            w.error[t, i] /= window
    return loss / window


@kernel
def reconstruct_vectors(p: Arrays, inputs: Array, targets: Array, carried: Array, w: Workspace) -> float:
    """Mean squared error of reading the window's T vectors back, (T, D); `carried` moves on to after the first."""
    window, size = targets.shape
    first = window - 1 if w.aligned[0] else 0
    _start(w, carried)
    for t in range(first, window):
        embed_vector(p, inputs[t], w.embedded[t])
        encode(p, w.embedded[t], w.states[t], w.states[t + 1])
    copy(w.states[1], carried)
    decode(p, w)
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


@kernel
def _start(w: Workspace, carried: Array) -> None:
    """Where the window's encoding begins.

    With unchanged weights the window one step on passes through the very states this one did, so they are shifted
    instead of computed again: one encoder step instead of T, and the same numbers to the last bit.
    """
    if w.aligned[0]:
        shift(w.states)
        shift(w.embedded)
    else:
        copy(carried, w.states[0])
    w.aligned[0] = 1


@kernel
def decode(p: Arrays, w: Workspace) -> None:
    """The window's inputs in forward order, from the last encoder state alone."""
    window, size = w.output.shape
    last = w.states[window]
    if p.decode_rec.shape[0] == 0:  # recall: T linear read-outs of the one state
        affine(p.read, p.read_bias, last, w.output.reshape(window * size))
        return
    copy(last, w.decoded[0])
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


@kernel
def backward(p: Arrays, w: Workspace) -> None:
    """Gradients at every pre-activation, back from the reconstruction error; the weights are only read."""
    window, size = w.output.shape
    clear(w.back)
    if p.decode_rec.shape[0] == 0:
        add_transposed(p.read, w.error.reshape(window * size), w.back)
    else:
        for t in range(window - 1, -1, -1):
            add_transposed(p.read, w.error[t], w.back)
            through_tanh(w.back, w.decoded[t + 1], w.delta_decode[t])
            clear(w.back)
            add_transposed(p.decode_rec, w.delta_decode[t], w.back)
    for t in range(window - 1, -1, -1):
        through_tanh(w.back, w.states[t + 1], w.delta_encode[t])
        clear(w.back)
        add_transposed(p.encode_rec, w.delta_encode[t], w.back)
        clear(w.delta_embed[t])
        add_transposed(p.encode_in, w.delta_encode[t], w.delta_embed[t])


@kernel
def through_tanh(back: Array, state: Array, delta: Array) -> None:
    """delta ← back · (1 − state²)."""
    one = state.dtype.type(1)
    for i in range(state.size):
        delta[i] = back[i] * (one - state[i] * state[i])


@kernel
def update(p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """One Adam step on everything but the embedding, from the gradients `backward` left."""
    window, size = w.output.shape
    states = w.states[:window]
    adam_outers(p.encode_in, m.encode_in, v.encode_in, w.delta_encode, w.embedded, w.row, s)
    adam_outers(p.encode_rec, m.encode_rec, v.encode_rec, w.delta_encode, states, w.row, s)
    _update_biases(p.encode_in_bias, m.encode_in_bias, v.encode_in_bias, w.delta_encode, w.back, s)
    _update_biases(p.encode_rec_bias, m.encode_rec_bias, v.encode_rec_bias, w.delta_encode, w.back, s)
    if p.decode_rec.shape[0] == 0:
        error = w.error.reshape(window * size)
        adam_outer(p.read, m.read, v.read, error, w.states[window], s)
        adam_vector(p.read_bias, m.read_bias, v.read_bias, error, s)
    else:
        adam_outers(p.decode_in, m.decode_in, v.decode_in, w.delta_decode, w.fed, w.row, s)
        adam_outers(p.decode_rec, m.decode_rec, v.decode_rec, w.delta_decode, w.decoded[:window], w.row, s)
        _update_biases(p.decode_in_bias, m.decode_in_bias, v.decode_in_bias, w.delta_decode, w.back, s)
        _update_biases(p.decode_rec_bias, m.decode_rec_bias, v.decode_rec_bias, w.delta_decode, w.back, s)
        adam_outers(p.read, m.read, v.read, w.error, w.decoded[1:], w.row, s)
        _update_biases(p.read_bias, m.read_bias, v.read_bias, w.error, w.row[:size], s)
    w.aligned[0] = 0  # the states of this window belong to the old weights


@kernel
def _update_biases(p: Array, m: Array, v: Array, deltas: Array, total: Array, s: Step) -> None:
    """One Adam step with the gradient Σ_t δ_t; `total` is scratch."""
    clear(total)
    for t in range(deltas.shape[0]):
        for i in range(total.size):
            total[i] += deltas[t, i]
    adam_vector(p, m, v, total, s)


@kernel
def update_table(p: Arrays, m: Arrays, v: Arrays, tokens: Array, w: Workspace, s: Step) -> None:
    """One Adam step on the table: every row moves on its moments, the window's rows also on their gradient."""
    g = w.row[: p.embed.shape[1]]
    for token in range(p.embed.shape[0]):
        clear(g)
        for t in range(tokens.size):
            if tokens[t] == token:
                for j in range(g.size):
                    g[j] += w.delta_embed[t, j]
        adam_vector(p.embed[token], m.embed[token], v.embed[token], g, s)


@kernel
def update_projection(p: Arrays, m: Arrays, v: Arrays, inputs: Array, w: Workspace, s: Step) -> None:
    """One Adam step on the linear embedding of vectors."""
    adam_outers(p.embed, m.embed, v.embed, w.delta_embed, inputs, w.row, s)
    _update_biases(p.embed_bias, m.embed_bias, v.embed_bias, w.delta_embed, w.row[: p.embed_bias.size], s)


@kernel
def learn_tokens(p: Arrays, m: Arrays, v: Arrays, tokens: Array, w: Workspace, s: Step) -> None:
    """One Adam step on a token block from its last reconstruction."""
    backward(p, w)
    update(p, m, v, w, s)
    update_table(p, m, v, tokens, w, s)


@kernel
def learn_vectors(p: Arrays, m: Arrays, v: Arrays, inputs: Array, w: Workspace, s: Step) -> None:
    """One Adam step on a vector block from its last reconstruction."""
    backward(p, w)
    update(p, m, v, w, s)
    update_projection(p, m, v, inputs, w, s)


@kernel
def read_token(p: Arrays, token: int, vectors: Array, embedded: Array) -> None:
    """Block 1's embedding of a token, through its own table or through the token's frozen vector."""
    if vectors.shape[0] == 0:
        embed_token(p, token, embedded)
    else:
        embed_vector(p, vectors[token], embedded)
