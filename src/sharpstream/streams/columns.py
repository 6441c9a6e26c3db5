"""Events of the person's own as a stream: an array of integers (.npy), or a column of a CSV file (FILE.csv:COLUMN).

The numbers of an array are the tokens. The values of a column become tokens in their order: numbers by size, words by
letter. Both are read whole; the stream's identity is the digest of its tokens and symbols.
"""

import csv
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError
from sharpstream.streams.arrays import ArrayStream

LARGEST_VOCABULARY = 65_536


def open_array(path: Path, *, start: int = 0, end: int | None = None) -> ArrayStream:
    """A one-dimensional array of integers 0..V−1, as `numpy.save` writes it."""
    tokens = _read_array(path)
    if tokens.ndim != 1 or not np.issubdtype(tokens.dtype, np.integer):
        shown = f"{tokens.dtype} of shape {tokens.shape}"
        raise StreamError(f"{path} holds {shown}; a stream is a one-dimensional array of integers")
    if not tokens.size:
        raise StreamError(f"{path} is empty")
    if int(tokens.min()) < 0 or int(tokens.max()) >= LARGEST_VOCABULARY:
        found = f"{int(tokens.min())}..{int(tokens.max())}"
        raise StreamError(f"{path} holds numbers {found}; tokens lie in 0..{LARGEST_VOCABULARY - 1}")
    symbols = tuple(str(token) for token in range(int(tokens.max()) + 1))
    return _stream(tokens, symbols, path.name, start, end)


def _read_array(path: Path) -> npt.NDArray[Any]:
    """The array of an .npy file, header and numbers read apart: objects, which could run code, are never made."""
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(file)
            if dtype.hasobject:
                raise StreamError(f"{path} holds Python objects; a stream is a one-dimensional array of integers")
            numbers = np.fromfile(file, dtype=dtype)
        return numbers.reshape(shape)
    except (OSError, ValueError, EOFError) as problem:
        raise StreamError(f"cannot read {path} as an array: {problem}") from problem


def open_column(path: Path, column: str, *, start: int = 0, end: int | None = None) -> ArrayStream:
    """One column of a CSV file with a heading, each different value a token."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file)
            heading = next(rows, [])
            if column not in heading:
                raise StreamError(f"{path} has no column {column!r}; it has: {', '.join(heading) or 'nothing'}")
            place = heading.index(column)
            values = [row[place] if place < len(row) else "" for row in rows if row]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise StreamError(f"cannot read {path} as CSV: {problem}") from problem
    if not values:
        raise StreamError(f"{path} has no rows below its heading")
    symbols = tuple(sorted(set(values), key=_order))
    if len(symbols) > LARGEST_VOCABULARY:
        raise StreamError(
            f"column {column!r} of {path} has {len(symbols):,} different values; a stream has at most "
            f"{LARGEST_VOCABULARY:,}. Measurements need to be cut into classes first"
        )
    token = {symbol: number for number, symbol in enumerate(symbols)}
    tokens = np.array([token[value] for value in values], dtype=np.int32)
    if len(symbols) == 1:
        symbols = (*symbols, f"not {symbols[0]}")  # a learner needs two symbols to choose from
    return _stream(tokens, symbols, f"{path.name}:{column}", start, end)


def _order(value: str) -> tuple[bool, float, str]:
    """Numbers before words, by size."""
    try:
        return False, float(value), value
    except ValueError:
        return True, 0.0, value


def _stream(
    tokens: npt.NDArray[np.integer], symbols: tuple[str, ...], name: str, start: int, end: int | None
) -> ArrayStream:
    digest = hashlib.sha256(tokens.astype("<i4").tobytes() + "\0".join(symbols).encode("utf-8", "surrogatepass"))
    return ArrayStream(tokens, name=name, symbols=symbols, sha256=digest.hexdigest(), start=start, end=end)
