"""A delay line: the last n = H // E inputs exactly, the newest first. It never learns.

The state is n embedded inputs, (n·E,); a read-out is wider by what n does not fill, which stays 0.
"""

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.views import clear, copy


@lean_kernel
def advance(embedded: Array, state: Array, out: Array) -> None:
    """The new input comes first, the oldest is dropped."""
    e = embedded.size
    copy(embedded, out[:e])
    copy(state, out[e:])


@lean_kernel
def read(state: Array, out: Array) -> None:
    """The state, filled up with zeros."""
    copy(state, out[: state.size])
    clear(out[state.size :])
