"""From bytes as they arrive to tokens by line: UTF-8 across borders, the policy for unknown symbols, very long lines.

Pieces of any size come in, `Part`s go out; where the pieces were cut makes no difference to what is learned. All that
is remembered is the beginning of a character (3 bytes at most) and how long the present line is.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sharpstream.errors import StreamError
from sharpstream.streams.text import Alphabet, Encoder, TokenBytes

Policy = Literal["map", "skip", "stop"]
End = Literal["", "newline", "cut"]
# Bytes that are not UTF-8 are carried as the code points U+DC80..U+DCFF, which no valid text can hold.
UNKNOWN = {"bytes": re.compile("[\udc80-\udcff]"), "letters": re.compile(r"[^A-Za-z \t\r\n\v\f]")}
WHOLE_OR_BEGUN = re.compile("[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Part:
    """A line, or the part of one that has arrived."""

    number: int  # of the line, from 1
    tokens: TokenBytes
    text: str
    end: End  # how the line ends here, if it does


class Lines:
    """Turns bytes into parts of lines.

    >>> lines = Lines("letters", "map", limit=100)
    >>> [(part.number, part.tokens.tolist(), part.text, part.end) for part in lines.feed(b"a b\\nc")]
    [(1, [1, 0, 2, 0], 'a b', 'newline'), (2, [3], 'c', '')]
    """

    def __init__(self, alphabet: Alphabet, policy: Policy, limit: int) -> None:
        self.alphabet, self.policy, self.limit = alphabet, policy, limit
        self.number = 1  # of the present line
        self.unknown = 0  # symbols so far
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._encoder = Encoder(alphabet)
        self._after_space = False
        self._length = 0  # characters of the present line that were given out

    def feed(self, piece: bytes, *, last: bool = False) -> Iterator[Part]:
        """The parts this piece adds; `last` when nothing can complete an unfinished character any more."""
        before = self._decoder.getstate()
        text = self._decoder.decode(piece, last)
        if self.policy == "stop" and (found := UNKNOWN[self.alphabet].search(text)):
            self._decoder.setstate(before)  # as if the piece had never come: what is saved now can be continued
            line = self.number + text.count("\n", 0, found.start())
            raise StreamError(f"line {line:,} has the unknown symbol {visible(found[0])!r}, and --unknown is stop")
        return (part for line in WHOLE_OR_BEGUN.findall(text) for part in self._line(line))

    def _line(self, line: str) -> Iterator[Part]:
        """One line or its continuation, cut where it passes the limit (a newline does not count)."""
        ends = line.endswith("\n")
        text = line[:-1] if ends else line
        while self._length + len(text) > self.limit:
            room = max(0, self.limit - self._length)  # a restart may have lowered the limit
            yield self._part(text[:room], text[:room], "cut")
            text = text[room:]
        yield self._part(text + "\n" if ends else text, text, "newline" if ends else "")

    def _part(self, symbols: str, text: str, end: End) -> Part:
        part = Part(self.number, self._tokens(symbols), text, end)
        self._length = 0 if end else self._length + len(text)
        self.number += end == "newline"
        return part

    def end_line(self) -> None:
        """The line that was begun will not be continued."""
        self._length = 0
        self.number += 1

    def _tokens(self, symbols: str) -> TokenBytes:
        if not (self.alphabet == "bytes" and symbols.isascii()):
            known, count = UNKNOWN[self.alphabet].subn("", symbols)
            self.unknown += count
            symbols = known if self.policy == "skip" else symbols
        tokens = self._encoder.encode(symbols.encode("utf-8", "surrogateescape"))
        if tokens.size:
            self._after_space = bool(tokens[-1] == 0)
        return tokens

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        pending, _ = self._decoder.getstate()
        return {
            "number": self.number,
            "pending": pending.hex(),
            "after_space": self._after_space,
            "length": self._length,
            "unknown": self.unknown,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self._decoder.setstate((bytes.fromhex(state["pending"])[:3], 0))
        self._after_space = bool(state["after_space"])
        self._encoder = Encoder(self.alphabet, after_space=self._after_space)
        self._length, self.number = max(0, int(state["length"])), max(1, int(state["number"]))
        self.unknown = int(state["unknown"])


def visible(text: str) -> str:
    """Text that any JSON reader takes: bytes that were not UTF-8 as \\xNN."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
