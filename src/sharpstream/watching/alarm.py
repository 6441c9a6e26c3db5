"""When a line is unusual: its mean surprise against a running quantile of the recent lines.

An alert begins `margin` bits above the quantile and lasts until a line is less than half of that above it, so that a
stack trace is marked as a whole. Constant memory; the state is plain numbers and goes into the checkpoint.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Any

from sharpstream.watching.settings import WatchConfig


class Alarm:
    """Judges one line after another.

    >>> alarm = Alarm(WatchConfig(alert=1.0, alert_warmup=4))
    >>> [alarm.judge(bits) for bits in (8.0, 8.0, 2.0, 2.1, 3.2, 2.0)]
    [False, False, False, False, True, False]
    """

    def __init__(self, config: WatchConfig) -> None:
        self.margin, self.quantile = config.alert, config.alert_quantile
        self.warmup = config.alert_warmup
        self.seen = 0  # lines judged
        self.on = False  # the line before was an alert
        self._recent: deque[float] = deque(maxlen=config.alert_window)
        self._sorted: list[float] = []  # the same, in order

    @property
    def threshold(self) -> float | None:
        """The mean surprise at which an alert would begin now; None while warming up."""
        return None if self.seen < self.warmup else self._level() + self.margin

    def judge(self, bits: float) -> bool:
        """Whether a line of this mean surprise is an alert; then it counts among the recent ones."""
        if self.seen >= self.warmup:
            level = self._level()
            self.on = bits > level + (self.margin / 2 if self.on else self.margin)
        self._remember(bits)
        return self.on

    def _level(self) -> float:
        """The quantile: the smallest recent value that at least this share of them does not exceed."""
        return self._sorted[max(0, math.ceil(self.quantile * len(self._sorted)) - 1)] if self._sorted else 0.0

    def _remember(self, bits: float) -> None:
        self.seen += 1
        if self.seen <= self.warmup // 2:  # a newborn's surprise would hold the quantile up for long
            return
        if len(self._recent) == self._recent.maxlen:
            del self._sorted[bisect_left(self._sorted, self._recent[0])]
        self._recent.append(bits)
        insort(self._sorted, bits)

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"seen": self.seen, "on": self.on, "recent": list(self._recent)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`; of a larger window the latest lines are kept."""
        recent = [float(bits) for bits in state["recent"]]
        if not all(map(math.isfinite, recent)):
            raise ValueError("the recent lines' surprise is not finite")
        self._recent.extend(recent)
        self._sorted = sorted(self._recent)
        self.seen, self.on = int(state["seen"]), bool(state["on"])
