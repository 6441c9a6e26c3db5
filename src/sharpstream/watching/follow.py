"""A growing file, followed by name: waits for it, reopens it when it was rotated, starts again when it was cut short.

The place in it (inode, offset, a fingerprint of the bytes before) goes into the checkpoint; a file that was rotated
while nobody watched is looked for beside the new one, so that its rest is learned first.
"""

import hashlib
import os
import stat
import time
from pathlib import Path

from sharpstream.errors import StreamError
from sharpstream.watching.sources import PIECE, Place, Say

POLL = 0.02  # seconds between looks: a line is noticed well within 50 ms
FINGERPRINT = 256  # bytes before the offset; inodes are used again, contents hardly


class FollowedFile:
    """One log file by its path, whatever rotation does to it."""

    def __init__(self, path: Path, say: Say, *, place: Place | None, at_end: bool = False) -> None:
        self.path, self.say = path, say
        self.broken = False
        self._descriptor, self._offset, self._waiting = -1, 0, False
        check_followable(path)
        if place is not None and place.path == str(path):
            self._continue(place)
        elif at_end and path.exists():
            self._open(path, path.stat().st_size)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def read(self, timeout: float) -> bytes | None:
        """What was added; waits for it up to `timeout` seconds. A followed file has no end."""
        until = time.monotonic() + timeout
        while True:
            piece = self._look()
            left = until - time.monotonic()
            if piece or left <= 0:
                return piece
            time.sleep(min(POLL, left))

    def _look(self) -> bytes:
        if self._descriptor < 0 and not self._appeared():
            return b""
        if piece := self._read():
            return piece
        if os.fstat(self._descriptor).st_size < self._offset:
            self._begin_again(f"{self.path} was truncated; reading it from its start")
        elif self._rotated():
            if piece := self._read():  # written between our last look and the rotation
                return piece
            self.close()
            self._open(self.path, 0)
            self._begin_again(f"{self.path} was rotated; reading the new one")
        return self._read()

    def _read(self) -> bytes:
        if self._descriptor < 0:
            return b""
        try:
            return os.pread(self._descriptor, PIECE, self._offset)
        except OSError as problem:
            raise StreamError(f"cannot read {self.path}: {problem.strerror}") from problem

    def _appeared(self) -> bool:
        check_followable(self.path)
        if self._open(self.path, 0):
            return True
        if not self._waiting:
            self._waiting = True
            self.say(f"{self.path} does not exist yet; waiting for it")
        return False

    def _rotated(self) -> bool:
        """Whether another file has the name and something in it: until then the writer may still use the old one."""
        try:
            named = self.path.stat()
        except OSError:
            return False
        held = os.fstat(self._descriptor)
        return (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino) and named.st_size > 0

    def _begin_again(self, why: str) -> None:
        self._offset, self.broken = 0, True
        self.say(why)

    # ---- the place in it -------------------------------------------------------------------------------------------

    def taken(self, count: int) -> None:
        self._offset += count

    def place(self) -> Place | None:
        if self._descriptor < 0:
            return None
        inode, before = os.fstat(self._descriptor).st_ino, _fingerprint(self._descriptor, self._offset)
        return Place(path=str(self.path), inode=inode, offset=self._offset, before=before)

    def _continue(self, place: Place) -> None:
        """Open what was being read, under whatever name it has now."""
        for candidate in _same_inode(self.path, place.inode):
            if self._open(candidate, place.offset) and self._fits(place):
                if candidate != self.path:
                    self.say(f"{self.path} was rotated meanwhile; first the rest of {candidate}")
                return
            self.close()
        self._offset, self.broken = 0, True
        if self.path.exists():
            self.say(f"{self.path} is no longer the file that was followed; reading it from its start")

    def _fits(self, place: Place) -> bool:
        long_enough = os.fstat(self._descriptor).st_size >= self._offset
        return long_enough and _fingerprint(self._descriptor, self._offset) == place.before

    def _open(self, path: Path, offset: int) -> bool:
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise StreamError(f"cannot read {path}: {problem.strerror}") from problem
        self._offset, self._waiting = offset, False
        return True

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def check_followable(path: Path) -> None:
    """Refuse what is not a readable regular file; one that does not exist yet is waited for."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as problem:
        raise StreamError(f"cannot read {path}: {problem.strerror}") from problem
    if not stat.S_ISREG(mode):
        raise StreamError(f"{path} is not a regular file; to read it once: sharp watch DIR < {path}")
    if not os.access(path, os.R_OK):
        raise StreamError(f"cannot read {path}: permission denied")


def _same_inode(path: Path, inode: int) -> list[Path]:
    """The files beside `path` that have this inode, `path` itself first; a link is where rotation cannot be seen."""
    try:
        here = [path] if path.stat().st_ino == inode else []
        beside = [Path(entry.path) for entry in os.scandir(path.parent) if entry.inode() == inode and entry.is_file()]
    except OSError:
        return []
    return here + [candidate for candidate in beside if candidate != path]


def _fingerprint(descriptor: int, offset: int) -> str:
    start = max(0, offset - FINGERPRINT)
    return hashlib.sha256(os.pread(descriptor, offset - start, start)).hexdigest()
