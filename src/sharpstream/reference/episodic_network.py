"""The twin of `pattern/episodic_network.py`: the network expert, and what it learns from its own error."""

import math

import numpy as np

from sharpstream.config import EpisodicConfig
from sharpstream.learners import episodic_arrays as arrays
from sharpstream.learners import episodic_learn as learn
from sharpstream.learners.episodic import RATE_VALUES
from sharpstream.memory.episodic_contexts import BACK
from sharpstream.pattern.episodic_network import DELAY, HASHED
from sharpstream.reference.episodic_memory import GOLDEN, WORD64, Past
from sharpstream.reference.episodic_numbers import Array, log_softmax
from sharpstream.reference.episodic_options import SlowLevel


def slower(now: int) -> float:
    """The network's steps as time goes on."""
    return 1.0 / math.sqrt(1.0 + now / RATE_VALUES[learn.NETWORK_TIME])


class Network:
    """A delay line and hashed rows into one GELU layer, read out for the candidates."""

    def __init__(
        self, config: EpisodicConfig, vocabulary: int, pattern: dict[str, Array], slow: SlowLevel | None
    ) -> None:
        self.width, self.pattern, self.slow = config.network, pattern, slow
        self.table, self.hashed = arrays.network_sizes(config, vocabulary)
        for name, size in (("inputs", -1), ("read", vocabulary)):
            pattern[name] = pattern[name].reshape(size, config.network)

    def rows_of(self, past: Past) -> list[int]:
        """Which input rows are on."""
        rows = [i * self.table + past.recent[i] % self.table for i in range(DELAY)]
        three = (past.recent[0] * 65_537 + past.recent[1]) * 65_537 + past.recent[2]
        for i, value in enumerate((past.features[BACK], past.features[BACK + 1], three)[:HASHED]):
            z = ((value + i) * GOLDEN) & WORD64
            rows.append(DELAY * self.table + i * self.hashed + (((z >> 32) * self.hashed) >> 32))
        return rows

    def run(self, rows: list[int], candidates: Array) -> Array:
        """Log-probabilities of the candidates."""
        p = self.pattern
        self.rows, self.candidates, self.before = rows, candidates, p["inputs"][rows].sum(axis=0)
        self.cumulative = np.array([0.5 * (1.0 + math.erf(v * math.sqrt(0.5))) for v in self.before])
        self.hidden = self.plain = self.before * self.cumulative
        if self.slow:
            self.hidden = self.slow.applied(self.plain)
        logp = log_softmax(p["read"][candidates] @ self.hidden + p["bias"][candidates])
        self.p = np.exp(logp)
        return logp

    def learn(self, truth: Array, now: int, step: float) -> None:
        """One step on −log p of what came; `step` scales it."""
        p, width, who = self.pattern, self.width, self.candidates
        rate = RATE_VALUES[learn.NETWORK] * step * slower(now)
        row_rate = RATE_VALUES[learn.NETWORK_ROWS] * step * slower(now)
        fresh = max(1e-5, 1.0 / (now + 1.0))
        error, read = self.p - truth, p["read"][who]
        p["moments"][:width] += fresh * (self.hidden**2 - p["moments"][:width])
        p["errors"][who] += fresh * (error**2 - p["errors"][who])
        scaled = rate * error / np.sqrt(p["errors"][who] + 1e-12)
        p["read"][who] -= np.outer(scaled, self.hidden / np.sqrt(p["moments"][:width] + 1e-6))
        p["bias"][who] -= scaled
        density = np.exp(-0.5 * self.before**2) / math.sqrt(2.0 * math.pi)
        delta = error @ read
        if self.slow:
            delta = self.slow.backward(self.plain, delta)
        delta = delta * (self.cumulative + self.before * density)
        p["moments"][width:] += fresh * (delta**2 - p["moments"][width:])
        delta = delta / np.sqrt(p["moments"][width:] + 1e-12)
        for i, row in enumerate(self.rows):
            p["inputs"][row] -= (rate if i < DELAY else row_rate) * delta
