"""Frozen vectors of a stream's symbols, from any safetensors file: one row a symbol, checked against the vocabulary.

They are read when a learner asks for them and never written anywhere: a checkpoint names them by their sha256.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import DataError

Vectors = npt.NDArray[np.floating[Any]]


def load_vectors(path: Path, key: str, vocabulary: int) -> Vectors:
    """The table `key` of the file (its only one when not given), (V, D); refused where it does not fit."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise DataError(
            f"there is no file {path} with frozen vectors; give a safetensors file (stream.subword.embedding)"
        )
    try:
        with safe_open(path, framework="numpy") as tables:
            name = _chosen(path, key, sorted(tables.keys()))
            table = tables.get_tensor(name)
    except SafetensorError as problem:
        raise DataError(f"{path} is not a sound safetensors file: {str(problem).splitlines()[0]}") from problem
    except (OSError, TypeError, AttributeError) as problem:  # a kind of number that NumPy does not have
        raise DataError(f"{path} cannot be read as numbers: {problem}; float16, float32 or float64 can") from problem
    return _checked(table, f"{name} in {path}", vocabulary)


def _chosen(path: Path, key: str, names: list[str]) -> str:
    """The key asked for, or the only one there is."""
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    if key and key not in names:
        raise DataError(f"there is no table {key!r} in {path}; it has: {shown or 'none'}")
    if not key and len(names) != 1:
        raise DataError(f"{path} has {len(names)} tables ({shown}); say which with stream.subword.key")
    return key or names[0]


def _checked(table: npt.NDArray[Any], name: str, vocabulary: int) -> Vectors:
    """A finite matrix with as many rows as there are symbols."""
    if table.ndim != 2 or table.dtype.kind != "f" or not table.shape[1]:
        raise DataError(f"{name} is {table.dtype} of shape {table.shape}; frozen vectors are a matrix of floats")
    if len(table) != vocabulary:
        raise DataError(
            f"{name} has {len(table):,} rows, but the tokenizer has {vocabulary:,} symbols: "
            "they do not belong together; name the embedding that was made for this tokenizer"
        )
    if not np.isfinite(table).all():
        raise DataError(f"{name} holds numbers that are not finite; get the file again")
    return table
