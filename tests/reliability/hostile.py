"""Hypothesis strategies for files that somebody made to hurt: states, checkpoints, configs, archives."""

import json
import struct
from typing import Any

import numpy as np
from hypothesis import strategies as st

HUGE = [-(2**63), -(2**31) - 1, -1, 0, 1, 2, 7, 255, 2**31, 2**32 + 1, 2**62, 2**63 - 1]
WILD = [float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e-45, 1e38, -1e38, 1e300]
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64", "bool"]

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def _fill(data: Any, array: np.ndarray) -> np.ndarray:
    """Values that no learning leaves behind, in one place or everywhere."""
    changed = np.array(array)
    value = data.draw(st.sampled_from(HUGE if changed.dtype.kind in "iu" else WILD))
    with np.errstate(all="ignore"):
        value = np.array(value).astype(changed.dtype)
    if changed.size and data.draw(st.booleans()):
        changed.reshape(-1)[data.draw(st.integers(0, changed.size - 1))] = value
    else:
        changed[...] = value
    return changed


def _reshape(data: Any, array: np.ndarray) -> np.ndarray:
    kind = data.draw(st.sampled_from(["flat", "more", "less", "none", "deep", "twice", "turned", "scalar"]))
    if kind == "more":
        return np.concatenate([array.reshape(1, -1)[0], np.zeros(3, array.dtype)])
    if kind == "less":
        return array[:-1] if array.ndim and len(array) else array.reshape(-1)
    if kind == "none":
        return np.zeros((0, *array.shape[1:]), array.dtype)
    if kind == "twice":
        return np.concatenate([np.atleast_1d(array)] * 2)
    shapes = {"flat": array.reshape(-1), "deep": array.reshape(*array.shape, 1), "turned": array.T}
    return np.ascontiguousarray(shapes.get(kind, np.array(7, array.dtype)))


def _retype(data: Any, array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(data.draw(st.sampled_from(DTYPES)))


def mutate_state(data: Any, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One to three arrays changed in value, shape or kind; small ones (counters, windows) as often as large ones."""
    changed = dict(state)
    small = [name for name, array in state.items() if array.size <= 4 or array.dtype.kind in "iu"]
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(
            st.sampled_from(small) | st.sampled_from(list(state)) if small else st.sampled_from(list(state))
        )
        how = data.draw(st.sampled_from([_fill, _fill, _fill, _reshape, _retype]))
        changed[name] = how(data, changed[name])
    return changed


@st.composite
def safetensors_bytes(draw: Any) -> bytes:
    """A file in the format's frame, with a header that claims what it likes."""
    names = st.sampled_from(["a", "b", "unigram", "counters", "__metadata__", ""])
    sizes = st.integers(-2, 40) | st.sampled_from([2**31, 2**40, 2**63, 2**64, -1])
    entry = st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(["F32", "F64", "I64", "U8", "BF16", "F8_E4M3", "BOOL", "C64", "X", ""]),
            "shape": st.lists(sizes, max_size=4),
            "data_offsets": st.lists(sizes, min_size=2, max_size=2),
        }
    )
    header = draw(st.dictionaries(names, entry | plain, max_size=4) | plain)
    text = json.dumps(header).encode()
    length = draw(st.just(len(text)) | st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1]))
    return struct.pack("<Q", length) + text + draw(st.binary(max_size=80))
