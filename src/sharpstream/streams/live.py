"""Tokens that arrive while we watch: standard input, a pipe, or any Python iterable; never more is read than is there.

Nothing can be read twice, so `seek` refuses all but the current position. Bytes that are not UTF-8 count as spaces: a
stream that never ends must not stop at one bad line.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError
from sharpstream.streams.arrays import slice_bounds
from sharpstream.streams.base import Stream, Tokens, check_tokens
from sharpstream.streams.text import Alphabet, Encoder, symbols_of

Piece = npt.NDArray[np.integer[Any]]
READ_SIZE = 1 << 16
_NOTHING: Tokens = np.empty(0, np.int32)


class LiveStream(Stream):
    """Pieces of tokens in the order they arrive; built by `from_descriptor`, `from_text` or `from_tokens`."""

    live = True

    def __init__(
        self,
        pieces: Iterator[Piece],
        *,
        name: str,
        symbols: tuple[str, ...],
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self.name = name
        self.symbols = symbols
        self.start, self._limit = slice_bounds(name, None, start, end)
        self.length = None  # even with an end: the source may stop before it
        self.ended = False  # the source said it has no more
        self._pieces = pieces
        self._waiting: list[Tokens] = []  # arrived, not yet taken
        self._arrived = 0  # tokens in there
        self._to_skip = self.start

    def take(self, count: int) -> Tokens:
        """The next `count` tokens, waiting for them; fewer only when the source ends."""
        self._skip()
        wanted = self._allowed(count)
        while self._arrived < wanted and self._receive():
            pass
        return self._given(wanted)

    def seek(self, position: int) -> None:
        """Stay where we are; there is no going back in a live stream."""
        if position != self.position:
            raise StreamError(
                f"{self.name} is a live stream at position {self.position:,}: it cannot go to {position:,}; "
                "save it to a file and give the file's path"
            )

    def identity(self) -> Mapping[str, str | int]:
        """A live stream is known by its name and vocabulary alone."""
        return {"name": self.name, "vocabulary": self.vocabulary}

    def _allowed(self, count: int) -> int:
        left = count if self._limit is None else min(count, self._limit - self.position)
        return max(0, left)

    def _given(self, count: int) -> Tokens:
        tokens = self._release(count)
        self.position += len(tokens)
        return tokens

    def _skip(self) -> None:
        while self._to_skip and (self._arrived or self._receive()):
            self._to_skip -= len(self._release(self._to_skip))

    def _release(self, count: int) -> Tokens:
        """Up to `count` of the waiting tokens; until here an interrupted `take` has lost nothing."""
        joined = self._waiting[0] if len(self._waiting) == 1 else np.concatenate([_NOTHING, *self._waiting])
        self._waiting = [joined[count:]] if len(joined) > count else []
        self._arrived = max(0, len(joined) - count)
        return joined[:count].copy()

    def _receive(self) -> bool:
        """Wait for one more piece, which may be empty; False when the source has ended."""
        piece = None if self.ended else next(self._pieces, None)
        if piece is None:
            self.ended = True
        elif len(piece):
            self._waiting.append(np.array(piece, dtype=np.int32))
            self._arrived += len(piece)
        return not self.ended


def from_descriptor(
    descriptor: int, alphabet: Alphabet = "letters", *, name: str = "-", start: int = 0, end: int | None = None
) -> LiveStream:
    """Text from an open file descriptor: 0 is standard input."""
    # Built-in iterators, unlike a generator, go on after an interruption.
    pieces = map(Encoder(alphabet).encode, iter(lambda: _read(descriptor, name), b""))
    return LiveStream(pieces, name=name, symbols=symbols_of(alphabet), start=start, end=end)


def _read(descriptor: int, name: str) -> bytes:
    try:
        return os.read(descriptor, READ_SIZE)
    except OSError as problem:
        raise StreamError(f"cannot read from {name}: {problem.strerror or problem}") from problem


def from_text(parts: Iterable[str | bytes], alphabet: Alphabet = "letters", *, name: str = "iterable") -> LiveStream:
    """Text from any iterable of strings or bytes.

    >>> from_text(["Hello, ", "world"]).take(8).tolist()
    [8, 5, 12, 12, 15, 0, 23, 15]
    """
    encoder = Encoder(alphabet)

    def encode(part: str | bytes) -> Piece:
        return encoder.encode(part.encode("utf-8", "replace") if isinstance(part, str) else part)

    return LiveStream(map(encode, parts), name=name, symbols=symbols_of(alphabet))


def from_tokens(tokens: Iterable[int], symbols: tuple[str, ...], *, name: str = "iterable") -> LiveStream:
    """Tokens from any iterable of integers below the number of symbols."""

    def pieces() -> Iterator[Piece]:
        for index, token in enumerate(tokens):
            yield check_tokens(np.array([token]), len(symbols), first=index)

    return LiveStream(pieces(), name=name, symbols=symbols)
