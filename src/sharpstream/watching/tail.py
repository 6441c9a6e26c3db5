"""How unusual a score is: its tail probability among the recent scores, and whether that makes it an alert.

A histogram that forgets: a line's weight falls by half in about 7 / rate lines. A line is an alert when its tail
probability is at most the rate the person set, so that about that share of lines are; a new normal raises some tens
of alerts and then is normal. Plain numbers, constant memory; they go into the checkpoint.
"""

from collections.abc import Sequence

import numpy as np

from sharpstream.learners.contract import Array

BINS, WIDTH, LOWEST = 2_048, 1 / 32, -4.0  # bits: scores from -4 to 60
MEMORY = 10  # lines of weight that may lie above the alert level: what the tail is estimated from
LARGEST = 2.0**64  # the weight of a new line, before all are scaled down


class Tail:
    """Judges one score after another.

    >>> tail = Tail(alerts_per_1000=100)
    >>> tails = [tail.judge(score) for score in [3.0] * 30 + [9.0]]
    >>> tails[0], tails[-2], round(tails[-1], 3), tail.alert(tails[-1])
    (None, 1.0, 0.043, True)
    """

    def __init__(self, alerts_per_1000: float) -> None:
        self.rate = alerts_per_1000 / 1000
        self.skipped = round(0.5 / self.rate)  # a newborn's scores would hold the level up for long
        self.warmup = self.skipped + round(1.1 / self.rate)  # fewer lines cannot show a tail of this rate
        self.seen = 0
        self.histogram = np.zeros(BINS)
        self._weight = 1.0  # of the next line; it grows instead of all others falling

    @property
    def ready(self) -> bool:
        """Whether enough lines were seen for a tail of this rate."""
        return self.seen >= self.warmup

    def judge(self, score: float) -> float | None:
        """The share of recent lines that score at least as high, this one included; None while warming up."""
        place = _bin(score)
        tail = None
        if self.ready:
            above, all_ = float(self.histogram[place:].sum()), float(self.histogram.sum())
            tail = min(1.0, (above + self._weight) / (all_ + self._weight))
        self.seen += 1
        if self.seen > self.skipped:
            self.histogram[place] += self._weight
        self._weight /= 1 - self.rate / MEMORY
        if self._weight > LARGEST:
            self.histogram /= self._weight
            self._weight = 1.0
        return tail

    def alert(self, tail: float | None) -> bool:
        """Whether a line of this tail probability is one."""
        return tail is not None and tail <= self.rate

    def level(self) -> float | None:
        """The lowest score that would be an alert now; None while warming up."""
        if not self.ready:
            return None
        above = np.cumsum(self.histogram[::-1])[::-1]
        tails = (above + self._weight) / (above[0] + self._weight)
        rare = np.nonzero(tails <= self.rate)[0]
        return float(rare[0] * WIDTH + LOWEST) if rare.size else None

    def quantiles(self, shares: Sequence[float]) -> dict[float, float]:
        """Quantiles of the recent scores; none before the first."""
        below = np.cumsum(self.histogram)
        if not below[-1]:
            return {}
        return {share: float(np.searchsorted(below, share * below[-1]) * WIDTH + LOWEST) for share in shares}

    def state(self) -> dict[str, Array]:
        """What a checkpoint needs."""
        return {
            "tail.histogram": self.histogram.copy(),
            "tail.numbers": np.array([float(self.seen), self._weight]),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from a `state`; the rate may be another one now."""
        histogram, numbers = state["tail.histogram"], state["tail.numbers"]
        if histogram.shape != (BINS,) or numbers.shape != (2,) or histogram.min() < 0 or not numbers[1] > 0:
            raise ValueError("the histogram of scores is not one")
        self.histogram[...] = histogram
        self.seen, self._weight = int(numbers[0]), float(numbers[1])


def _bin(score: float) -> int:
    return min(BINS - 1, max(0, int((score - LOWEST) / WIDTH)))
