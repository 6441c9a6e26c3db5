"""Sparse slots: what followed a context, as a few (symbol, count) pairs, most recent first.

One flat array of 16-bit numbers holds every slot of every context. A slot is time of last visit (2), check, total N,
distinct D, then its pairs: one number for V ≤ 256 (symbol and 8-bit count), two for larger vocabularies. Four slots
make a bucket; where none is free the least counted gives way. `learners/episodic_loop.py` calls this.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel

WAYS = 4  # slots in a bucket
TIME_LOW, TIME_HIGH, CHECK, TOTAL, DISTINCT, PAIRS = 0, 1, 2, 3, 4, 5  # 16-bit numbers of a slot
MOST = 255  # of a count, and of distinct symbols


@lean_kernel
def find_slot(slots: Array, bucket: Any, width: Any, check: Any) -> Any:
    """Where the context's slot begins, or −1."""
    for way in range(WAYS):
        place = bucket + way * width
        if slots[place + CHECK] == check and slots[place + TOTAL] != 0:
            return place
    return np.int64(-1)


@lean_kernel
def last_visit(slots: Array, place: Any) -> Any:
    return np.int64(slots[place + TIME_LOW]) | (np.int64(slots[place + TIME_HIGH]) << 16)


@lean_kernel
def claim_slot(slots: Array, bucket: Any, width: Any, check: Any) -> Any:
    """A slot for a new context: the least counted of the bucket, the longest unvisited of equals, emptied."""
    chosen, least, oldest = bucket, np.int64(1 << 40), np.int64(0)
    for way in range(WAYS):
        place = bucket + way * width
        total, visited = np.int64(slots[place + TOTAL]), last_visit(slots, place)
        if total < least or (total == least and visited < oldest):
            chosen, least, oldest = place, total, visited
    for i in range(width):
        slots[chosen + i] = 0
    slots[chosen + CHECK] = check
    return chosen


@lean_kernel
def read_pairs(slots: Array, place: Any, capacity: Any, wide: bool, symbols: Array, counts: Array, at: Any) -> Any:
    """Copy a slot's pairs into symbols and counts from `at` on; where they end."""
    for j in range(capacity):
        if wide:
            count = np.int64(slots[place + PAIRS + 2 * j + 1])
            symbol = np.int64(slots[place + PAIRS + 2 * j])
        else:
            pair = np.int64(slots[place + PAIRS + j])
            count, symbol = pair & 255, pair >> 8
        if count == 0:
            break
        symbols[at], counts[at] = symbol, count
        at += 1
    return at


@lean_kernel
def write_slot(slots: Array, place: Any, capacity: Any, wide: bool, symbol: Any, limit: Any, now: Any) -> None:
    """Count a symbol in a slot: it moves to the front; on overflow the smallest count, the oldest of equals, leaves."""
    slots[place + TIME_LOW], slots[place + TIME_HIGH] = now & 0xFFFF, (now >> 16) & 0xFFFF
    step = 2 if wide else 1
    base = place + PAIRS
    at, count, least, weakest = capacity, np.int64(0), np.int64(1 << 20), 0
    for j in range(capacity):
        here = np.int64(slots[base + step * j + 1]) if wide else np.int64(slots[base + j]) & 255
        if here == 0:
            at = j
            break
        owner = np.int64(slots[base + 2 * j]) if wide else np.int64(slots[base + j]) >> 8
        if owner == symbol:
            at, count = j, here
            break
        if here <= least:
            least, weakest = here, j
    total = np.int64(slots[place + TOTAL])
    if count == 0:
        if at == capacity:
            at = weakest
            total -= least
        if slots[place + DISTINCT] < MOST:
            slots[place + DISTINCT] += 1
    for j in range(at, 0, -1):
        for i in range(step):
            slots[base + step * j + i] = slots[base + step * (j - 1) + i]
    if wide:
        slots[base], slots[base + 1] = symbol, count + 1
    else:
        slots[base] = (symbol << 8) | (count + 1)
    total += 1
    if count + 1 >= limit:
        total = halve(slots, base, capacity, wide)
    slots[place + TOTAL] = total


@lean_kernel
def halve(slots: Array, base: Any, capacity: Any, wide: bool) -> Any:
    """Every count by half, none below 1; the new total."""
    total = np.int64(0)
    for j in range(capacity):
        if wide:
            count = np.int64(slots[base + 2 * j + 1])
        else:
            count = np.int64(slots[base + j]) & 255
        if count == 0:
            break
        half: Any = max(count >> 1, 1)
        total += half
        if wide:
            slots[base + 2 * j + 1] = half
        else:
            slots[base + j] = (np.int64(slots[base + j]) - count) + half
    return total
