"""Timing that survives a noisy machine: everything to be compared is timed in turn, round after round.

A ratio is the median over rounds of the ratio within a round, so that a slow minute slows both sides alike. Called by
`sharp bench` and by the `wall-time` study.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from sharpstream.learners.contract import Learner, Tokens

Work = Callable[[], int]  # does some work and says how many units (tokens) it was


@dataclass(frozen=True)
class Timed:
    """Seconds per unit in each round."""

    rounds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Median seconds per unit."""
        return statistics.median(self.rounds)

    def over(self, other: "Timed") -> float:
        """How many times longer this takes than the other: the median of the rounds' ratios."""
        return statistics.median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))


def in_turn(
    works: Mapping[str, Work],
    rounds: int,
    *,
    prepare: Mapping[str, Callable[[], object]] = MappingProxyType({}),
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timed]:
    """Time every piece of work in turn, `rounds` times; one untimed turn first, for compilation and caches.

    What `prepare` names is done before each turn of that work, untimed. A clock of the process's own time, as
    `time.process_time` is, does not count what others do meanwhile on the same core.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + 1):
        for name, work in works.items():
            if name in prepare:
                prepare[name]()
            began = clock()
            units = work()
            if turn:
                taken[name].append((clock() - began) / units)
    return {name: Timed(tuple(values)) for name, values in taken.items()}


def learning(learner: Learner, tokens: Tokens, count: int | None = None) -> Work:
    """Learn the next `count` tokens (all, when not given) at each turn, from the start again after the last.

    The first token is read beforehand, unpredicted. So a learner that updates once per chunk of `count` predictions
    ends its chunk where the turn ends, and is not charged for scoring a chunk in parts.
    """
    learner.learn(tokens[:1])
    size, place = count or tokens.size, 1

    def work() -> int:
        nonlocal place
        learner.learn(tokens[np.arange(place, place + size) % tokens.size])
        place += size
        return size

    return work


def resident_megabytes() -> float:
    """The memory this process holds now (Linux; 0 where it cannot be told)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 2**20
