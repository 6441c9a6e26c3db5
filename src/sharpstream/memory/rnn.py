"""The paper's memory: a tanh RNN. Also `orthogonal`, the same that never learns.

One step for both; the gradient back through the window and the update for the one that learns.
"""

from sharpstream.kernels.adam import Step, adam_outers
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import FIRST, Array, lean_kernel
from sharpstream.kernels.linear import add_product, add_transposed
from sharpstream.kernels.views import clear
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.decoder import through_tanh, update_biases


@lean_kernel
def advance(w_in: Array, w_rec: Array, b_in: Array, b_rec: Array, embedded: Array, state: Array, out: Array) -> None:
    """out ← tanh(W_in e + W_rec h + b_in + b_rec); `out` and `state` are different arrays."""
    for i in range(out.size):
        out[i] = b_in[i] + b_rec[i]
    add_product(w_in, embedded, out)
    add_product(w_rec, state, out)
    tanh_inplace(out)


@lean_kernel
def backward(p: Arrays, w: Workspace) -> None:
    """Gradients at every pre-activation and embedding, from `w.back` at the last state."""
    for t in range(w.embedded.shape[0] - 1, -1, -1):
        through_tanh(w.back, w.states[t + 1], w.delta_encode[t])
        clear(w.back)
        add_transposed(p.encode_rec, w.delta_encode[t], w.back)
        clear(w.delta_embed[t])
        add_transposed(p.encode_in, w.delta_encode[t], w.delta_embed[t])


@lean_kernel
def update(p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """One Adam step on the encoder."""
    states = w.states[: w.embedded.shape[0]]
    adam_outers(p.encode_in, m.encode_in, v.encode_in, w.delta_encode, FIRST, w.embedded, FIRST, s)
    adam_outers(p.encode_rec, m.encode_rec, v.encode_rec, w.delta_encode, FIRST, states, FIRST, s)
    update_biases(p.encode_in_bias, m.encode_in_bias, v.encode_in_bias, w.delta_encode, w.back, s)
    update_biases(p.encode_rec_bias, m.encode_rec_bias, v.encode_rec_bias, w.delta_encode, w.back, s)
