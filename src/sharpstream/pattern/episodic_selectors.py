"""Which weights each mixer uses now: sixteen selectors, each a function of what was found and of the last symbols.

A selector gives a row of the mixers' weights. Sizes do not depend on the vocabulary; what does not fit is hashed.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.pattern.episodic_states import DISTINCT_LEVEL, TOTAL_LEVEL

SIZES = (64, 2048, 256, 2048, 256, 1024, 8, 4096, 256, 1024, 512, 256, 2048, 1024, 256, 512)  # rows of each selector
STARTS = np.concatenate([[0], np.cumsum(SIZES)]).astype(np.int64)
ROWS = int(STARTS[-1])
FINAL_LANES = (0, 5, 2, 4)  # the selectors that the final mixers use, too
ORDERS = 7  # roles 0..6 are orders 1..7, then the current word and the last two words
WORD, PAIR, TRIPLE = 7, 8, 9
ROLES = 10
MATCH_LEVELS = 16


@lean_kernel
def match_level(length: Any) -> Any:
    """16 levels of a match's length, 0: none."""
    if length < 16:
        return (length + 1) // 2
    if length < 32:
        return 8 + (length - 16) // 4
    return 12 if length < 64 else (13 if length < 128 else (14 if length < 512 else 15))


@lean_kernel
def slot_state(total: Any, distinct: Any) -> Any:
    """0 no slot, 1 one symbol seen once, 2 one symbol, 3 several."""
    if total == 0:
        return 0
    if distinct > 1:
        return 3
    return 1 if total == 1 else 2


@lean_kernel
def hashed(value: Any, size: Any) -> Any:
    """A number as a row, spread over `size` rows (a power of two)."""
    z = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((z >> np.uint64(40)) & np.uint64(size - 1))


@lean_kernel
def choose_rows(
    recent: Array, features: Array, word_at: Any, position: Any, roles: Array, totals: Array, distinct: Array,
    newest: Array, ages: Array, length: Any, expected: Any, vocabulary: Any, rows: Array,
) -> None:  # fmt: skip
    """rows (8,): the row of each mixer. `length` and `expected` are of the longest match (expected −1: none)."""
    longest, sure, pattern, power = 0, 0, 0, 1
    for n in range(ORDERS):
        k = roles[n]
        state = slot_state(totals[k], distinct[k]) if k >= 0 else 0
        if state > 0:
            longest, sure = n + 1, int(state < 3)
        if n >= 2:
            pattern += power * (0 if state == 0 else (1 if state < 3 else 2))
            power *= 3
    level = match_level(length)
    word = slot_state(totals[roles[WORD]], distinct[roles[WORD]]) if roles[WORD] >= 0 else 0
    pair = slot_state(totals[roles[PAIR]], distinct[roles[PAIR]]) if roles[PAIR] >= 0 else 0
    two = recent[0] * vocabulary + recent[1]
    rows[0] = STARTS[0] + (longest * 4 + min((level + 2) // 4, 3)) * 2 + sure
    rows[1] = STARTS[1] + (two if two < 2048 and vocabulary <= 45 else hashed(two + 1, 2048))
    rows[2] = STARTS[2] + (min(position, 15) * 4 + word) * 4 + pair
    rows[3] = STARTS[3] + (level // 2) * 256 + ((expected + 1) & 255)
    rows[4] = STARTS[4] + pattern
    rows[5] = STARTS[5] + (recent[0] if vocabulary <= 1024 else hashed(recent[0] + 1, 1024))
    rows[6] = STARTS[6]
    rows[7] = STARTS[7] + hashed(two * vocabulary + recent[2] + 1, 4096)
    triple = slot_state(totals[roles[TRIPLE]], distinct[roles[TRIPLE]]) if roles[TRIPLE] >= 0 else 0
    sixth = slot_state(totals[roles[5]], distinct[roles[5]]) if roles[5] >= 0 else 0
    rows[8] = STARTS[8] + ((word * 4 + pair) * 4 + triple) * 4 + sixth
    rows[9] = STARTS[9] + min(position, 15) * 64 + (recent[0] if vocabulary <= 64 else hashed(recent[0] + 1, 64))
    several = 0
    for n in range(1, 4):
        k = roles[n]
        several = several * 8 + (0 if k < 0 or totals[k] == 0 else DISTINCT_LEVEL[distinct[k]] + 1)
    rows[10] = STARTS[10] + several
    rows[11] = (
        STARTS[11]
        + (longest * 16 + (0 if longest == 0 else TOTAL_LEVEL[min(totals[roles[longest - 1]], 1023)])) * 2
        + sure
    )
    rows[12] = STARTS[12] + hashed(np.int64(features[word_at] >> np.uint64(20)), 2048)
    rows[13] = STARTS[13] + hashed(recent[1] * vocabulary + recent[2] + 1, 1024)
    agree, leader = 0, -1 if longest == 0 else newest[roles[longest - 1]]
    for n in range(1, ORDERS):
        agree = agree * 2 + int(roles[n] >= 0 and leader >= 0 and newest[roles[n]] == leader)
    agree = agree * 2 + int(roles[WORD] >= 0 and leader >= 0 and newest[roles[WORD]] == leader)
    agree = agree * 2 + int(expected >= 0 and expected == leader)
    rows[14] = STARTS[14] + agree
    aged = 0
    for n in (3, 5, WORD):
        aged = aged * 8 + (0 if roles[n] < 0 else min((ages[roles[n]] + 2) // 3, 7))
    rows[15] = STARTS[15] + aged
