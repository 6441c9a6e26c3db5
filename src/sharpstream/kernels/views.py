"""Cutting named arrays out of flat buffers inside compiled code (the compiled half of `layout.py`)."""

from sharpstream.kernels.jit import Array, kernel


@kernel
def matrix(buffer: Array, table: Array, row: int) -> Array:
    """Array number `row` of the layout as a matrix: a view, not a copy."""
    offset, rows, columns = table[row, 0], table[row, 1], table[row, 2]
    return buffer[offset : offset + rows * columns].reshape((rows, columns))


@kernel
def vector(buffer: Array, table: Array, row: int) -> Array:
    """Array number `row` of the layout as a vector: a view, not a copy."""
    offset = table[row, 0]
    return buffer[offset : offset + table[row, 1] * table[row, 2]]
