"""How much a line stands out, in one number, and where: the rarity of its words, and the learner's surprise.

score = mean of the three largest pair rarities + ¼ log2(mean bits + 0.02). Rarity knows how often something was seen
and does not forget it after one look; the learner knows what was to be expected here. `benchmarks/logs.py` compares
this with the alternatives.
"""

from dataclasses import dataclass
from math import log2

import numpy as np

from sharpstream.learners.contract import Bits
from sharpstream.watching.masks import Masked, Range
from sharpstream.watching.rarity import Rarity
from sharpstream.watching.usual import Usual

RAREST = 3  # pairs whose rarity is averaged
SHARE, FLOOR = 0.25, 0.02  # of the learner's surprise: its weight, and the bits below which differences mean nothing
NEAR = 1.0  # bits: words this close to the rarest belong to the same span


@dataclass(frozen=True)
class Scored:
    """What is said of a line."""

    score: float
    span: Range  # characters of the raw line
    expected: str | None  # the word that usually stands where the span begins
    got: str


class Scorer:
    """Scores one masked line after another."""

    def __init__(self) -> None:
        self.rarity, self.usual = Rarity(), Usual()

    def see(self, line: Masked, raw: str, bits: Bits) -> Scored:
        """Score a line by what came before it, then count it. `bits` are those of its UTF-8 bytes, newline included."""
        words, ranges = line.words, line.word_ranges()
        rarities = self.rarity.see(words)
        surprise = float(bits.mean()) if bits.size else 0.0
        first, last = _span(rarities, _bits_by_word(line, bits)) if words else (0, 0)
        span = (ranges[first][0], ranges[last][1]) if words else (0, 0)
        expected = self.usual.expected(words, first) if words else None
        self.usual.see(words)
        got = raw[slice(*ranges[first])] if words else ""
        return Scored(combined(rarities, surprise), span, expected, got)


def combined(rarities: list[float], surprise: float) -> float:
    """The score of a line from the rarity of its pairs and its mean surprise in bits."""
    rarest = sorted(rarities)[-RAREST:]
    return sum(rarest) / len(rarest) + SHARE * log2(surprise + FLOOR)


def _span(rarities: list[float], bits: list[float]) -> tuple[int, int]:
    """First and last word of the run of rare words that surprised the learner most.

    A word is as rare as the pair that ends in it; of the last word also the pair with the end counts.
    """
    rare = [*rarities[:-2], max(rarities[-2:])]
    level, runs, start = max(rare) - NEAR, [], 0
    for place in range(len(rare)):
        if rare[place] < level:
            start = place + 1
        elif place + 1 == len(rare) or rare[place + 1] < level:
            runs.append((start, place))
    return max(runs, key=lambda run: (sum(bits[run[0] : run[1] + 1]), -run[0]))


def _bits_by_word(line: Masked, bits: Bits) -> list[float]:
    """The learner's surprise summed over each word and what follows it; nothing where tokens are not bytes."""
    starts = line.word_bytes()
    if not starts or starts[-1] >= bits.size:
        return [0.0] * len(starts)
    return [float(part) for part in np.add.reduceat(bits, starts)]
