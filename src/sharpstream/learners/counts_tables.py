"""The fixed-size tables of the count model: contexts by 64-bit key, and one cell per (context, symbol) seen.

A bucket has four places. When it is full the entry counted least gives way, and what it held is taken out of its
context's totals, so that probabilities always sum to one: nothing is mixed silently. `counts_kernels.py`
calls this. Helpers take single arrays and index them directly: tuples and row views cost three quarters of the speed.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharpstream.kernels.jit import kernel

Array = npt.NDArray[Any]
BUCKET = 4  # cells of 16 bytes: one cache line
FULL = 0xFFFFFFFF  # a context that has counted so much learns no more

# Columns of a context (uint32). The stamp is given when the context enters and is never reused in practice, so cells of
# a context that has left match nobody; 0 marks an empty place. ONES, TWOS, MORE: symbols counted once, twice, oftener.
KEY_HIGH, KEY_LOW, STAMP, TOTAL, ONES, TWOS, MORE = 0, 1, 2, 3, 4, 5, 6
CONTEXT_COLUMNS = 8  # 32 bytes, so that none straddles a cache line
# Columns of a cell (uint32): whose it is (stamp and place of the context), which symbol, how often. 0 counts: empty.
OF, OWNER, SYMBOL, COUNT = 0, 1, 2, 3
CELL_COLUMNS = 4
OBSERVED, FILL, STAMPS, EVICTED = 0, 1, 2, 3  # counters: tokens, tokens in the history, stamps given, entries lost
NO_CELL, UNLISTED = -1, -2  # `newest` of a context that has no cell; of one that lost a cell, whose list is broken


class Tables(NamedTuple):
    """Everything the count model knows."""

    contexts: Array  # (C + 1, 8) uint32; the last row is the empty context (order 0), outside every bucket
    cells: Array  # (N, 4) uint32
    unigram: Array  # (V,) uint32: the cells of the empty context
    discounts: Array  # (order + 1, 3) float64: taken from counts of 1, 2, 3 and more
    slopes: Array  # (order + 1, 3) float64: sums of squared gradients of the discounts
    history: Array  # (order,) int64, newest first
    counters: Array  # (4,) int64
    newest: Array  # (C + 1,) int64: a context's newest cell, NO_CELL or UNLISTED; (0,) where cells are not listed
    older: Array  # (N,) int64: the cell listed before this one in the same context


@kernel
def scramble(z: Any) -> Any:
    """A bijection of 64-bit numbers that spreads every bit (multiply and fold, twice)."""
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    z = (z ^ (z >> np.uint64(29))) * np.uint64(0x9FB21C651E98DF25)
    return z ^ (z >> np.uint64(32))


@kernel
def context_keys(history: Array, depth: int, keys: Array) -> None:
    """keys[o] names the context of the last o tokens; one chain serves all orders, newest token first."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for order in range(1, depth + 1):
        h = scramble(h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(history[order - 1] + 1))
        keys[order] = h


@kernel
def context_bucket(contexts: Array, key: Any) -> Any:
    return np.int64(key & np.uint64(len(contexts) - 1 - BUCKET))  # C is a power of two: C − 4 masks a bucket


@kernel
def cell_bucket(cells: Array, stamp: Any, symbol: Any) -> Any:
    mixed = scramble((np.uint64(stamp) << np.uint64(32)) | np.uint64(symbol))
    return np.int64(mixed & np.uint64(len(cells) - BUCKET))


@kernel
def find_context(contexts: Array, key: Any) -> Any:
    """The context's place, or −1."""
    start = context_bucket(contexts, key)
    high, low = np.uint32(key >> np.uint64(32)), np.uint32(key & np.uint64(FULL))
    for place in range(start, start + BUCKET):
        if contexts[place, KEY_LOW] == low and contexts[place, KEY_HIGH] == high and contexts[place, STAMP] != 0:
            return place
    return np.int64(-1)


@kernel
def find_cell(cells: Array, stamp: Any, slot: Any, symbol: Any) -> Any:
    """The place of the symbol's cell in the context at `slot`, whose stamp is given, or −1."""
    start = cell_bucket(cells, stamp, symbol)
    for place in range(start, start + BUCKET):
        if (
            cells[place, OF] == stamp
            and cells[place, SYMBOL] == symbol
            and cells[place, OWNER] == slot
            and cells[place, COUNT] != 0
        ):
            return place
    return np.int64(-1)


@kernel
def count_of(contexts: Array, cells: Array, unigram: Array, slot: Any, symbol: Any) -> Any:
    """How often the symbol followed the context at `slot`."""
    if slot == len(contexts) - 1:
        return np.int64(unigram[symbol])
    place = find_cell(cells, contexts[slot, STAMP], slot, symbol)
    return np.int64(cells[place, COUNT]) if place >= 0 else np.int64(0)


@kernel
def grade(count: Any) -> Any:
    """Counts of 1, 2, and 3 or more are discounted apart: 1, 2, 3."""
    return min(count, 3)


@kernel
def add_context(contexts: Array, counters: Array, newest: Array, key: Any) -> Any:
    """A place for a new context: an empty one, else that of the bucket's least counted, whose cells thereby die."""
    start = context_bucket(contexts, key)
    chosen = start
    for place in range(start, start + BUCKET):
        if contexts[place, STAMP] == 0:
            chosen = place
            break
        if contexts[place, TOTAL] < contexts[chosen, TOTAL]:
            chosen = place
    if contexts[chosen, STAMP] != 0:
        counters[EVICTED] += 1
    for column in range(CONTEXT_COLUMNS):
        contexts[chosen, column] = 0
    contexts[chosen, KEY_HIGH] = np.uint32(key >> np.uint64(32))
    contexts[chosen, KEY_LOW] = np.uint32(key & np.uint64(FULL))
    contexts[chosen, STAMP] = np.uint32(counters[STAMPS] % FULL + 1)
    counters[STAMPS] += 1
    if len(newest):
        newest[chosen] = NO_CELL
    return chosen


@kernel
def add_cell(contexts: Array, cells: Array, counters: Array, newest: Array, slot: Any, symbol: Any) -> Any:
    """A place for a new cell, counting 0 as yet: a dead one, else that of the bucket's least counted."""
    stamp = contexts[slot, STAMP]
    start = cell_bucket(cells, stamp, symbol)
    chosen, free = start, False
    for place in range(start, start + BUCKET):
        # dead: empty, or of a context that has left
        if cells[place, COUNT] == 0 or contexts[cells[place, OWNER], STAMP] != cells[place, OF]:
            chosen, free = place, True
            break
        if cells[place, COUNT] < cells[chosen, COUNT]:
            chosen = place
    if not free:
        owner, count = cells[chosen, OWNER], np.int64(cells[chosen, COUNT])
        contexts[owner, TOTAL] -= count
        contexts[owner, ONES + grade(count) - 1] -= 1
        counters[EVICTED] += 1
        if len(newest):
            newest[owner] = UNLISTED
    cells[chosen, OF], cells[chosen, OWNER] = stamp, slot
    cells[chosen, SYMBOL], cells[chosen, COUNT] = symbol, 0
    return chosen


@kernel
def list_cell(newest: Array, older: Array, slot: Any, place: Any) -> None:
    """Put a cell that counts for the first time into its context's list, where lists are kept."""
    if len(newest) and newest[slot] != UNLISTED:
        older[place] = newest[slot]
        newest[slot] = place


@kernel
def list_all(contexts: Array, cells: Array, newest: Array, older: Array) -> None:
    """The lists of all contexts, from the cells alone: a state that comes in does not carry them."""
    newest[:] = NO_CELL
    for place in range(len(cells)):
        owner = cells[place, OWNER]
        if cells[place, COUNT] != 0 and contexts[owner, STAMP] == cells[place, OF]:
            list_cell(newest, older, owner, place)


@kernel
def count_once(contexts: Array, slot: Any, count: Any) -> None:
    """The context's totals when one of its symbols goes from `count` to `count` + 1."""
    contexts[slot, TOTAL] += 1
    if count < 3:
        contexts[slot, ONES + count] += 1
        if count > 0:
            contexts[slot, ONES + count - 1] -= 1


def make_tables(order: int, vocabulary: int, table_bits: int, *, listed: bool) -> Tables:
    """Empty tables: 2^bits cells and half as many contexts (the fewest that make sense when there are none).

    `listed`: each context also knows its cells, so that a whole distribution need not look up every symbol.
    """
    cells = 1 << table_bits if order > 0 else BUCKET
    contexts = max(cells // 2, BUCKET) + 1
    return Tables(
        contexts=np.zeros((contexts, CONTEXT_COLUMNS), dtype=np.uint32),
        cells=np.zeros((cells, CELL_COLUMNS), dtype=np.uint32),
        unigram=np.zeros(vocabulary, dtype=np.uint32),
        discounts=np.zeros((max(order, 0) + 1, 3)),
        slopes=np.zeros((max(order, 0) + 1, 3)),
        history=np.zeros(max(order, 0), dtype=np.int64),
        counters=np.zeros(4, dtype=np.int64),
        newest=np.full(contexts if listed else 0, NO_CELL, dtype=np.int64),
        older=np.zeros(cells if listed else 0, dtype=np.int64),
    )
