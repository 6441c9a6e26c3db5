"""How rare the words of a line are: each pair of neighbouring words against how often it was seen in all lines so far.

A pair's rarity is log2((lines + PRIOR) / (seen + 1)) bits. Counts live in two hashed rows of fixed size; when half the
cells are taken all counts are halved, so that what came once is forgotten first. Nothing grows.
"""

import hashlib
from collections.abc import Sequence
from math import log2

import numpy as np

from sharpstream.learners.contract import Array

CELLS = 1 << 19  # of each row: 4 MB in all
PRIOR = 300  # lines: as if so many had been seen that had none of the pairs
START, END = "\x02", "\x03"  # before the first word, after the last: no word of a line that was split


class Rarity:
    """Counts pairs of words.

    >>> rarity = Rarity()
    >>> for _ in range(1000):
    ...     usual = rarity.see(["disk", "is", "fine"])
    >>> [round(bits, 1) for bits in usual], [round(bits, 1) for bits in rarity.see(["disk", "is", "full"])]
    ([0.4, 0.4, 0.4, 0.4], [0.4, 0.4, 10.3, 10.3])
    """

    def __init__(self, cells: int = CELLS) -> None:
        self.cells = cells
        self.counts = np.zeros((2, cells), np.uint32)
        self.lines = 0
        self._taken = 0  # cells of the first row that are not zero

    def see(self, words: Sequence[str]) -> list[float]:
        """The rarity of each pair, from (start, first word) to (last word, end); then they are counted."""
        pairs = [*zip([START, *words], [*words, END], strict=True)]
        places = np.array([self._place(left, right) for left, right in pairs], np.int64)  # (pairs, 2)
        seen = np.minimum(self.counts[0, places[:, 0]], self.counts[1, places[:, 1]])
        top = log2(self.lines + PRIOR)
        rarities = [top - log2(count + 1) for count in seen.tolist()]
        self._count(places, seen)
        return rarities

    def _place(self, left: str, right: str) -> tuple[int, int]:
        digest = hashlib.blake2b(f"{left}\0{right}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        return number % self.cells, (number >> 32) % self.cells

    def _count(self, places: Array, seen: Array) -> None:
        """A pair that a line has twice counts once; only cells that hold less than the new count are raised."""
        for row in (0, 1):
            cells = self.counts[row]
            if row == 0:
                self._taken += int(np.unique(places[:, 0][cells[places[:, 0]] == 0]).size)
            np.maximum.at(cells, places[:, row], seen + 1)
        self.lines += 1
        if self._taken > self.cells // 2:
            self.counts >>= 1
            self.lines >>= 1
            self._taken = int(np.count_nonzero(self.counts[0]))

    def state(self) -> dict[str, Array]:
        """What a checkpoint needs: only the cells that are taken, so that it is as small as what was seen."""
        places = np.flatnonzero(self.counts)
        counts = self.counts.reshape(-1)[places]
        return {"rarity.places": places, "rarity.counts": counts, "rarity.lines": np.array([self.lines], np.int64)}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from a `state`."""
        places, counts, lines = (state[f"rarity.{name}"] for name in ("places", "counts", "lines"))
        fits = places.ndim == 1 and places.shape == counts.shape and lines.shape == (1,)
        sound = fits and places.dtype == np.int64 and counts.dtype == np.uint32 and bool((counts > 0).all())
        if not sound or (
            places.size and not (places[0] >= 0 and places[-1] < 2 * self.cells and (np.diff(places) > 0).all())
        ):
            raise ValueError("the counts of word pairs are damaged: their places or numbers are none of ours")
        self.counts[...] = 0
        self.counts.reshape(-1)[places] = counts
        self.lines, self._taken = max(0, int(lines[0])), int(np.count_nonzero(self.counts[0]))
