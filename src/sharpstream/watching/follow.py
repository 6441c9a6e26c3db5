"""A growing file, followed by name: waits for it, reads a rotated one to its end, starts again when it was cut short.

The place in it (device, inode, offset, a hash of the bytes before) goes into the checkpoint. The bytes before are
looked at again whenever there is something new: a file that was cut and has grown must not pass for one that only grew.
`rotated.py` finds where the rest of a file went.
"""

import os
import stat
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sharpstream.errors import StreamError
from sharpstream.watching.lines import Line, LineBuffer
from sharpstream.watching.reported import Mark
from sharpstream.watching.rotated import FINGERPRINT, Place, newer_than, rest_of
from sharpstream.watching.sources import PIECE, Say

SETTLED = 50_000_000  # ns after which a file's time of change tells it from a later change


class FollowedFile:
    """One log file by its path, whatever rotation does to it."""

    def __init__(
        self,
        path: Path,
        say: Say,
        *,
        limit: int,
        place: Mapping[str, Any] | None = None,
        mark: Mark | None = None,
        at_end: bool = False,
    ) -> None:
        self.path, self.say, self.mark = path, say, mark
        self.turned = False  # another file than before, or from its start again
        self._descriptor, self._offset, self._before, self._waiting = -1, 0, b"", False
        self._look = (-1, -1)  # size and time of the last look
        self._buffer = LineBuffer(str(path), limit)
        check_followable(path)
        if place is not None:
            self._continue(Place.of(place))
        elif at_end and path.exists():
            self._open(path, path.stat().st_size)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def poll(self) -> Line | None:
        """The next line if it is there. Of a file that ended here the unfinished rest is the last line."""
        if self._descriptor < 0 and not self._appeared():
            return None
        while not self.turned:
            line = self._buffer.next()
            if line is None and self._as_before():
                return None
            if line is None and not self._receive():
                line = self._leave()
                if line is None and not self.turned:
                    return None
            if line is not None:
                return self._marked(line)
        return None

    def _as_before(self) -> bool:
        """Whether nothing has happened since the last look: cheap, because most looks find nothing."""
        held = os.fstat(self._descriptor)
        look = (held.st_size, held.st_mtime_ns)
        settled = look == self._look and time.time_ns() - held.st_mtime_ns > SETTLED
        self._look = look
        return settled and held.st_size == self._position() and not self._renamed()

    def _position(self) -> int:
        """How far it was read."""
        return self._offset + len(self._buffer)

    def _receive(self) -> bool:
        """Read what was added, if the bytes before it are still those that were read."""
        before, found = self._around(PIECE)
        if found[: len(before)] != before or len(found) == len(before):
            return False
        self._buffer.add(found[len(before) :])
        return True

    def _around(self, more: int) -> tuple[bytes, bytes]:
        """The last bytes that were read, and what stands there now with up to `more` after it."""
        before = (self._before + self._buffer.pending())[-FINGERPRINT:]
        try:
            return before, os.pread(self._descriptor, len(before) + more, self._position() - len(before))
        except OSError as problem:
            raise StreamError(f"cannot read {self.path}: {problem.strerror}") from problem

    def _leave(self) -> Line | None:
        """Turn to what continues a file that is over; its unfinished rest comes first."""
        before, found = self._around(0)
        if found != before:
            read = replace(self._place(), offset=self._position(), before=Place.hash_of(before))
            copy = rest_of(self.path, read, but=read.inode)
            if copy is not None:
                self._turn(copy, self._offset, f"was copied and truncated; first the rest of {copy}")
                return None
            if rest := self._buffer.rest():
                return rest
            self._turn(self.path, 0, "was truncated or written anew; reading it from its start")
        elif self._renamed() and self._filled():
            if rest := self._buffer.rest():
                return rest
            after = newer_than(self.path, self._descriptor)
            self._turn(after, 0, f"was rotated; reading {'the new one' if after == self.path else after}")
        return None

    def _renamed(self) -> bool:
        """Whether another file has the name."""
        try:
            named = self.path.stat()
        except OSError:
            return False
        return (named.st_dev, named.st_ino) != self.identity()

    def _filled(self) -> bool:
        """Whether there is something under the name: until then the writer may still use the old file."""
        try:
            return self.path.stat().st_size > 0
        except OSError:
            return False

    def _turn(self, path: Path, offset: int, why: str) -> None:
        """Leave what is open."""
        self.say(f"{self.path} {why}")
        self.close()
        self._buffer = LineBuffer(str(self.path), self._buffer.limit, number=self._buffer.number)
        self.turned = self._open(path, offset)

    def _appeared(self) -> bool:
        check_followable(self.path)
        if self._open(self.path, 0):
            self.turned = True
            return True
        if not self._waiting:
            self._waiting = True
            self.say(f"{self.path} does not exist yet; waiting for it")
        return False

    def _marked(self, line: Line) -> Line:
        """Lines that were reported before a crash are learned again without a word; the last one may have been."""
        if self.mark is None:
            return line
        end = self._offset + line.size
        if end >= self.mark.offset:
            again, self.mark = end == self.mark.offset, None
            return replace(line, again=again)
        return replace(line, quiet=True)

    # ---- the place in it -------------------------------------------------------------------------------------------

    def taken(self, line: Line) -> None:
        self._buffer.take(line)
        ending = b"\n" if line.end == "newline" else b""
        self._offset += line.size
        self._before = (self._before + line.data + ending)[-FINGERPRINT:]

    def identity(self) -> tuple[int, int] | None:
        """Device and inode of what is open."""
        if self._descriptor < 0:
            return None
        held = os.fstat(self._descriptor)
        return held.st_dev, held.st_ino

    @property
    def offset(self) -> int:
        return self._offset

    def lag(self) -> int:
        """Bytes that are there and not learned."""
        return 0 if self._descriptor < 0 else max(0, os.fstat(self._descriptor).st_size - self._offset)

    def gone(self) -> bool:
        """Whether the name is free and everything that was there is learned."""
        return not self.path.exists() and not self.lag()

    def place(self) -> Mapping[str, Any] | None:
        return None if self._descriptor < 0 else vars(self._place())

    def _place(self) -> Place:
        held = os.fstat(self._descriptor)
        return Place(
            device=held.st_dev,
            inode=held.st_ino,
            offset=self._offset,
            before=Place.hash_of(self._before),
            number=self._buffer.number,
        )

    def _continue(self, place: Place) -> None:
        """Open what was being read, under whatever name it has now."""
        self._buffer.number = place.number
        rest = rest_of(self.path, place, mark=self.mark)
        if rest is None and self.mark is not None:  # nothing has the line that was reported last
            self.mark = None
            rest = rest_of(self.path, place)
        if rest is not None and self._open(rest, place.offset):
            if rest != self.path:
                self.turned = True
                self.say(f"{self.path} was rotated meanwhile; first the rest of {rest}")
            return
        if self.path.exists():
            self.say(f"{self.path} is no longer the file that was followed; reading it from its start")

    def _open(self, path: Path, offset: int) -> bool:
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise StreamError(f"cannot read {path}: {problem.strerror}") from problem
        start = max(0, offset - FINGERPRINT)
        self._offset, self._waiting = offset, False
        self._before = os.pread(self._descriptor, offset - start, start)
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
