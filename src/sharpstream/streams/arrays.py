"""A stream over tokens that are already in an array, in memory or mapped from a file, and the slicing rule all share.

Positions count from the slice's own start: position 0 of `text8` with start 10,000,000 is character 10,000,000.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError
from sharpstream.streams.base import Stream, Tokens, check_tokens


def slice_bounds(name: str, length: int | None, start: int, end: int | None) -> tuple[int, int | None]:
    """The slice's start and length, refused where they leave a stream of `length` tokens (None: endless)."""
    stop = length if end is None else end
    if start < 0 or (stop is not None and stop <= start):
        shown = "its end" if stop is None else f"{stop:,}"
        raise StreamError(f"{name}: the slice from {start:,} to {shown} holds no tokens; start must lie below end")
    if length is not None and stop is not None and stop > length:
        raise StreamError(f"{name} has {length:,} tokens, so it cannot be read up to end = {stop:,}")
    return start, None if stop is None else stop - start


def check_position(stream: Stream, position: int) -> None:
    """Refuse to seek outside the stream."""
    if position < 0 or (stream.length is not None and position > stream.length):
        end = "on" if stream.length is None else f"to {stream.length:,}"
        raise StreamError(f"{stream.name}: cannot seek to {position:,}; its positions run from 0 {end}")


class ArrayStream(Stream):
    """Tokens start..end of an array; seeking is free.

    >>> stream = ArrayStream(np.array([0, 1, 2, 1], np.uint8), name="abc", symbols=("a", "b", "c"), sha256="", start=1)
    >>> stream.take(2).tolist(), stream.take(9).tolist()
    ([1, 2], [1])
    """

    def __init__(
        self,
        tokens: npt.NDArray[np.integer],
        *,
        name: str,
        symbols: tuple[str, ...],
        sha256: str,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self.name = name
        self.symbols = symbols
        self.start, self.length = slice_bounds(name, len(tokens), start, end)
        self._tokens = tokens
        self._sha256 = sha256
        self._size = len(tokens) - self.start if self.length is None else self.length

    def take(self, count: int) -> Tokens:
        """The next tokens, each checked: compiled learners index their tables with them unchecked."""
        count = max(0, min(count, self._size - self.position))
        first = self.start + self.position
        tokens = np.array(self._tokens[first : first + count], dtype=np.int32)
        check_tokens(tokens, self.vocabulary, first=first, of=self.name)
        self.position += count
        return tokens

    def seek(self, position: int) -> None:
        """Continue from `position`, counted from the slice's start."""
        check_position(self, position)
        self.position = position

    def identity(self) -> Mapping[str, str | int]:
        """The end is left out on purpose: reading further does not change the tokens already read."""
        return {"name": self.name, "sha256": self._sha256, "start": self.start}
