"""House-keeping of the slots under a fixed budget: other rules than "the least counted gives way to every newcomer".

aged: a slot's strength halves while nobody visits it, so the stale give way; challenged: a newcomer takes the place of
a slot counted N times with chance 1/N²; said: no slot where the parent context has seen nothing else than this symbol,
and so says the same; thrifty: both; swept: what was seen once and is old is dropped in a sweep over all slots, asleep.
`learners/episodic_loop.py` asks `keep_slot` where a context has no slot.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.memory.episodic_contexts import mix
from sharpstream.memory.episodic_slots import CHECK, TOTAL, WAYS, claim_slot, last_visit

COUNTED, CHALLENGED, SAID, AGED, SWEPT = 0, 1, 2, 4, 8  # bits
RULES = {
    "counted": COUNTED, "challenged": CHALLENGED, "said": SAID, "thrifty": CHALLENGED | SAID, "aged": AGED,
    "swept": SWEPT,
}  # fmt: skip
SCALE = 20  # strength is total · 2^20
HALF_LIFE = 4  # turns; a context turns over in as many tokens as it has slots


@lean_kernel
def spread(clock: Any, draw: Any) -> Any:
    """A number in 0..2^31 − 1 that looks random, from the clock and the number of the draw: nothing to save."""
    z = mix(mix(np.uint64(clock) + np.uint64(0x632BE59BD9B4E019), np.uint64(draw)), np.uint64(clock))
    return np.int64(z >> np.uint64(33))


@lean_kernel
def least_total(slots: Array, bucket: Any, width: Any) -> Any:
    """The smallest total of a bucket; 0: there is a free slot."""
    least = np.int64(slots[bucket + TOTAL])
    for way in range(1, WAYS):
        least = min(least, np.int64(slots[bucket + way * width + TOTAL]))
    return least


@lean_kernel
def claim_aged(slots: Array, bucket: Any, width: Any, check: Any, now: Any, half: Any) -> Any:
    """A slot for a new context: the weakest of the bucket, the longest unvisited of equals, emptied."""
    chosen, least, oldest = bucket, np.int64(1) << 60, np.int64(-1)
    for way in range(WAYS):
        place = bucket + way * width
        age = (now - last_visit(slots, place)) & 0xFFFFFFFF
        strength = (np.int64(slots[place + TOTAL]) << SCALE) >> min(age // half, 60)
        if strength < least or (strength == least and age > oldest):
            chosen, least, oldest = place, strength, age
    for i in range(width):
        slots[chosen + i] = 0
    slots[chosen + CHECK] = check
    return chosen


@lean_kernel
def keep_slot(slots: Array, bucket: Any, width: Any, check: Any, rule: Any, now: Any, turn: Any, said: bool) -> Any:
    """A slot for a new context, or −1: it is not let in. turn: slots of the context; said: by its parent, already."""
    if rule == AGED:
        return claim_aged(slots, bucket, width, check, now, turn * HALF_LIFE)
    least = least_total(slots, bucket, width)
    if least > 0 and rule & CHALLENGED and spread(now, bucket) % (least * least) != 0:
        return np.int64(-1)
    if least > 0 and rule & SAID and said:
        return np.int64(-1)
    return claim_slot(slots, bucket, width, check)


@lean_kernel
def sweep(slots: Array, first: Array, buckets: Array, width: Array, now: Any) -> None:
    """Drop what was seen once and has not been visited for a turn of its context."""
    for k in range(len(first)):
        turn = buckets[k] * WAYS
        for slot in range(turn):
            place = first[k] + slot * width[k]
            if slots[place + TOTAL] == 1 and (now - last_visit(slots, place)) & 0xFFFFFFFF > turn:
                for i in range(width[k]):
                    slots[place + i] = 0
