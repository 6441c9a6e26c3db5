"""Where the bytes come from: standard input, or (in `follow.py`) a file that grows. Never more is read than is there.

The watch loop asks a `Source` for a piece, learns from it, and says so with `taken`; only then does a place move on, so
that a checkpoint never claims bytes that were not learned.
"""

import os
import select
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sharpstream.config import require
from sharpstream.errors import StreamError

PIECE = 1024  # bytes; small, because a stop waits until what was read is learned
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Place:
    """How far a followed file was learned."""

    path: str
    inode: int
    offset: int
    before: str  # fingerprint of the bytes before the offset

    def __post_init__(self) -> None:
        require(self.offset >= 0, self, "offset", "an integer ≥ 0")


class Source(Protocol):
    """Bytes that arrive."""

    broken: bool  # the next piece does not continue the line before: rotated or cut short

    def read(self, timeout: float) -> bytes | None:
        """What is there, at most PIECE bytes; b"" when nothing came in `timeout` seconds, None at the end."""

    def taken(self, count: int) -> None:
        """So many bytes were learned."""

    def place(self) -> Place | None:
        """Where to go on after a restart; None when there is no going back."""

    def close(self) -> None:
        """No more will be read."""


class StandardInput:
    """Descriptor 0: it goes on with whatever is given next."""

    broken = False

    def __init__(self, descriptor: int = 0) -> None:
        if descriptor == 0 and sys.stdin is None:
            raise StreamError(
                "standard input is closed; give a FILE to follow, or something to read: app | sharp watch DIR"
            )
        self.descriptor = descriptor
        try:
            directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        except OSError as problem:
            raise StreamError(f"cannot read from standard input: {problem.strerror}") from problem
        if directory:
            raise StreamError("standard input is a directory; give a file")

    def read(self, timeout: float) -> bytes | None:
        try:
            if not select.select([self.descriptor], [], [], timeout)[0]:
                return b""
            return os.read(self.descriptor, PIECE) or None
        except BlockingIOError:  # somebody else emptied a shared pipe
            return b""
        except OSError as problem:
            raise StreamError(f"cannot read from standard input: {problem.strerror or problem}") from problem

    def taken(self, count: int) -> None:
        pass

    def place(self) -> None:
        return None

    def close(self) -> None:
        pass
