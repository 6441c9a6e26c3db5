"""A Legendre memory (LMU, HiPPO): the best polynomial fit of a sliding window of inputs. It never learns.

Of each of an input's E coordinates it keeps the first q = H // E Legendre coefficients over the last q inputs, so the
state is (q, E), flat. Its two matrices are constants: `legendre_system.py` makes them.
"""

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.lanes import LANES, add_lanes
from sharpstream.kernels.views import clear, copy
from sharpstream.memory.arrays import Arrays


@lean_kernel
def advance(p: Arrays, embedded: Array, state: Array, out: Array, passed: Array) -> None:
    """M ← Ā M + B̄ eᵀ, in whole lanes: a row of E is too short for the compiler to make vectors of.

    `passed` is scratch: each new row in lanes of its own, then the old rows and the input side by side. What the lanes
    beyond a row add up to is never read.
    """
    e, orders = embedded.size, p.encode_in.shape[1]
    wide, size = -(-e // LANES) * LANES, orders * e
    new, past = passed[: orders * wide], passed[orders * wide :]
    copy(state, past[:size])
    copy(embedded, past[size : size + e])
    clear(new)
    for lane in range(0, e, LANES):
        for i in range(orders):
            add_lanes(new, i * wide + lane, p.encode_in[0, i], past, size + lane)
        for j in range(orders):  # the order of every sum is that of j
            for i in range(orders):
                add_lanes(new, i * wide + lane, p.encode_rec[i, j], past, j * e + lane)
    for i in range(orders):
        for c in range(e):
            out[i * e + c] = new[i * wide + c]
