"""A diagonal linear state-space memory: H leaky units, fast to slow, each learning its own rate.

s ← a ⊙ s + (1 − a) ⊙ (B e + b) with a = σ(rate). Its tanh is read, so that the levels above see a bounded input.
"""

from sharpstream.kernels.adam import Step, adam_outers
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import FIRST, Array, lean_kernel
from sharpstream.kernels.linear import add_transposed, affine
from sharpstream.kernels.views import clear, copy
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.decoder import through_tanh, update_biases


@lean_kernel
def advance(p: Arrays, embedded: Array, state: Array, out: Array, passed: Array) -> None:
    """One step; passed ← kept shares and drives. σ(x) = (1 + tanh(x/2)) / 2."""
    n, rate = out.size, p.encode_rec[0]
    keep, drive = passed[:n], passed[n : 2 * n]
    one, half = state.dtype.type(1), state.dtype.type(0.5)
    for i in range(keep.size):
        keep[i] = half * rate[i]
    tanh_inplace(keep)
    for i in range(keep.size):
        keep[i] = half * (one + keep[i])
    affine(p.encode_in, p.encode_in_bias, embedded, drive)
    for i in range(out.size):
        out[i] = drive[i] + keep[i] * (state[i] - drive[i])


@lean_kernel
def read(state: Array, out: Array) -> None:
    """out ← tanh(s)."""
    copy(state, out)
    tanh_inplace(out)


@lean_kernel
def backward(p: Arrays, w: Workspace) -> None:
    """Gradients at every drive, rate and embedding, from `w.back` at the last read-out."""
    one = w.back.dtype.type(1)
    through_tanh(w.back, w.decoded[0], w.back)
    for t in range(w.embedded.shape[0] - 1, -1, -1):
        state = w.states[t]
        keep, drive = w.passed[t][: state.size], w.passed[t][state.size :]
        for i in range(state.size):
            w.delta_encode[t, i] = w.back[i] * (one - keep[i])
            w.delta_rec[t, i] = w.back[i] * (state[i] - drive[i]) * keep[i] * (one - keep[i])
            w.back[i] *= keep[i]
        clear(w.delta_embed[t])
        add_transposed(p.encode_in, w.delta_encode[t], w.delta_embed[t])


@lean_kernel
def update(p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """One Adam step on the encoder."""
    adam_outers(p.encode_in, m.encode_in, v.encode_in, w.delta_encode, FIRST, w.embedded, FIRST, s)
    update_biases(p.encode_in_bias, m.encode_in_bias, v.encode_in_bias, w.delta_encode, w.back, s)
    update_biases(p.encode_rec[0], m.encode_rec[0], v.encode_rec[0], w.delta_rec, w.back, s)
