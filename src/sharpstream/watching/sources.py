"""Where lines come from: standard input here, files that grow in `follow.py` and `files.py`. Never more is read than is
there.

The watch loop asks a `Source` for a line, learns it, and says so with `taken`; only then does a place move on.
"""

import os
import select
import stat
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from sharpstream.errors import StreamError
from sharpstream.watching.lines import Line, LineBuffer

PIECE = 16_384  # bytes
STANDARD_INPUT = "-"
Say = Callable[[str], None]
Places = Mapping[str, Mapping[str, Any]]  # by source: where to go on, as plain values


class Source(Protocol):
    """Lines that arrive."""

    ended: bool  # nothing more will come
    turned: bool  # a file appeared, was rotated or cut: save before going on

    def next(self, timeout: float) -> Line | None:
        """The next line; None when none was completed in `timeout` seconds, or at the end."""

    def taken(self, line: Line) -> None:
        """This line was learned."""

    def reporting(self, line: Line) -> None:
        """A row of this line is about to be written."""

    def places(self) -> Places:
        """Where to go on after a restart, and what was known of other sources."""

    def saved(self) -> None:
        """The places are in a checkpoint."""

    def lag(self) -> int:
        """Bytes that are there and not learned yet."""

    def close(self) -> None:
        """No more will be read."""


class StandardInput:
    """Descriptor 0: it goes on with whatever is given next, after what was pending at the last stop."""

    turned = False

    def __init__(self, limit: int, places: Places | None = None, descriptor: int = 0) -> None:
        check_standard_input(descriptor)
        self.descriptor, self._places = descriptor, dict(places or {})
        place = self._places.get(STANDARD_INPUT)
        self.ended = self._empty = False
        self._buffer = LineBuffer(STANDARD_INPUT, limit, number=max(1, int(place["number"])) if place else 1)
        if place:
            self._buffer.add(bytes.fromhex(place["pending"]))

    def next(self, timeout: float) -> Line | None:
        line = self._buffer.next()
        if line is None and not self._empty:
            self._receive(timeout)
            line = self._buffer.next()
        if line is None and self._empty:
            line = self._buffer.rest()
            self.ended = line is None
        return line

    def _receive(self, timeout: float) -> None:
        try:
            if select.select([self.descriptor], [], [], timeout)[0]:
                piece = os.read(self.descriptor, PIECE)
                self._buffer.add(piece)
                self._empty = not piece
        except BlockingIOError:  # somebody else emptied a shared pipe
            return
        except OSError as problem:
            raise StreamError(f"cannot read from standard input: {problem.strerror or problem}") from problem

    def taken(self, line: Line) -> None:
        self._buffer.take(line)

    def places(self) -> Places:
        here = {"number": self._buffer.number, "pending": self._buffer.pending().hex()}
        return {**self._places, STANDARD_INPUT: here}

    def reporting(self, line: Line) -> None:
        pass

    def saved(self) -> None:
        pass

    def lag(self) -> int:
        return len(self._buffer)

    def close(self) -> None:
        pass


def check_standard_input(descriptor: int = 0) -> None:
    """Refuse a standard input that nothing can come from."""
    if descriptor == 0 and sys.stdin is None:
        raise StreamError(
            "standard input is closed; give a FILE to follow, or something to read: app | sharp watch DIR"
        )
    try:
        directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    except OSError as problem:
        raise StreamError(f"cannot read from standard input: {problem.strerror}") from problem
    if directory:
        raise StreamError("standard input is a directory; give a file")
