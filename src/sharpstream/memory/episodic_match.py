"""Verbatim recall: the stream itself in a ring, and where the last few symbols were read before.

Each match model looks its last `least` symbols up, verifies the place against what was read, and follows it: the symbol
there is expected next. A frozen pass follows and looks up, but writes neither ring nor index.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.memory.episodic_contexts import RECENT, mix

PLACE, LENGTH, MISSES = (
    0,
    1,
    2,
)  # columns of a match (int64): the place it stands at (−1: none), its length, last misses
MATCH_COLUMNS = 3
LONGEST = 65_535
LOW = np.uint64(0xFFFFFFFF)


@lean_kernel
def ring_symbol(ring: Array, size: Any, wide: bool, place: Any) -> Any:
    """The symbol read as number `place`; ring (size,) or (2·size,) uint8."""
    at = place % size
    if wide:
        return np.int64(ring[2 * at]) | (np.int64(ring[2 * at + 1]) << 8)
    return np.int64(ring[at])


@lean_kernel
def write_ring(ring: Array, size: Any, wide: bool, place: Any, symbol: Any) -> None:
    at = place % size
    if wide:
        ring[2 * at], ring[2 * at + 1] = symbol & 255, symbol >> 8
    else:
        ring[at] = symbol


@lean_kernel
def index_place(recent: Array, least: Any, entries: Any) -> Any:
    """Where the index keeps the place after the last `least` symbols."""
    h = np.uint64(least)
    for i in range(least):
        h = mix(h + np.uint64(0x632BE59BD9B4E019), np.uint64(recent[i] + 1))
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x9FB21C651E98DF25)
    return np.int64(((h >> np.uint64(32)) * np.uint64(entries)) >> np.uint64(32))


@lean_kernel
def match_length(ring: Array, size: Any, wide: bool, recent: Array, place: Any) -> Any:
    """How many symbols before `place` are those read last, at most 32."""
    length = 0
    while length < RECENT and length < place:
        if ring_symbol(ring, size, wide, place - 1 - length) != recent[length]:
            break
        length += 1
    return length


@lean_kernel
def follow(
    matches: Array, least: Array, ring: Array, index: Array, size: Any, wide: bool, recent: Array, symbol: Any,
    written: Any, learning: bool,
) -> Any:  # fmt: skip
    """After `symbol` (already the newest of recent): every match goes on or is looked for; the symbols now written.

    matches (M, 3) int64, least (M,), index (M, entries) uint32.
    """
    entries = index.shape[1]
    head = written
    if learning:
        write_ring(ring, size, wide, written, symbol)
        head += 1
    for m in range(len(matches)):
        place = matches[m, PLACE]
        if place >= 0:
            if ring_symbol(ring, size, wide, place) == symbol:
                matches[m, LENGTH] = min(matches[m, LENGTH] + 1, LONGEST)
                matches[m, MISSES] = (matches[m, MISSES] << 1) & 255
                place += 1
            else:
                matches[m, LENGTH] = 0
                matches[m, MISSES] = ((matches[m, MISSES] << 1) | 1) & 255
                place = np.int64(-1)
        if place >= head or (place >= 0 and head - place > size - 2 * RECENT):
            place = np.int64(-1)  # nothing was read after it, or it was overwritten
        at = index_place(recent, least[m], entries)
        if place < 0:
            stored = np.uint64(index[m, at])
            distance = np.int64((np.uint64(head) - stored) & LOW)
            if 0 < distance <= min(head, size - 2 * RECENT):
                length = match_length(ring, size, wide, recent, head - distance)
                if length >= least[m]:
                    place = head - distance
                    matches[m, LENGTH] = length
        matches[m, PLACE] = place
        if place < 0:
            matches[m, LENGTH] = 0
        if learning:
            index[m, at] = np.uint32(np.uint64(head) & LOW)
    return head
