"""A token store: one file of tokens, mapped not read, and a JSON sidecar that says what they are.

Corpora are converted to a store once and then opened in no time at any size. The sidecar is written last, so a store
without one was never finished; whatever it holds, reading it raises nothing but DataError.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sharpstream import files
from sharpstream.errors import DataError
from sharpstream.streams.arrays import ArrayStream
from sharpstream.streams.base import Part

FORMAT = 1
DTYPES: dict[str, np.dtype[Any]] = {"uint8": np.dtype("u1"), "uint16": np.dtype("<u2")}
LARGEST_SIDECAR = 32 << 20  # bytes; 65,536 symbols and thousands of books fit many times over


@dataclass(frozen=True)
class Section:
    """A named stretch of a store, such as one book: tokens start..end-1."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Description:
    """What the sidecar says."""

    sha256: str  # of the token file
    symbols: tuple[str, ...]
    dtype: str
    length: int  # tokens
    sections: tuple[Section, ...] = ()
    details: Mapping[str, str | int] = field(default_factory=dict)  # where the tokens came from


@dataclass(frozen=True)
class Store:
    """A finished store on disk, opened by `open_store`."""

    name: str
    path: Path  # of the token file
    description: Description

    def tokens(self) -> npt.NDArray[np.integer]:
        """The tokens, mapped read-only. (length,)"""
        told = self.description
        try:
            tokens: npt.NDArray[np.integer[Any]] = np.memmap(
                self.path, dtype=DTYPES[told.dtype], mode="r", shape=(told.length,)
            )
            return tokens
        except (OSError, ValueError) as problem:
            raise DataError(f"cannot map {self.path}: {problem}") from problem

    def stream(self, start: int = 0, end: int | None = None) -> "StoreStream":
        """The tokens start..end as a stream."""
        return StoreStream(self, start=start, end=end)

    def verify(self) -> None:
        """Read every token again and compare the sha256 with the one recorded."""
        found = sha256_of(self.path)
        if found != self.description.sha256:
            raise DataError(
                f"the token file {self.path} is damaged: its sha256 is {found}, recorded was "
                f"{self.description.sha256}; delete it and its .json and it will be made again"
            )


class StoreStream(ArrayStream):
    """A store, or a slice of it, as a stream; its parts are those of the store's sections that lie in the slice."""

    def __init__(self, store: Store, *, start: int = 0, end: int | None = None) -> None:
        told = store.description
        super().__init__(
            store.tokens(), name=store.name, symbols=told.symbols, sha256=told.sha256, start=start, end=end
        )
        end_of_slice = self.start + self._size
        self.parts = tuple(
            Part(section.name, max(section.start, self.start) - self.start, min(section.end, end_of_slice) - self.start)
            for section in told.sections
            if section.end > self.start and section.start < end_of_slice
        )


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """`files.replacing` in the cache, which can be somewhere else."""
    try:
        with files.replacing(path) as file:
            yield file
    except OSError as problem:
        reason = problem.strerror or problem
        raise DataError(f"cannot write {path}: {reason}; SHARP_CACHE can name another place") from problem


def write_store(
    base: Path,
    pieces: Iterable[npt.NDArray[np.integer]],
    symbols: tuple[str, ...],
    *,
    sections: Iterable[Section] = (),
    details: Mapping[str, str | int] | None = None,
) -> Store:
    """Write `base`.tokens and then `base`.json; sections may be a list that fills while the pieces are drawn."""
    dtype = "uint8" if len(symbols) <= 256 else "uint16"
    digest, length = hashlib.sha256(), 0
    with replacing(tokens_path(base)) as file:
        for piece in pieces:
            raw = np.ascontiguousarray(piece, dtype=DTYPES[dtype]).tobytes()
            digest.update(raw)
            file.write(raw)
            length += len(piece)
        if length == 0:
            raise DataError(f"there are no tokens to store in {base}")
        # From here to the new sidecar the store counts as unfinished, never as the old one with new tokens.
        sidecar_path(base).unlink(missing_ok=True)
    told = Description(
        sha256=digest.hexdigest(),
        symbols=symbols,
        dtype=dtype,
        length=length,
        sections=tuple(sections),
        details=dict(details or {}),
    )
    with replacing(sidecar_path(base)) as file:
        file.write(json.dumps({"format": FORMAT, **asdict(told)}, indent=1).encode())
    return open_store(base)


def tokens_path(base: Path) -> Path:
    """Where the tokens of the store `base` are."""
    return base.with_name(base.name + ".tokens")


def sidecar_path(base: Path) -> Path:
    """Where the description of the store `base` is."""
    return base.with_name(base.name + ".json")


def has_store(base: Path) -> bool:
    """Whether a store was finished there."""
    return sidecar_path(base).is_file()


def open_store(base: Path) -> Store:
    """Open a store after checking that its sidecar makes sense and its token file has the size that it says."""
    told = read_description(sidecar_path(base))
    path = tokens_path(base)
    expected = told.length * DTYPES[told.dtype].itemsize
    found = path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise DataError(f"{path} has {found:,} bytes, its sidecar promises {expected:,}; delete both and make it again")
    return Store(base.name, path, told)


def read_description(path: Path) -> Description:
    """Read a sidecar that anybody may have edited."""
    try:
        if path.stat().st_size > LARGEST_SIDECAR:
            raise ValueError("it is too large")
        values = json.loads(path.read_bytes().decode())
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        return _description(values)
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem
    except (ValueError, TypeError, KeyError, RecursionError) as problem:
        raise DataError(f"{path} does not describe a token store: {problem}") from problem


def _description(values: Mapping[str, Any]) -> Description:
    """Check field by field; a ValueError says what is wrong."""
    symbols = values["symbols"]
    _need(isinstance(symbols, list) and 1 <= len(symbols) <= 65_536, "symbols must be a list of 1 to 65,536 texts")
    _need(all(isinstance(symbol, str) and symbol.encode() for symbol in symbols), "each symbol must be a text")
    dtype, length, digest = values["dtype"], values["length"], values["sha256"]
    _need(isinstance(dtype, str) and dtype in DTYPES, "dtype must be uint8 or uint16")
    _need(type(length) is int and 1 <= length < 2**48, "length must be a count of tokens")
    _need(isinstance(digest, str) and len(digest) == 64 and digest.isalnum(), "sha256 must be 64 hexadecimal digits")
    details = values.get("details", {})
    _need(isinstance(details, dict) and all(type(v) in (str, int) for v in details.values()), "details must be plain")
    sections = tuple(Section(**section) for section in values.get("sections", []))
    end = 0
    for section in sections:
        _need(isinstance(section.name, str) and section.name.isprintable(), "a section's name must be printable")
        _need(type(section.start) is int and type(section.end) is int, "a section's bounds must be integers")
        _need(end <= section.start < section.end <= length, "sections must lie in order inside the store")
        end = section.end
    return Description(
        sha256=digest, symbols=tuple(symbols), dtype=dtype, length=length, sections=sections, details=details
    )


def _need(ok: bool, message: str) -> None:
    if not ok:
        raise ValueError(message)
