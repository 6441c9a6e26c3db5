"""Named arrays that live side by side in one flat buffer.

A model's parameters are one buffer, its Adam moments two more of the same layout. Python sees names and views; compiled
code sees an integer table (one row an array) and cuts its own views, so no size ever changes a compiled type.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Buffer = npt.NDArray[np.floating[Any]]
PAGE, STAGGER = 4096, 1344  # bytes; the stagger is a multiple of the cache line
ALIGNMENT = 16  # elements: 64 bytes of float32, one cache line and one AVX-512 register


class Layout:
    """Where each named array stands in a flat buffer. An array of size 0 is absent: it keeps its row, not its name."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.index = {name: row for row, name in enumerate(shapes)}
        self.table = np.zeros((len(shapes), 3), dtype=np.int64)  # offset, rows, columns
        offset = 0
        for row, shape in enumerate(shapes.values()):
            columns = shape[-1] if shape else 1
            rows = int(np.prod(shape[:-1], dtype=np.int64))
            self.table[row] = offset, rows, columns
            offset += -(-rows * columns // ALIGNMENT) * ALIGNMENT
        self.size = offset
        self.names = tuple(name for name, shape in shapes.items() if np.prod(shape, dtype=np.int64))

    def zeros(self, dtype: npt.DTypeLike, place: int = 0) -> Buffer:
        """A buffer of zeros; buffers walked side by side ask for places 0, 1, 2.

        Each place begins a third of a page after the one before. Buffers that begin at the same place in their pages
        alias: the processor takes a load from one for a store to another, and a pass over p, m and v takes three times
        as long (0.133 against 0.045 ms for 320,000 weights).
        """
        spare = np.zeros(self.size + 2 * PAGE // np.dtype(dtype).itemsize, dtype=dtype)
        start = (-spare.ctypes.data % PAGE + place * STAGGER) // spare.itemsize
        return spare[start : start + self.size]

    def view(self, buffer: Buffer, name: str) -> Buffer:
        """The named array inside a buffer: a view, not a copy."""
        offset, rows, columns = self.table[self.index[name]]
        return buffer[offset : offset + rows * columns].reshape(self.shapes[name])

    def count(self, prefix: str = "") -> int:
        """How many numbers the arrays whose names begin with `prefix` hold."""
        return sum(int(np.prod(self.shapes[name])) for name in self.names if name.startswith(prefix))
