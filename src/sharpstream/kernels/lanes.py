"""Sixteen numbers side by side as one value: compiled code says outright what stays in vector registers.

A loop over several arrays is often not vectorised, for they might overlap, or asks at every row whether they do; and a
sum that many rows add to is read and written at each of them. `load` and `store` move lanes between a contiguous vector
and a variable; + − · / mean each of the sixteen, with other lanes or with one number for all.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import templates
from numba.extending import intrinsic, lower_builtin, models, register_model

from sharpstream.kernels.jit import UNCOMPILED, Array, inlined

LANES = 16
FLAGS = ("contract", "reassoc", "nsz")
OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}  # Python's name, LLVM's
INSERT: Any = cgutils.get_or_insert_function  # Numba is not typed
SIGNATURE: Any = templates.signature
TYPED_BY: Any = templates.infer_global
BUILT_BY: Any = lower_builtin


class Lanes(types.Type):
    """Numba's type of sixteen float32 or float64."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """They are one LLVM vector, which a machine with shorter registers holds in several."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        number = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        prepare: Any = super().__init__
        prepare(manager, kind, ir.VectorType(number, LANES))


def _check_contiguous(array: Any) -> None:
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
        raise TypeError(f"lanes lie in a contiguous vector, not in {array}")
    _check_floating(array.dtype)


def _check_floating(number: Any) -> None:
    if not isinstance(number, types.Float):
        raise TypeError(f"lanes are float32 or float64, not {number}")


def _place(ctx: Any, builder: Any, sig: Any, arguments: Any) -> tuple[Any, int]:
    """Where the lanes of (array, index) begin, as a pointer to a vector, and how it is aligned."""
    array_type = sig.args[0]
    structure = ctx.make_array(array_type)(ctx, builder, arguments[0])
    index = ctx.cast(builder, arguments[1], sig.args[1], types.intp)
    vector = ir.VectorType(ctx.get_data_type(array_type.dtype), LANES)
    return builder.bitcast(builder.gep(structure.data, [index]), vector.as_pointer()), array_type.dtype.bitwidth // 8


def _spread_out(builder: Any, number: Any) -> Any:
    vector = ir.VectorType(number.type, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), mask)


@intrinsic
def _load(context: Any, array: Any, index: Any) -> Any:
    _check_contiguous(array)

    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        where, align = _place(ctx, builder, sig, arguments)
        return builder.load(where, align=align)

    return Lanes(array.dtype)(array, index), build


@intrinsic
def _store(context: Any, array: Any, index: Any, value: Any) -> Any:
    _check_contiguous(array)

    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        where, align = _place(ctx, builder, sig, arguments)
        builder.store(arguments[2], where, align=align)
        return ctx.get_dummy_value()

    return types.void(array, index, value), build


@intrinsic
def _spread(context: Any, number: Any) -> Any:
    _check_floating(number)

    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _spread_out(builder, arguments[0])

    return Lanes(number)(number), build


@intrinsic
def _total(context: Any, value: Any) -> Any:
    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        number = arguments[0].type.element
        name = f"llvm.vector.reduce.fadd.v{LANES}f{value.dtype.bitwidth}"
        function = INSERT(builder.module, ir.FunctionType(number, [number, arguments[0].type]), name)
        return builder.call(function, [number(0.0), arguments[0]], fastmath=FLAGS)

    return value.dtype(value), build


@intrinsic
def _root(context: Any, value: Any) -> Any:
    """√ of lanes, or of one number: what is written once for both may call it."""

    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        shape = f"v{LANES}f{value.dtype.bitwidth}" if isinstance(value, Lanes) else f"f{value.bitwidth}"
        kind = arguments[0].type
        return builder.call(INSERT(builder.module, ir.FunctionType(kind, [kind]), f"llvm.sqrt.{shape}"), arguments)

    return value(value), build


@intrinsic
def _larger(context: Any, one: Any, other: Any) -> Any:
    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        a, b = arguments
        return builder.select(builder.fcmp_ordered(">", b, a), b, a)

    return one(one, other), build


# Called without the first argument, which is Numba's.
load: Any = _load  # (array, at): the sixteen numbers from `at` on
store: Any = _store  # (array, at, lanes)
spread: Any = _spread  # (number): the same in every lane
sum_lanes: Any = _total  # (lanes): one number
root: Any = _root  # (lanes or number)
larger: Any = _larger  # (lanes, lanes): of each two

if UNCOMPILED:  # lanes are NumPy's vectors then

    def store(array: Array, at: int, value: Any) -> None:
        """array[at..] ← lanes."""
        array[at : at + LANES] = value

    load = lambda array, at: array[at : at + LANES].copy()  # noqa: E731
    spread = lambda number: np.full(LANES, number)  # noqa: E731
    sum_lanes, root, larger = np.sum, np.sqrt, np.maximum


def _define(symbol: Any, instruction: str) -> None:
    """Let compiled code write this operator between lanes, and between lanes and a number."""

    @TYPED_BY(symbol)
    class Typed(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            one, other = args
            if isinstance(one, Lanes) and other in (one, one.dtype):
                return SIGNATURE(one, one, other)
            if isinstance(other, Lanes) and one == other.dtype:
                return SIGNATURE(other, one, other)
            return None

    def build(ctx: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        both = zip(sig.args, arguments, strict=True)
        one, other = (value if isinstance(kind, Lanes) else _spread_out(builder, value) for kind, value in both)
        return getattr(builder, instruction)(one, other, flags=FLAGS)

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        BUILT_BY(symbol, *kinds)(build)


for _name, _instruction in OPERATIONS.items():
    _define(getattr(operator, _name), _instruction)
    _define(getattr(operator, f"i{_name}"), _instruction)


@inlined
def add_lanes(out: Array, at: int, scale: Any, values: Array, row: int) -> None:
    """out[at..] += scale · values[row..]."""
    store(out, at, load(out, at) + scale * load(values, row))
