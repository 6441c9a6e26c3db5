"""The episodic learner's compiled loop: predict, score, learn to read, remember.

`episodic.py` calls `read_stream` for learning and frozen scoring, `predict_row` for a whole distribution; a frozen pass
moves a copy of the cursor and writes nothing else.
"""

import math
from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.learners.episodic_arrays import Cursor, Desk, Memory, Pattern
from sharpstream.learners.episodic_learn import learn_to_read
from sharpstream.learners.episodic_read import (
    ESCAPE_P,
    FLOOR,
    MOST,
    ON_TAIL,
    RING_SIZE,
    VOCABULARY,
    WIDE,
    forget_candidates,
    predict_next,
    probability,
)
from sharpstream.learners.episodic_tail import learn_tail
from sharpstream.memory.episodic_contexts import RECENT, address_contexts, advance
from sharpstream.memory.episodic_match import follow
from sharpstream.memory.episodic_slots import claim_slot, write_slot


@lean_kernel
def remember(memory: Memory, desk: Desk, sizes: Array, symbol: Any, now: Any) -> None:
    """Count the symbol in every context's slot, where it was found or in a new one."""
    wide = sizes[WIDE] != 0
    for k in range(len(desk.place)):
        place = desk.place[k]
        if place < 0:
            place = claim_slot(memory.slots, desk.held[0, k], memory.width[k], desk.held[1, k])
        write_slot(memory.slots, place, memory.capacity[k], wide, symbol, memory.limit[k], now)
    if sizes[ON_TAIL] != 0:
        learn_tail(memory.tail, desk.trace, desk.reach, symbol)


@lean_kernel
def address_next(memory: Memory, cursor: Cursor, desk: Desk) -> None:
    address_contexts(
        cursor.features, memory.used, memory.first, memory.buckets, memory.bucket_size, memory.slots, desk.address,
        desk.check,
    )  # fmt: skip


@lean_kernel
def move_on(memory: Memory, cursor: Cursor, desk: Desk, sizes: Array, symbol: Any, learning: bool) -> None:
    """The past takes the symbol in, and the slots of the next prediction are asked for."""
    advance(cursor.recent, cursor.word, cursor.features, memory.kinds, memory.folded, symbol)
    cursor.fill[0] = min(cursor.fill[0] + 1, RECENT)
    cursor.clock[1] = follow(
        cursor.matches, memory.least, memory.ring, memory.places, sizes[RING_SIZE], sizes[WIDE] != 0, cursor.recent,
        symbol, cursor.clock[1], learning,
    )  # fmt: skip
    for k in range(len(desk.address)):
        desk.held[0, k], desk.held[1, k] = desk.address[k], desk.check[k]
    address_next(memory, cursor, desk)


@lean_kernel
def read_stream(
    memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, rates: Array, tokens: Array,
    learning: bool, bits: Array, correct: Array,
) -> Any:  # fmt: skip
    """Score each token, and learn from it if asked; how many went well: it ends where a probability is no number.

    `correct` is filled when it is as long as the tokens.
    """
    address_next(memory, cursor, desk)
    for t in range(len(tokens)):
        symbol, now = np.int64(tokens[t]), cursor.clock[0]
        count = predict_next(memory, pattern, cursor, desk, sizes)
        p = probability(memory, pattern, desk, sizes, symbol)
        if not p > 0.0:
            forget_candidates(desk, sizes, count)
            return t
        bits[t] = -math.log2(p)
        if len(correct):
            correct[t] = best_symbol(memory, pattern, desk, sizes, count) == symbol
        move_on(memory, cursor, desk, sizes, symbol, learning)
        if learning:
            learn_to_read(memory, pattern, desk, sizes, rates, now, count, symbol)
            remember(memory, desk, sizes, symbol, now + 1)
        forget_candidates(desk, sizes, count)
        cursor.clock[0] = now + 1
    return len(tokens)


@lean_kernel
def best_symbol(memory: Memory, pattern: Pattern, desk: Desk, sizes: Array, count: Any) -> Any:
    """The most probable symbol, the first of equals; the escaped are asked only where one of them could be it."""
    best, most = np.int64(-1), -1.0
    for c in range(count):
        p = probability(memory, pattern, desk, sizes, desk.candidates[c])
        if p > most or (p == most and desk.candidates[c] < best):
            best, most = desk.candidates[c], p
    if sizes[MOST] != sizes[VOCABULARY] and desk.numbers[ESCAPE_P] + FLOOR >= most:
        for symbol in range(sizes[VOCABULARY]):
            if desk.place_of[symbol] < 0:
                p = probability(memory, pattern, desk, sizes, symbol)
                if p > most:
                    best, most = np.int64(symbol), p
    return best


@lean_kernel
def predict_row(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, row: Array) -> None:
    """The whole distribution, (V,)."""
    address_next(memory, cursor, desk)
    count = predict_next(memory, pattern, cursor, desk, sizes)
    for symbol in range(len(row)):
        row[symbol] = probability(memory, pattern, desk, sizes, symbol)
    forget_candidates(desk, sizes, count)
