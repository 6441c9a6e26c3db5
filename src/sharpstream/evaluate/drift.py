"""Representational drift: how far a learner's states for one fixed sequence move while it keeps learning.

In come the states of the same probe sequence at two moments, (N, H) each; out comes a distance. The `drift` study calls
this every 1000 steps; `DriftMeter` keeps the last states for it.
"""

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError

Real = npt.NDArray[np.float64]


def mean_distance(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """mean_t ‖after_t − before_t‖₂.

    >>> mean_distance([[0.0, 0.0], [1.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]])
    2.5
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if old.ndim != 2 or old.shape != new.shape or not old.size:
        raise ConfigError(f"states of shapes {old.shape} and {new.shape}: both must be the same (N, H), not empty")
    return float(np.linalg.norm(new - old, axis=1).mean())


class DriftMeter:
    """Distance from checkpoint to checkpoint, and from the first one.

    >>> meter = DriftMeter()
    >>> [meter.record(1000 * n, [[float(n)]]) for n in (1, 2, 4)]
    [None, 1.0, 2.0]
    """

    def __init__(self) -> None:
        self.times: list[int] = []  # of each distance below: the later of its two moments
        self.since_last: list[float] = []
        self.since_first: list[float] = []
        self._first: Real | None = None
        self._last: Real | None = None

    def record(self, time: int, states: npt.ArrayLike) -> float | None:
        """Take the probe sequence's states now; the distance since the last time, or None the first time."""
        now = np.array(states, dtype=np.float64)  # a copy: learners reuse their arrays
        distance = None
        if self._first is not None and self._last is not None:
            distance = mean_distance(self._last, now)
            self.times.append(int(time))
            self.since_last.append(distance)
            self.since_first.append(mean_distance(self._first, now))
        else:
            self._first = now
        self._last = now
        return distance
