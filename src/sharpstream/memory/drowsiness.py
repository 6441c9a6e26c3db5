"""When the memories ask for sleep: after every N wake steps, or when reconstruction gets worse than it has been.

One rule for both engines: the wake loop calls it compiled, the reference as it stands. (`idle` needs a wall clock, so
it belongs to whoever waits for input: they call `sleep()` themselves.)
"""

from sharpstream.config import SharpConfig
from sharpstream.kernels.jit import Array, kernel

NEVER, EVERY, NOVELTY = range(3)


def trigger_of(config: SharpConfig) -> int:
    """Which of the three a learner follows by itself."""
    by_itself = {"every": EVERY, "novelty": NOVELTY}
    return by_itself.get(config.sleep.trigger, NEVER) if config.learns_asleep else NEVER


@kernel
def drowsy(trigger: int, every: int, ratio: float, rest: int, since_sleep: Array, floor: Array, ema: float) -> bool:
    """Count one wake step in since_sleep (1,), keep the lowest EMA since sleep in floor (1,); whether to sleep now."""
    since_sleep[0] += 1
    if trigger == EVERY:
        return since_sleep[0] >= every
    if trigger != NOVELTY or since_sleep[0] <= rest:
        return False
    floor[0] = min(floor[0], ema)
    return ema > ratio * floor[0]
