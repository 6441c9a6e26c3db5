"""What a stream is: tokens that arrive in order, counted from 0, with a name and a vocabulary.

Every source of tokens (synthetic, corpus, file, stdin) is a `Stream`; the loop only calls `take` and `seek`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError

Tokens = npt.NDArray[np.int32]


def check_tokens(
    tokens: npt.NDArray[np.integer[Any]], vocabulary: int, *, first: int = 0, of: str = ""
) -> npt.NDArray[np.int32]:
    """The tokens as int32, or an error that names the first one outside the vocabulary and its position.

    Streams check what they give out and learners what they take in: compiled loops index their tables unchecked.
    """
    array, source = np.asarray(tokens), f"{of}: " if of else ""
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise StreamError(
            f"{source}tokens must be a one-dimensional array of integers, not {array.dtype} of shape {array.shape}"
        )
    if array.size and not (array.min() >= 0 and array.max() < vocabulary):
        where = int(np.argmax((array < 0) | (array >= vocabulary)))
        raise StreamError(
            f"{source}tokens[{first + where}] = {int(array[where])}, "
            f"but the vocabulary has {vocabulary} symbols (0..{vocabulary - 1})"
        )
    return np.ascontiguousarray(array, dtype=np.int32)


@dataclass(frozen=True)
class Part:
    """A named stretch of a stream: tokens start..end-1, counted as positions are."""

    name: str
    start: int
    end: int


class Stream(ABC):
    """An ordered source of tokens 0..vocabulary-1; endless when `length` is None."""

    name: str
    symbols: tuple[str, ...]  # how each token is shown to a person
    length: int | None
    position: int = 0  # how many tokens have been taken
    live: bool = False  # `take` may wait for tokens that nobody has sent yet, and none can be read twice
    parts: tuple["Part", ...] = ()  # its named parts, such as books, in order
    characters: npt.NDArray[np.int64] | None = None  # (V,): of text in each symbol; None: each token is one

    @property
    def vocabulary(self) -> int:
        """How many distinct tokens there are."""
        return len(self.symbols)

    def vectors(self) -> npt.NDArray[Any] | None:
        """Frozen vectors of its symbols, (V, D), for learners that read such; None where there are none."""
        return None

    @abstractmethod
    def take(self, count: int) -> Tokens:
        """The next `count` tokens; fewer only at the end of the stream, and none after it."""

    @abstractmethod
    def seek(self, position: int) -> None:
        """Continue from `position`, by index or by replay; a live stream can only refuse."""

    @abstractmethod
    def identity(self) -> Mapping[str, str | int]:
        """What makes this the same stream again: its name, and its seed or its sha256. Goes into checkpoints."""
