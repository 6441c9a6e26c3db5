"""Cutting named arrays out of flat buffers inside compiled code, and moving vectors between them."""

from sharpstream.kernels.jit import Array, inlined, lean_kernel


@inlined
def matrix(buffer: Array, table: Array, row: int) -> Array:
    """Array number `row` of the layout as a matrix: a view, not a copy."""
    offset, rows, columns = table[row, 0], table[row, 1], table[row, 2]
    return buffer[offset : offset + rows * columns].reshape((rows, columns))


@inlined
def vector(buffer: Array, table: Array, row: int) -> Array:
    """Array number `row` of the layout as a vector: a view, not a copy."""
    offset = table[row, 0]
    return buffer[offset : offset + table[row, 1] * table[row, 2]]


@lean_kernel
def copy(source: Array, target: Array) -> None:
    """target ← source; both (n,). A plain loop: Numba's slice assignment compiles to far more code."""
    for i in range(target.size):
        target[i] = source[i]


@lean_kernel
def clear(target: Array) -> None:
    """target ← 0; (n,)."""
    for i in range(target.size):
        target[i] = 0


@lean_kernel
def shift(rows: Array) -> None:
    """Drop the oldest row: rows[t] ← rows[t + 1]; (n, size), the last row stays as it was."""
    for t in range(rows.shape[0] - 1):
        copy(rows[t + 1], rows[t])
