"""Timing that survives a noisy machine: everything to be compared is timed in turn, round after round.

A ratio is the median over rounds of the ratio within a round, so that a slow minute slows both sides alike.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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


def in_turn(works: Mapping[str, Work], rounds: int) -> dict[str, Timed]:
    """Time every piece of work in turn, `rounds` times; one untimed turn first, for compilation and caches."""
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            began = time.perf_counter()
            units = work()
            taken[name].append((time.perf_counter() - began) / units)
    return {name: Timed(tuple(values)) for name, values in taken.items()}


def resident_megabytes() -> float:
    """The memory this process holds now (Linux; 0 where it cannot be told)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 2**20
