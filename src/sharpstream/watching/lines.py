"""From bytes as they arrive to whole lines: any pieces go in, lines come out, the same however the pieces were cut.

A line is given again until it is `taken`, so that a checkpoint never claims one that was not learned. A line longer
than the limit comes in pieces, so that memory stays bounded.
"""

from dataclasses import dataclass
from typing import Literal

End = Literal["newline", "cut", "unfinished"]


@dataclass(frozen=True)
class Line:
    """A line, or a piece of one that is too long."""

    source: str
    number: int  # of the line in its source, from 1
    data: bytes  # without its newline
    end: End
    quiet: bool = False  # reported before a crash: learn it, say nothing
    again: bool = False  # perhaps reported before a crash

    @property
    def size(self) -> int:
        """Bytes it takes in its source."""
        return len(self.data) + (self.end == "newline")


class LineBuffer:
    """What has arrived from one source and is not learned yet.

    >>> buffer = LineBuffer("app.log", limit=100)
    >>> buffer.add(b"one\\ntw")
    >>> buffer.next().data, buffer.take(buffer.next()), buffer.next(), buffer.rest().data
    (b'one', None, None, b'tw')
    """

    def __init__(self, source: str, limit: int, *, number: int = 1) -> None:
        self.source, self.limit, self.number = source, limit, number
        self._bytes = bytearray()
        self._start = 0  # of what is not taken
        self._searched = 0  # no newline before here

    def __len__(self) -> int:
        return len(self._bytes) - self._start

    def add(self, piece: bytes) -> None:
        """More has arrived."""
        if self._start:
            del self._bytes[: self._start]
            self._searched, self._start = max(0, self._searched - self._start), 0
        self._bytes += piece

    def next(self) -> Line | None:
        """The next whole line, or a piece of the limit; None until there is one."""
        newline = self._bytes.find(b"\n", max(self._start, self._searched), self._start + self.limit + 1)
        if newline >= 0:
            return self._line(newline, "newline")
        self._searched = min(len(self._bytes), self._start + self.limit + 1)
        return self._line(self._cut(), "cut") if len(self) > self.limit else None

    def rest(self) -> Line | None:
        """A line that nothing will complete any more."""
        return self._line(len(self._bytes), "unfinished") if len(self) else None

    def take(self, line: Line) -> None:
        """This line is learned."""
        self._start += line.size
        self._searched = self._start
        self.number += line.end != "cut"

    def pending(self) -> bytes:
        """What was given and not taken."""
        return bytes(self._bytes[self._start :])

    def _line(self, end: int, how: End) -> Line:
        return Line(self.source, self.number, bytes(self._bytes[self._start : end]), how)

    def _cut(self) -> int:
        """Where to cut a line that is too long: not inside a UTF-8 character."""
        end = self._start + self.limit
        for back in range(min(4, self.limit)):
            if self._bytes[end - back] & 0xC0 != 0x80:  # not a continuation byte: a character begins here
                return end - back
        return end


def visible(text: str) -> str:
    """Text that any JSON reader takes: bytes that were not UTF-8 as \\xNN."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
