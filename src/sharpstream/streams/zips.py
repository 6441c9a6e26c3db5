"""Reading members of a zip archive that somebody else made: by exact name, within a size, never extracted to a path.

Since nothing is written under a member's name, a name cannot lead outside; since the size is checked first and
zipfile never gives more than the declared size, a small archive cannot fill the memory or the disk.
"""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sharpstream.errors import DataError

CHUNK = 1 << 20
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, or a DataError that says why it cannot be read."""
    with _as_data_error(path):
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


@contextmanager
def _as_data_error(path: Path | str | None) -> Iterator[None]:
    """Every way an archive can be broken, in one line."""
    try:
        yield
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem
    except _DAMAGE as problem:
        raise DataError(f"{path} is not a sound zip archive: {problem}") from problem


def member(archive: zipfile.ZipFile, name: str, bound: int) -> zipfile.ZipInfo:
    """The member of that exact name, refused if it is missing or declares more than `bound` bytes."""
    try:
        info = archive.getinfo(name)
    except KeyError as problem:
        raise DataError(f"{archive.filename} has no member named {name!r}") from problem
    if info.file_size > bound:
        raise DataError(
            f"{name!r} in {archive.filename} unpacks to {info.file_size:,} bytes; at most {bound:,} were expected"
        )
    return info


def chunks(archive: zipfile.ZipFile, name: str, bound: int) -> Iterator[bytes]:
    """A member's bytes in pieces; its CRC is checked at the end."""
    info = member(archive, name, bound)
    with _as_data_error(archive.filename):
        file = archive.open(info)
    with file:
        while True:
            with _as_data_error(archive.filename):
                chunk = file.read(CHUNK)
            if not chunk:
                return
            yield chunk
