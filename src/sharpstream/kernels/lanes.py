"""Sixteen numbers side by side as one vector: what a loop over lanes means, said to LLVM outright.

A loop of fixed length over two arrays is not vectorised, for they might overlap; these are, and took a third of the
time. Every function takes a flat array and where its lanes begin.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
INSERT: Any = cgutils.get_or_insert_function  # Numba is not typed
FLAGS = ("contract", "reassoc", "nsz")


def _pointer(ctx: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    """Where the lanes begin, as a pointer to a vector, and how it is aligned."""
    structure = ctx.make_array(array_type)(ctx, builder, array)
    place = ctx.cast(builder, index, index_type, types.intp)
    vector = ir.VectorType(ctx.get_data_type(array_type.dtype), LANES)
    return builder.bitcast(builder.gep(structure.data, [place]), vector.as_pointer()), array_type.dtype.bitwidth // 8


def _load(ctx: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    where, align = _pointer(
        ctx, builder, signature.args[which], arguments[which], signature.args[which + 1], arguments[which + 1]
    )
    return builder.load(where, align=align), where, align


def _splat(ctx: Any, builder: Any, kind: Any, value: Any, value_type: Any) -> Any:
    scalar = ctx.cast(builder, value, value_type, kind)
    vector = ir.VectorType(scalar.type, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), mask)


@intrinsic
def _add(context: Any, out: Any, at: Any, scale: Any, values: Any, row: Any) -> Any:
    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        old, where, align = _load(ctx, builder, signature, arguments, 0)
        given, _, _ = _load(ctx, builder, signature, arguments, 3)
        factor = _splat(ctx, builder, signature.args[0].dtype, arguments[2], signature.args[2])
        product = builder.fmul(given, factor, flags=FLAGS)
        builder.store(builder.fadd(old, product, flags=FLAGS), where, align=align)
        return ctx.get_dummy_value()

    return types.void(out, at, scale, values, row), build


@intrinsic
def _largest(context: Any, out: Any, at: Any, values: Any, row: Any) -> Any:
    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        old, where, align = _load(ctx, builder, signature, arguments, 0)
        given, _, _ = _load(ctx, builder, signature, arguments, 2)
        larger = builder.select(builder.fcmp_ordered(">", given, old), given, old)
        builder.store(larger, where, align=align)
        return ctx.get_dummy_value()

    return types.void(out, at, values, row), build


@intrinsic
def _times(context: Any, out: Any, at: Any, values: Any, row: Any) -> Any:
    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        old, where, align = _load(ctx, builder, signature, arguments, 0)
        given, _, _ = _load(ctx, builder, signature, arguments, 2)
        builder.store(builder.fmul(old, given, flags=FLAGS), where, align=align)
        return ctx.get_dummy_value()

    return types.void(out, at, values, row), build


@intrinsic
def _dot(context: Any, out: Any, at: Any, values: Any, row: Any) -> Any:
    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one, _, _ = _load(ctx, builder, signature, arguments, 0)
        other, _, _ = _load(ctx, builder, signature, arguments, 2)
        product = builder.fmul(one, other, flags=FLAGS)
        kind = product.type.element
        name = f"llvm.vector.reduce.fadd.v{LANES}f{signature.args[0].dtype.bitwidth}"
        function = INSERT(builder.module, ir.FunctionType(kind, [kind, product.type]), name)
        return builder.call(function, [kind(0.0), product], fastmath=FLAGS)

    return out.dtype(out, at, values, row), build


# Called without the first argument, which is Numba's.
add_lanes: Any = _add  # (out, at, scale, values, row): out[at..] += scale · values[row..]
largest_lanes: Any = _largest  # (out, at, values, row): out[at..] ← the larger of both
times_lanes: Any = _times  # (out, at, values, row): out[at..] ·= values[row..]
dot_lanes: Any = _dot  # (a, at, b, row): Σ a[at..] · b[row..]
