"""What the episodic learner keeps for its sleep: tags, each the inputs of one prediction and the symbol that came.

A tag is latent: what slots, matches and network said at the time, so that nothing is looked up again in a memory that
has seen the answer since. `learners/episodic_sleep.py` lays tags on the desk and learns from them; here is where a tag
goes and which tags are drawn. Draws are a hash of the clock: there is no generator to save.
"""

from typing import Any, NamedTuple

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.memory.episodic_keeping import spread

NONE, UNIFORM, RECENT, SURPRISING, AGAIN = range(5)  # what is replayed
CHOICES = {"none": NONE, "uniform": UNIFORM, "recent": RECENT, "surprising": SURPRISING, "again": AGAIN}
MIXERS, NETWORK = 1, 2  # who learns asleep: bits
LEARNERS = {"both": MIXERS | NETWORK, "mixers": MIXERS, "network": NETWORK}
ASKED, STORED = 0, 1  # counts: tokens that could have been tagged, tags ever stored
SURPRISE = 2.0  # a token is surprising when its bits are this many times the running mean
KEEP = 0.999  # of that mean, per token


class Tags(NamedTuple):
    """What is kept for sleep; without sleep every array but the first two is empty."""

    counts: Array  # (2,) int64
    mean: Array  # (1,) float64: running mean of bits
    whole: Array  # (tags · whole numbers,) int32
    real: Array  # (tags · real numbers,)


@lean_kernel
def is_surprising(mean: Array, bits: Any) -> Any:
    """Whether these bits stand out; then the running mean takes them in."""
    surprising = bits > SURPRISE * mean[0]
    mean[0] += (1.0 - KEEP) * (bits - mean[0])
    return surprising


@lean_kernel
def place_of_tag(counts: Array, mean: Array, tags: Any, choice: Any, bits: Any) -> Any:
    """Where this token's tag goes, or −1: it is not kept.

    uniform: a reservoir, every token of the past is as likely to be in it; recent: the last ones; surprising: the last
    of those that stood out.
    """
    if choice == SURPRISING and not is_surprising(mean, bits):
        return np.int64(-1)
    asked, place = counts[ASKED], counts[STORED] % tags
    counts[ASKED] = asked + 1
    if choice == UNIFORM and asked >= tags:
        place = spread(asked, -1) % (asked + 1)
        if place >= tags:
            return np.int64(-1)
    counts[STORED] += 1
    return place


@lean_kernel
def drawn(counts: Array, tags: Any, clock: Any, draw: Any) -> Any:
    """A tag by chance, each as likely."""
    return spread(clock, draw) % min(counts[STORED], tags)


@lean_kernel
def is_due(clock: Any, every: Any, replays: Any) -> Any:
    """Whether this token is one of the `replays` of `every` that are learned from twice, evenly spread."""
    return (clock * replays) // every != ((clock + 1) * replays) // every
