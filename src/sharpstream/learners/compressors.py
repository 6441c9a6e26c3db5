"""General-purpose compressors as external comparators: PPMd and zpaq, by differences of compressed sizes.

Tokens go in, bits per token come out. A compressor learns while it reads, so it has no frozen score: what it gives is
prequential (whole stream), forward-adaptive (an unseen probe after the training text) and repeat-adaptive (the
beginning of the training text once more). Packages pyppmd and zpaq (extra `compressors`) are imported when asked for.
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from sharpstream.errors import ConfigError, StreamError
from sharpstream.learners.contract import Tokens, check_tokens

PPMD_ORDERS = (4, 6, 16)
# PPMd forgets everything when its memory is full. On 10M characters of text8 order 16 needs more than 64 MB (1.80 bits
# there, 1.90 at 16 MB); from 256 MB on nothing changes.
PPMD_MEMORY = 1 << 30
LETTERS = 27  # space, a-z
_once = functools.lru_cache(maxsize=2)  # every measure needs the size of the training text; zpaq takes minutes for it
TOO_SMALL = 64  # tokens: below this the containers' headers are most of the size


@dataclass(frozen=True)
class Compressor:
    """A name and how many bytes it makes of some bytes."""

    name: str
    size: Callable[[bytes], int]

    def prequential(self, tokens: Tokens, vocabulary: int) -> float:
        """C(x) / |x| in bits: what a single pass over the stream costs, learning as it goes."""
        data = packed(tokens, vocabulary)
        return 8.0 * self.size(data) / len(tokens)

    def forward_adaptive(self, train: Tokens, probe: Tokens, vocabulary: int) -> float:
        """(C(train + probe) − C(train)) / |probe|: what an unseen text costs after the training text."""
        before, after = packed(train, vocabulary), packed(probe, vocabulary)
        return 8.0 * (self.size(before + after) - self.size(before)) / len(probe)

    def repeat_adaptive(self, train: Tokens, length: int, vocabulary: int) -> float:
        """`forward_adaptive` on the first `length` tokens of the training text: what they cost the second time."""
        if not 0 < length <= len(train):
            raise ConfigError(f"length = {length}: it must be in 1..{len(train)}, the length of the training text")
        return self.forward_adaptive(train, train[:length], vocabulary)


def ppmd(order: int, *, memory: int = PPMD_MEMORY) -> Compressor:
    """PPMd variant H (the one of 7-Zip) of an order in 2..64, with so many bytes of memory."""
    if not 2 <= order <= 64:
        raise ConfigError(f"order = {order}: PPMd takes an integer in 2..64")
    module = _needed("pyppmd")

    @_once
    def size(data: bytes) -> int:
        return len(module.compress(data, max_order=order, mem_size=memory, variant="H"))

    return Compressor(f"ppmd-{order}", size)


def zpaq(level: int = 5) -> Compressor:
    """zpaq at a level in 1..5, in one block: with several threads it would forget between blocks."""
    if not 1 <= level <= 5:
        raise ConfigError(f"level = {level}: zpaq takes an integer in 1..5")
    module = _needed("zpaq")

    @_once
    def size(data: bytes) -> int:
        return len(module.compress(data, level=level, threads=1, hints=False))

    return Compressor(f"zpaq-{level}", size)


def comparators() -> tuple[Compressor, ...]:
    """Those that stand in every language table: PPMd of orders 4, 6, 16 and zpaq level 5."""
    return (*(ppmd(order) for order in PPMD_ORDERS), zpaq(5))


def packed(tokens: Tokens, vocabulary: int) -> bytes:
    """One byte a token up to 256 symbols, else two (low byte first): then contexts are half as long in tokens.

    27 symbols are written as the letters they stand for: both compressors guess from byte values (a space, a letter)
    and lose up to 0.03 bits on the bare numbers 0..26.
    """
    if vocabulary > 1 << 16:
        raise ConfigError(f"vocabulary = {vocabulary}: compressors are given one or two bytes a token, at most 65,536")
    checked = check_tokens(tokens, vocabulary)
    if checked.size < TOO_SMALL:
        raise StreamError(f"{checked.size} tokens are too few to compress: give at least {TOO_SMALL}")
    if vocabulary == LETTERS:
        return np.where(checked == 0, ord(" "), checked + ord("a") - 1).astype(np.uint8).tobytes()
    return checked.astype(np.uint8 if vocabulary <= 256 else "<u2").tobytes()


def _needed(name: str) -> ModuleType:
    """The package, or what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ConfigError(
            f"the {name} comparator needs a package that is not installed: pip install 'sharpstream[compressors]'"
        ) from problem
