"""The random numbers of sleep, from a counter-based generator: a pure function of (seed, which sleep, what for).

Nothing of a generator has to be saved: a resumed run counts its sleeps and draws the same numbers.
"""

import numpy as np
import numpy.typing as npt

Draws = npt.NDArray[np.float64]


def _generator(seed: int, sleeps: int, level: int, tag: int) -> np.random.Generator:
    # Philox's 256-bit counter: its top word names the sleep and the next one the level and tag, so that no two
    # purposes ever share numbers; the low words count the draws.
    counter = np.array([0, 0, (level << 32) | tag, sleeps], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=seed, counter=counter))


def replay_draws(seed: int, sleeps: int, steps: int, tags: int) -> Draws:
    """Uniforms in [0, 1) that choose the replayed tokens, (R, tags)."""
    return _generator(seed, sleeps, 0, 0).random((steps, tags))


def window_noise(seed: int, sleeps: int, level: int, tag: int, windows: int, window: int, width: int) -> Draws:
    """Standard normals for the input windows of one tag at one level, (windows, T, H)."""
    return _generator(seed, sleeps, level, tag + 1).standard_normal((windows, window, width))


def windows_per_tag(replay_length: int, acceleration: int, level: int, window: int) -> int:
    """How many full T-windows one tag gives to level k: a push every α^(k−1) steps, the first T−1 only fill."""
    return max(0, replay_length // acceleration ** (level - 1) - window + 1)
