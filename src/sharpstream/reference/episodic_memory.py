"""The episodic learner's memory in plain Python: dictionaries of small lists where the kernels have one flat array.

`reference/episodic.py` reads it. Addresses and checks are computed as the kernels compute them, in Python's integers.
"""

from dataclasses import dataclass, field

from sharpstream.memory.episodic_contexts import BACK, FEATURES, POSITION, RECENT, SEPARATOR, SHAPE, SHAPE_LENGTH, WORDS
from sharpstream.memory.episodic_match import LONGEST
from sharpstream.memory.episodic_slots import MOST, WAYS

WORD64 = (1 << 64) - 1
GOLDEN, STEP, LAST, SEED = 0x9E3779B97F4A7C15, 0x632BE59BD9B4E019, 0x9FB21C651E98DF25, 0xD6E8FEB86659FD93


def mix(h: int, value: int) -> int:
    """One more value into a 64-bit hash."""
    z = ((h ^ value) * GOLDEN) & WORD64
    return z ^ (z >> 29)


@dataclass
class Slot:
    """What followed one context."""

    check: int
    time: int = 0
    distinct: int = 0
    pairs: list[list[int]] = field(default_factory=list)  # [symbol, count], most recent first

    @property
    def total(self) -> int:
        return sum(count for _, count in self.pairs)

    def count(self, symbol: int, capacity: int, limit: int, now: int) -> None:
        """Count a symbol: it moves to the front; where there is no room the smallest count, the oldest, leaves."""
        self.time = now & 0xFFFFFFFF
        counts = {pair[0]: pair for pair in self.pairs}
        pair = counts.get(symbol)
        if pair is None:
            if len(self.pairs) == capacity:
                least = min(count for _, count in self.pairs)
                oldest = max(i for i, (_, count) in enumerate(self.pairs) if count == least)
                del self.pairs[oldest]
            self.distinct = min(self.distinct + 1, MOST)
            pair = [symbol, 0]
        else:
            self.pairs.remove(pair)
        pair[1] += 1
        self.pairs.insert(0, pair)
        if pair[1] >= limit:
            for other in self.pairs:
                other[1] = max(other[1] >> 1, 1)


class Bucket(list[Slot | None]):
    """Four places for slots."""

    def find(self, check: int) -> Slot | None:
        return next((slot for slot in self if slot is not None and slot.check == check), None)

    def claim(self, check: int) -> Slot:
        """A new slot in the place of the least counted, the longest unvisited, the first of equals."""
        ranks = [(0, 0, i) if slot is None else (slot.total, slot.time, i) for i, slot in enumerate(self)]
        self[min(ranks)[2]] = made = Slot(check)
        return made


class Past:
    """The features of what was read, and the addresses of its contexts."""

    def __init__(self, kinds: list[int], folded: list[int]) -> None:
        self.kinds, self.folded = kinds, folded
        self.recent = [0] * RECENT
        self.words = [0] * WORDS
        self.features = [0] * FEATURES

    def take(self, symbol: int) -> None:
        """The past moves on by one symbol."""
        features, kind = self.features, self.kinds[symbol]
        self.recent = [symbol, *self.recent[:-1]]
        features[:BACK] = [symbol + 1, *features[: BACK - 1]]
        if kind != SEPARATOR:
            begun = self.words[0] if features[POSITION] > 0 else 0
            self.words[0] = mix((begun + 1) & WORD64, self.folded[symbol] + 1)
            features[POSITION] = min(features[POSITION] + 1, 255)
        else:
            if features[POSITION] > 0:
                self.words[1:] = self.words[:-1]
            self.words[0] = symbol + 1
            features[POSITION] = 0
        features[BACK : BACK + WORDS] = self.words
        features[SHAPE] = (features[SHAPE] << 2 | kind) & ((1 << 2 * SHAPE_LENGTH) - 1)

    def address(self, k: int, used: tuple[int, ...], buckets: int) -> tuple[int, int]:
        """(bucket, check) of context k."""
        h = ((k + 1) * SEED) & WORD64
        for feature in used:
            h = mix((h + STEP) & WORD64, self.features[feature])
        h = ((h ^ (h >> 32)) * LAST) & WORD64
        h ^= h >> 28
        return ((h >> 32) * buckets) >> 32, h & 0xFFFF


class Match:
    """One match model over the list of all symbols read."""

    def __init__(self, least: int, entries: int, size: int) -> None:
        self.least, self.entries, self.size = least, entries, size
        self.place, self.length, self.misses = -1, 0, 0
        self.index: dict[int, int] = {}

    def follow(self, read: list[int], recent: list[int]) -> None:
        """After a symbol, already in `read` and `recent`: go on, or look for a place, and enter the index."""
        head, symbol = len(read), recent[0]
        if self.place >= 0:
            hit = read[self.place] == symbol
            self.misses = (self.misses << 1 | (not hit)) & 255
            self.length = min(self.length + 1, LONGEST) if hit else 0
            self.place = self.place + 1 if hit else -1
        if self.place >= head or (self.place >= 0 and head - self.place > self.size - 2 * RECENT):
            self.place = -1
        h = self.least
        for i in range(self.least):
            h = mix((h + STEP) & WORD64, recent[i] + 1)
        h = ((h ^ (h >> 32)) * LAST) & WORD64
        at = ((h >> 32) * self.entries) >> 32
        if self.place < 0:
            distance = head - self.index.get(at, 0)
            if 0 < distance <= min(head, self.size - 2 * RECENT):
                found = head - distance
                length = 0
                while length < min(RECENT, found) and read[found - 1 - length] == recent[length]:
                    length += 1
                if length >= self.least:
                    self.place, self.length = found, length
        if self.place < 0:
            self.length = 0
        self.index[at] = head


def empty_bucket() -> Bucket:
    return Bucket([None] * WAYS)
