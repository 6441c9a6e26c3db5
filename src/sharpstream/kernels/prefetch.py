"""Ask for a cache line before it is needed: the memory's latency passes while something else is computed."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sharpstream.kernels.jit import UNCOMPILED


@intrinsic
def _prefetch(context: Any, array: Any, index: Any) -> Any:
    """Prefetch the line of array[index] (one-dimensional, contiguous) for reading; changes nothing, cannot fault."""

    def build(ctx: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, index_type = signature.args
        structure = ctx.make_array(array_type)(ctx, builder, arguments[0])
        place = ctx.cast(builder, arguments[1], index_type, types.intp)
        pointer = builder.bitcast(builder.gep(structure.data, [place]), ir.PointerType(ir.IntType(8)))
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, word(0), word(3), word(1)])  # for reading, into every cache, data
        return ctx.get_dummy_value()

    return types.void(array, index), build


prefetch: Any = _prefetch  # called with (array, index); the context is Numba's
if UNCOMPILED:
    prefetch = lambda array, index: None  # noqa: E731
