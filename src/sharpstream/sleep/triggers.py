"""When to sleep: after every N wake steps, or when reconstruction gets worse than it has been.

(`idle` needs a wall clock, so it belongs to whoever waits for input: they call `sleep()` themselves.)
"""

import math
from dataclasses import dataclass

from sharpstream.config import SleepConfig


@dataclass
class Drowsiness:
    """How long the learner has been awake, and the lowest reconstruction EMA since the last sleep."""

    since_sleep: int = 0
    floor: float = math.inf

    def wake_step(self, config: SleepConfig, ema: float) -> bool:
        """Count one wake step; whether to sleep after it."""
        self.since_sleep += 1
        if config.trigger == "every":
            return self.since_sleep >= config.every
        if config.trigger != "novelty" or self.since_sleep <= config.novelty_rest:
            return False
        self.floor = min(self.floor, ema)
        return ema > config.novelty_ratio * self.floor

    def slept(self) -> None:
        """Start counting again."""
        self.since_sleep, self.floor = 0, math.inf
