"""Where the rest of a log file went: renamed, copied and truncated, or gone.

A `Place` names the file by device and inode and by a hash of the bytes before the offset. Inodes are used again and
contents are copied, so a file fits only if the hash does; the inode decides between several that do.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpstream.config_checks import require
from sharpstream.config_files import from_dict
from sharpstream.watching.reported import Mark

FINGERPRINT = 256  # bytes before the offset
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip")


@dataclass(frozen=True, kw_only=True)
class Place:
    """How far a followed file was learned."""

    device: int
    inode: int
    offset: int
    before: str  # hash of the bytes before the offset
    number: int  # of the next line

    def __post_init__(self) -> None:
        require(self.offset >= 0, self, "offset", "an integer ≥ 0")
        require(self.number >= 1, self, "number", "an integer ≥ 1")

    @staticmethod
    def of(values: Mapping[str, Any]) -> "Place":
        return from_dict(Place, values)

    @staticmethod
    def hash_of(before: bytes) -> str:
        return hashlib.sha256(before).hexdigest()


def fingerprint(descriptor: int, offset: int) -> str:
    """The hash of the bytes before an offset."""
    start = max(0, offset - FINGERPRINT)
    return Place.hash_of(os.pread(descriptor, offset - start, start))


def rest_of(path: Path, place: Place, *, mark: Mark | None = None, but: int = -1) -> Path | None:
    """The file that goes on where `place` is: by its inode if the bytes fit, else a copy of it beside `path`.

    With a mark, it must fit too. The inode `but` is no candidate. Where nothing was read only the inode can tell.
    """
    beside = [path, *_rotated(path)]
    by_inode = [candidate for candidate in beside if identity_of(candidate) == (place.device, place.inode)]
    copies = beside[1:] if place.offset or mark else []
    for candidate in [*by_inode, *copies]:
        if _fits(candidate, place, mark, but):
            return candidate
    return None


def newer_than(path: Path, descriptor: int) -> Path:
    """What comes after the open file among those rotated from `path`, oldest first; else `path` itself."""
    held, rotated = os.fstat(descriptor), _rotated(path)
    mine = [i for i, other in enumerate(rotated) if identity_of(other) == (held.st_dev, held.st_ino)]
    later = rotated[mine[0] + 1 :] if mine else []
    current = identity_of(path)
    return next((other for other in later if identity_of(other) != current), path)


def _rotated(path: Path) -> list[Path]:
    """Files that rotation made of `path` (app.log.1, app.log-20310304), oldest first, without compressed ones."""
    try:
        entries = [Path(entry.path) for entry in os.scandir(path.parent) if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    found = [entry for entry in entries if is_rotated(entry, path) and entry.suffix not in COMPRESSED]
    return sorted(found, key=lambda entry: _age(path, entry), reverse=True)


def is_rotated(entry: Path, path: Path) -> bool:
    """Whether rotation may have made `entry` of `path`.

    >>> is_rotated(Path("/log/app.log.1"), Path("/log/app.log")), is_rotated(Path("/log/b.log"), Path("/log/app.log"))
    (True, False)
    """
    same = entry.parent == path.parent and entry.name.startswith(path.name)
    return same and entry.name[len(path.name) :][:1] in (".", "-")


def _age(path: Path, entry: Path) -> tuple[int, str]:
    """A key that is larger for older files: app.log.2 is older than app.log.1; others go by when they were written."""
    number = entry.name[len(path.name) + 1 :]
    if number.isdecimal() and len(number) < 4:
        return int(number), entry.name
    try:
        return -entry.stat().st_mtime_ns, entry.name
    except OSError:
        return 0, entry.name


def identity_of(path: Path) -> tuple[int, int] | None:
    """Device and inode of what has this name now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _fits(path: Path, place: Place, mark: Mark | None, but: int) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        held = os.fstat(descriptor)
        if held.st_ino == but or held.st_size < place.offset:
            return False
        if mark is not None and not mark.fits(descriptor, place.offset):
            return False
        return fingerprint(descriptor, place.offset) == place.before
    finally:
        os.close(descriptor)
