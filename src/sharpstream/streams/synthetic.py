"""Endless streams with known answers: linear, random and nonlinear(K), the simulations of the paper.

A seed in, tokens A..G out. Random numbers come from a counter (Philox), one block of tokens at a time, so that any
position is reached at once and the tokens never depend on how they are asked for.
"""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError
from sharpstream.streams.arrays import check_position, slice_bounds
from sharpstream.streams.base import Stream, Tokens

SYMBOLS = tuple("ABCDEFG")
HUB = 6  # G
VISIT = 4  # tokens: three of a community, then the hub
VISITS_PER_BLOCK = 16_384
BLOCK = VISIT * VISITS_PER_BLOCK  # tokens

BEST_ERROR = 1 - (3 + 1 / 6) / 4  # only the token after the hub is a guess, one in six
NO_CONTEXT_ERROR = 1 / 3  # the direction is a guess too: 5/6 + 1/2 errors in every four tokens

Bytes = npt.NDArray[np.uint8]


def uniform_block(seed: int, salt: int, block: int, count: int, sides: int) -> Bytes:
    """`count` fair draws from 0..sides-1 for one block.

    Raw Philox output is fixed for good, NumPy's bounded draws are not; the bias of the product is below 2⁻²⁹.
    """
    key = np.array([seed, salt], dtype=np.uint64)
    raw = np.random.Philox(key=key, counter=np.array([0, 0, 0, block], dtype=np.uint64)).random_raw(count)
    return ((raw >> np.uint64(32)) * np.uint64(sides) >> np.uint64(32)).astype(np.uint8)


class SyntheticStream(Stream):
    """Tokens made block by block; a start skips tokens, an end makes the stream finite."""

    symbols = SYMBOLS

    def __init__(self, *, seed: int = 0, start: int = 0, end: int | None = None) -> None:
        if not 0 <= seed < 2**64:
            raise StreamError(f"{self.name}: seed = {seed}; it must be an integer in 0..2^64-1")
        self.seed = seed
        self.start, self.length = slice_bounds(self.name, None, start, end)
        self._cached_index = -1
        self._cached: Tokens = np.empty(0, np.int32)

    @abstractmethod
    def _block(self, index: int) -> Bytes:
        """Tokens index·BLOCK .. (index+1)·BLOCK − 1 of the whole stream."""

    def take(self, count: int) -> Tokens:
        """The next `count` tokens, put together from blocks."""
        if self.length is not None:
            count = min(count, self.length - self.position)
        tokens = np.empty(max(0, count), np.int32)
        filled = 0
        while filled < len(tokens):
            index, offset = divmod(self.start + self.position + filled, BLOCK)
            if index != self._cached_index:
                self._cached, self._cached_index = self._block(index).astype(np.int32), index
            piece = self._cached[offset : offset + len(tokens) - filled]
            tokens[filled : filled + len(piece)] = piece
            filled += len(piece)
        self.position += filled
        return tokens

    def seek(self, position: int) -> None:
        """Continue from any position at the cost of one block."""
        check_position(self, position)
        self.position = position

    def identity(self) -> Mapping[str, str | int]:
        """The name, the seed and where the slice starts."""
        return {"name": self.name, "seed": self.seed, "start": self.start}


class Linear(SyntheticStream):
    """A B C D E F G, repeated.

    >>> "".join(Linear().symbols[token] for token in Linear(start=5).take(4))
    'FGAB'
    """

    name = "linear"

    def _block(self, index: int) -> Bytes:
        return ((index * BLOCK % 7 + np.arange(BLOCK)) % 7).astype(np.uint8)


class Random(SyntheticStream):
    """Independent, uniform over the seven tokens."""

    name = "random"

    def _block(self, index: int) -> Bytes:
        return uniform_block(self.seed, 1, index, BLOCK, 7)


class Nonlinear(SyntheticStream):
    """Two rings {A,B,C}, {D,E,F} entered anywhere from the hub G; past visits decide which way round.

    Visit v is its entry token, the other two of that community, then G. It runs clockwise when the communities (0 or 1)
    of the K visits before it add up to an even number, and in the first K visits.
    """

    name = "nonlinear"

    def __init__(self, k: int = 2, *, seed: int = 0, start: int = 0, end: int | None = None) -> None:
        if not 1 <= k <= VISITS_PER_BLOCK:
            raise StreamError(f"nonlinear: k = {k}; it must be an integer in 1..{VISITS_PER_BLOCK}")
        super().__init__(seed=seed, start=start, end=end)
        self.k = k

    def _entries(self, index: int) -> Bytes:
        """The entry token (0..5) of each visit of a block."""
        return uniform_block(self.seed, 2, index, VISITS_PER_BLOCK, 6)

    def _block(self, index: int) -> Bytes:
        entries = self._entries(index)
        if index == 0:
            step = directions(entries // 3, self.k)
        else:
            before = self._entries(index - 1)[-self.k :]
            step = directions(np.concatenate([before, entries]) // 3, self.k)[self.k :]
        tokens = np.full((VISITS_PER_BLOCK, VISIT), HUB, np.uint8)
        for place in range(3):
            tokens[:, place] = around(entries, step, place)
        return tokens.reshape(-1)

    def identity(self) -> Mapping[str, str | int]:
        """K belongs to what the stream is."""
        return {**super().identity(), "k": self.k}


def directions(communities: Bytes, k: int) -> Bytes:
    """For each visit the step round its ring: 1 clockwise, 2 (that is, −1) counterclockwise. (visits,)"""
    odd = np.zeros(len(communities) + 1, np.uint8)  # parity of all visits before v
    np.bitwise_xor.accumulate(communities, out=odd[1:])
    step = np.ones(len(communities), np.uint8)
    step[k:] += odd[k:-1] ^ odd[: -1 - k]  # parity of visits v−k .. v−1
    return step


def around(entries: Bytes, step: Bytes, places: int) -> Bytes:
    """The token `places` steps after each entry, on the entry's own ring of three."""
    ring = entries // 3 * 3
    token: Bytes = ring + (entries - ring + step * np.uint8(places)) % 3
    return token


def nonlinear_oracle(tokens: Tokens, k: int) -> Tokens:
    """The best prediction of each token of a nonlinear(K) stream read from its start, knowing the rule and the past.

    After the hub all six entries are equally likely, so A is as good a guess as any.
    """
    visits = -(-len(tokens) // VISIT)
    padded = np.full(visits * VISIT, HUB, np.uint8)
    padded[: len(tokens)] = tokens
    entries = np.ascontiguousarray(padded[::VISIT])
    step = directions(entries // 3, k)
    predictions = np.full((visits, VISIT), HUB, np.int32)
    predictions[:, 0] = 0
    for place in (1, 2):
        predictions[:, place] = around(entries, step, place)
    return predictions.reshape(-1)[: len(tokens)]
