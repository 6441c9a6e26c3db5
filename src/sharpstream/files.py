"""Files that are there whole or not at all: written under a temporary name, fsynced, renamed.

Every file that must survive a crash leaves through here: rows, tables, figures, settings, stores of tokens, and the
parts of a checkpoint, which is renamed as a directory.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sharpstream.errors import RunError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write `path` under a temporary name; it appears whole, on disk, or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp keeps its file to the owner
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Replace `path` by `content` (text as UTF-8), or leave it as it was."""
    try:
        with replacing(path) as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as problem:
        raise RunError(f"cannot write {path}: {problem.strerror}") from problem


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and wait until it is on disk: for the parts of a directory that is renamed as a whole."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(directory: Path) -> None:
    """Make the directory's entries durable, so that a rename survives a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
