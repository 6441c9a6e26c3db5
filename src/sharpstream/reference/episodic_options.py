"""Options of the episodic learner in NumPy: the slow level, the tags of its sleep, and its house-keeping.

`reference/episodic.py` holds one of each where its config asks for them; everything is written anew but constants.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import EpisodicConfig
from sharpstream.memory import episodic_keeping as keeping
from sharpstream.pattern import episodic_slow as slow
from sharpstream.reference.episodic_memory import GOLDEN, STEP, WORD64, Bucket, Slot, mix
from sharpstream.sleep.episodic_replay import KEEP, SURPRISE

Array = npt.NDArray[Any]


class SlowLevel:
    """Averages of what was read at several clocks, and a map from where they stand to gain and shift."""

    def __init__(self, config: EpisodicConfig) -> None:
        self.clocks, n = config.slow, config.slow * slow.FEATURES
        self.trace, self.averages = np.zeros(slow.FEATURES), np.zeros((config.slow, slow.FEATURES))
        self.standing, self.mean, self.variance = np.zeros(n), np.zeros(n), np.zeros(n)
        self.weights = np.zeros((n, 2 * config.network))
        self.film, self.pending, self.moments = (np.zeros(2 * config.network) for _ in range(3))
        self.read = 0

    def applied(self, hidden: Array) -> Array:
        """(1 + g)⊙h + b."""
        gain, shift = np.split(self.film, 2)
        return np.asarray((1.0 + gain) * hidden + shift)

    def backward(self, plain: Array, delta: Array) -> Array:
        """Adds to the pending gradient; what goes on to the layer below."""
        self.pending += np.concatenate([delta * plain, delta])
        return np.asarray(delta * (1.0 + np.split(self.film, 2)[0]))

    def step(self, recent: list[int], rate: float) -> None:
        """After a token; at a tick the map learns and the averages advance."""
        for t in range(slow.TRACES):
            h = t + 1
            for symbol in recent[: 1 << t]:
                h = ((h + symbol + 1) * GOLDEN) & WORD64
                h ^= h >> 29
            self.trace[t * slow.CELLS + (h >> 32) % slow.CELLS] += 1.0
        self.read += 1
        if self.read % slow.TICK:
            return
        ticks = self.read // slow.TICK
        self.moments += max(1e-4, 1.0 / ticks) * (self.pending**2 - self.moments)
        self.weights -= rate * np.outer(self.standing, self.pending / np.sqrt(self.moments + 1e-12))
        self.pending[:] = 0.0
        share = np.maximum(float(slow.ALPHA) ** -np.arange(self.clocks), 1.0 / ticks)[:, None]
        self.averages += share * (self.trace / slow.TICK - self.averages)
        self.trace[:] = 0.0
        away, fresh = self.averages.ravel() - self.mean, max(slow.FRESH, 1.0 / (ticks + 1.0))
        self.mean += fresh * away
        self.variance += fresh * (away**2 - self.variance)
        self.standing = np.clip(away / np.sqrt(self.variance + 1e-8), -slow.STEEPEST, slow.STEEPEST)
        self.film = self.standing @ self.weights


def spread(clock: int, draw: int) -> int:
    """The draw of `memory/episodic_keeping.py`, in Python's integers."""
    return mix(mix((clock + STEP) & WORD64, draw & WORD64), clock) >> 33


def kept_slot(bucket: Bucket, check: int, rule: str, now: int, slots: int, number: int, said: bool) -> Slot | None:
    """A slot for a new context, or None where the rule does not let it in. `number` is where the bucket begins."""
    filled = [slot for slot in bucket if slot is not None]
    full, least = len(filled) == len(bucket), min((slot.total for slot in filled), default=0)
    if full and rule in ("challenged", "thrifty") and spread(now, number) % least**2:
        return None
    if full and rule in ("said", "thrifty") and said:
        return None
    if not full or rule != "aged":
        return bucket.claim(check)
    ages = [(now - slot.time) & 0xFFFFFFFF for slot in filled]
    half = keeping.HALF_LIFE * slots
    strength = [(slot.total << keeping.SCALE) >> min(age // half, 60) for slot, age in zip(filled, ages, strict=True)]
    weakest = min(range(len(filled)), key=lambda i: (strength[i], -ages[i], i))
    bucket[weakest] = made = Slot(check)
    return made


def sweep(buckets: dict[tuple[int, int], Bucket], slots: list[int], now: int) -> None:
    """Drop what was seen once and has not been visited for a turn of its context."""
    for (k, _), bucket in buckets.items():
        for i, slot in enumerate(bucket):
            if slot is not None and slot.total == 1 and (now - slot.time) & 0xFFFFFFFF > slots[k]:
                bucket[i] = None


@dataclass
class TagStore:
    """Which tokens are kept for sleep, and which of them are drawn."""

    config: EpisodicConfig
    kept: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: int = 0
    stored: int = 0
    mean: float = 0.0

    def take(self, bits: float, tag: dict[str, Any]) -> None:
        """Keep the tag, or not."""
        size, choice = self.config.replay_tags, self.config.replay
        surprising = bits > SURPRISE * self.mean
        self.mean += (1.0 - KEEP) * (bits - self.mean)
        if choice == "surprising" and not surprising:
            return
        place = self.stored % size
        if choice == "uniform" and self.asked >= size:
            place = spread(self.asked, -1) % (self.asked + 1)
        self.asked += 1
        if place < size:
            self.kept[place] = tag
            self.stored += 1

    def drawn(self, now: int) -> list[dict[str, Any]]:
        """The tags of one sleep."""
        filled = min(self.stored, self.config.replay_tags)
        return [self.kept[spread(now, draw) % filled] for draw in range(self.config.replays)] if filled else []
