"""A Legendre memory (LMU, HiPPO): the best polynomial fit of a sliding window of inputs. It never learns.

Of each of an input's E coordinates it keeps the first q = H // E Legendre coefficients over the last q inputs, so the
state is (q, E), flat. Its two matrices are constants: `legendre_system.py` makes them.
"""

from sharpstream.kernels.jit import Array, kernel
from sharpstream.memory.arrays import Arrays


@kernel
def advance(p: Arrays, embedded: Array, state: Array, out: Array) -> None:
    """M ← Ā M + B̄ eᵀ."""
    e, enter = embedded.size, p.encode_in[0]
    for i in range(enter.size):
        row, turn = out[i * e : (i + 1) * e], p.encode_rec[i]
        for c in range(e):
            row[c] = enter[i] * embedded[c]
        for j in range(turn.size):
            share, old = turn[j], state[j * e : (j + 1) * e]
            for c in range(e):
                row[c] += share * old[c]
