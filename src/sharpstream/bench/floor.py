"""The floor: the least any optimiser with two moments can do, which is to read and write p, m and v once per token."""

import numpy as np

from sharpstream.evaluate.timing import Work
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.layout import Layout


@kernel
def touch(p: Array, m: Array, v: Array, passes: int) -> None:
    """Read and write each number once a pass, with as little arithmetic as keeps the compiler honest."""
    decay, more = p.dtype.type(0.999), p.dtype.type(1e-9)
    for _ in range(passes):
        for i in range(p.size):
            m[i] = decay * m[i]
            v[i] = decay * v[i]
            p[i] = p[i] - more * m[i]


def floor(parameters: int, *, staggered: bool, passes: int) -> Work:
    """Passes over so many float32 weights and their moments, in plain arrays or placed as the engine places them."""
    if staggered:
        layout = Layout({"w": (parameters,)})
        buffers = [layout.zeros(np.float32, place) for place in range(3)]
    else:
        buffers = [np.zeros(parameters, dtype=np.float32) for _ in range(3)]
    for buffer in buffers:
        buffer[:] = 1.0
    p, m, v = buffers

    def work() -> int:
        touch(p, m, v, passes)
        return passes

    return work
