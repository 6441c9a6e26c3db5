"""Files that are there whole or not at all: written under a temporary name, fsynced, renamed.

In comes a path and its content; result rows, tables and figures are written through this.
"""

import os
import tempfile
from pathlib import Path

from sharpstream.errors import RunError


def write_whole(path: Path, content: bytes | str) -> None:
    """Replace `path` by `content` (text as UTF-8), or leave it as it was."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as problem:
        raise RunError(f"cannot write {path}: {problem.strerror}") from problem
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp keeps its file to the owner
        os.replace(name, path)
    except OSError as problem:
        Path(name).unlink(missing_ok=True)
        raise RunError(f"cannot write {path}: {problem.strerror}") from problem
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
