"""The contexts of the episodic memory: named functions of the past, all in one table.

A context is a tuple of features of the past; what followed each of its values is remembered in slots of its own. To
add one, write one more `Context(...)` line. `learners/episodic.py` turns the table into arrays, `advance` and
`address_contexts` run for every token.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.prefetch import prefetch

BACK = 16  # features 0..15: the symbols 1..16 back
WORDS = 4  # then the words w0 (as far as it has come), w1, w2, w3
SHAPE, POSITION = BACK + WORDS, BACK + WORDS + 1  # kinds of the last 12 symbols; how far into the word
FEATURES = POSITION + 1
RECENT = 32  # symbols kept at hand, newest first: features and the match models read them
SHAPE_LENGTH = 12
SEPARATOR, VOWEL, CONSONANT, OTHER = 0, 1, 2, 3  # kinds of symbols


@dataclass(frozen=True)
class Context:
    """One context: what of the past it looks at, and how its slots are kept."""

    name: str
    features: tuple[int, ...]
    parent: str = ""  # the context whose counts the state tables hold beside this one's
    limit: int = 14  # counts are halved here: small where the past should be forgotten soon
    room: int = 0  # 0: smallest slots, 1 and 2: larger


def back(*places: int) -> tuple[int, ...]:
    """The symbols so many places back.

    >>> back(1, 3)
    (0, 2)
    """
    return tuple(place - 1 for place in places)


def words(*numbers: int) -> tuple[int, ...]:
    """Words by how many words ago: 0 is the current one."""
    return tuple(BACK + number for number in numbers)


def orders(longest: int, slow: int = 5) -> tuple[Context, ...]:
    """The last 1, 2, ... symbols; up to order `slow` counts go to 255."""
    return tuple(
        Context(f"o{n}", back(*range(1, n + 1)), f"o{n - 1}" if n > 1 else "", 255 if n <= slow else 14,
                2 if n == 1 else int(n <= 4))
        for n in range(1, longest + 1)
    )  # fmt: skip


WORD_CONTEXTS = (
    Context("w0", words(0), "o3", 255, 1),
    Context("w0w1", words(0, 1), "w0"),
    Context("w0w1w2", words(0, 1, 2), "w0w1"),
    Context("w0w2", words(0, 2), "w0"),
    Context("w0w3", words(0, 3), "w0"),
    Context("w0w1w2w3", words(0, 1, 2, 3), "w0w1w2"),
)
SKIP_CONTEXTS = (
    Context("s234", back(2, 3, 4), "o1", 255, 1),
    Context("s134", back(1, 3, 4), "o1", 255, 1),
    Context("s1245", back(1, 2, 4, 5), "o2", 255, 1),
    Context("s3456", back(3, 4, 5, 6), "o1"),
    Context("w1 last", (*words(1), *back(1), POSITION), "o1"),
    Context("shape", (SHAPE,), "o1", 255, 1),
)
PLAIN_SKIPS = (
    Context("s2", back(2), "o1", 255, 1),
    Context("s3", back(3), "o1", 255, 1),
    Context("s23", back(2, 3), "s2"),
    Context("s13", back(1, 3), "o1"),
    Context("s134", back(1, 3, 4), "s13"),
    Context("s124", back(1, 2, 4), "o2"),
    Context("s234", back(2, 3, 4), "s23"),
)


def context_table(
    text: bool, with_words: bool = True, with_skips: bool = True, longest: int = 7
) -> tuple[Context, ...]:
    """The contexts of a text (letters or bytes), or of symbols that are not letters."""
    table = orders(longest)
    if text and with_words:
        table += WORD_CONTEXTS
    if with_skips:
        table += SKIP_CONTEXTS if text else PLAIN_SKIPS
    return table


def symbol_kinds(vocabulary: int, text: bool) -> tuple[Array, Array]:
    """What each symbol is (separator, vowel, ...) and which symbol it counts as in a word, both (V,) int64."""
    kinds = np.full(vocabulary, OTHER, dtype=np.int64)
    folded = np.arange(vocabulary, dtype=np.int64)
    if not text:
        return kinds, folded
    letters = {letter: 1 + index for index, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
    if vocabulary == 256:
        kinds[:128] = SEPARATOR
        kinds[ord("0") : ord("9") + 1] = OTHER
        letters = {letter: ord(letter) for letter in letters}
        folded[ord("A") : ord("Z") + 1] += 32
    else:
        kinds[0] = SEPARATOR
    for letter, symbol in letters.items():
        kinds[symbol] = VOWEL if letter in "aeiou" else CONSONANT
        if vocabulary == 256:
            kinds[symbol - 32] = kinds[symbol]
    return kinds, folded


@lean_kernel
def mix(h: Any, value: Any) -> Any:
    """One more value into a 64-bit hash."""
    z = (h ^ value) * np.uint64(0x9E3779B97F4A7C15)
    return z ^ (z >> np.uint64(29))


@lean_kernel
def advance(recent: Array, word: Array, features: Array, kinds: Array, folded: Array, symbol: Any) -> None:
    """The past moves on by one symbol: recent (32,) int64, word (4,) uint64 and features (F,) uint64."""
    for i in range(RECENT - 1, 0, -1):
        recent[i] = recent[i - 1]
    recent[0] = symbol
    for i in range(BACK - 1, 0, -1):
        features[i] = features[i - 1]
    features[0] = np.uint64(symbol + 1)
    kind = kinds[symbol]
    if kind != SEPARATOR:
        if features[POSITION] == np.uint64(0):
            word[0] = np.uint64(0)
        word[0] = mix(word[0] + np.uint64(1), np.uint64(folded[symbol] + 1))
        features[POSITION] = min(features[POSITION] + np.uint64(1), np.uint64(255))
    else:
        if features[POSITION] > np.uint64(0):
            for i in range(WORDS - 1, 0, -1):
                word[i] = word[i - 1]
        word[0] = np.uint64(symbol + 1)  # between words: which separator was last
        features[POSITION] = np.uint64(0)
    for i in range(WORDS):
        features[BACK + i] = word[i]
    shape = (features[SHAPE] << np.uint64(2)) | np.uint64(kind)
    features[SHAPE] = shape & np.uint64((1 << (2 * SHAPE_LENGTH)) - 1)


@lean_kernel
def address_contexts(
    features: Array, used: Array, first: Array, buckets: Array, bucket_size: Array, slots: Array,
    address: Array, check: Array,
) -> None:  # fmt: skip
    """Where each context's bucket begins and the check of its slot; asks the memory for the bucket's lines.

    used (K, F): its features, −1 after the last; first, buckets, bucket_size (K,): its part of `slots`.
    """
    for k in range(len(used)):
        h = np.uint64(k + 1) * np.uint64(0xD6E8FEB86659FD93)
        for i in range(used.shape[1]):
            if used[k, i] < 0:
                break
            h = mix(h + np.uint64(0x632BE59BD9B4E019), features[used[k, i]])
        h = (h ^ (h >> np.uint64(32))) * np.uint64(0x9FB21C651E98DF25)
        h = h ^ (h >> np.uint64(28))
        number = ((h >> np.uint64(32)) * np.uint64(buckets[k])) >> np.uint64(32)
        address[k] = first[k] + np.int64(number) * bucket_size[k]
        check[k] = np.int64(h & np.uint64(0xFFFF))
        for line in range(0, bucket_size[k], 32):
            prefetch(slots, address[k] + line)
