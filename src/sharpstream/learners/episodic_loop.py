"""The episodic learner's compiled loop: predict, score, learn to read, remember.

`episodic.py` calls `read_stream` for learning and frozen scoring, `predict_row` for a whole distribution; a frozen pass
moves a copy of the cursor and writes nothing else.
"""

import math
from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.learners.episodic_arrays import Cursor, Memory, Pattern
from sharpstream.learners.episodic_desk import Desk
from sharpstream.learners.episodic_learn import NETWORK_TIME, SLOW, learn_to_read
from sharpstream.learners.episodic_read import (
    ESCAPE_P,
    FLOOR,
    KEEPING,
    MEAN_EVERY,
    MOST,
    ON_TAIL,
    REPLAY,
    RING_SIZE,
    SWEEP_EVERY,
    VOCABULARY,
    WIDE,
    forget_candidates,
    predict_next,
    probability,
    probability_before,
    read_whole_tail,
)
from sharpstream.learners.episodic_sleep import replay
from sharpstream.learners.episodic_tail import learn_tail
from sharpstream.memory.episodic_contexts import RECENT, address_contexts, advance
from sharpstream.memory.episodic_keeping import COUNTED, SWEPT, keep_slot, sweep
from sharpstream.memory.episodic_match import follow
from sharpstream.memory.episodic_slots import WAYS, claim_slot, write_slot
from sharpstream.pattern.episodic_mean import take_mean
from sharpstream.pattern.episodic_residual import address_rows
from sharpstream.pattern.episodic_slow import slow_step
from sharpstream.sleep.episodic_replay import Tags


@lean_kernel
def remember(memory: Memory, desk: Desk, sizes: Array, symbol: Any, now: Any) -> None:
    """Count the symbol in every context's slot, where it was found or in a new one."""
    wide = sizes[WIDE] != 0
    for k in range(len(desk.place)):
        place = desk.place[k]
        if place < 0 and sizes[KEEPING] == COUNTED:
            place = claim_slot(memory.slots, desk.held[0, k], memory.width[k], desk.held[1, k])
        elif place < 0:
            place = keep_slot(
                memory.slots, desk.held[0, k], memory.width[k], desk.held[1, k], sizes[KEEPING], now,
                memory.buckets[k] * WAYS, said_by_parent(memory, desk, k, symbol),
            )  # fmt: skip
            if place < 0:
                continue
        write_slot(memory.slots, place, memory.capacity[k], wide, symbol, memory.limit[k], now)
    if sizes[ON_TAIL] != 0:
        learn_tail(memory.tail, desk.trace, desk.reach, symbol)


@lean_kernel
def said_by_parent(memory: Memory, desk: Desk, k: Any, symbol: Any) -> bool:
    """Whether the parent context has a slot, and nothing but this symbol in it."""
    parent = memory.parent[k]
    return parent >= 0 and desk.place[parent] >= 0 and desk.distinct[parent] == 1 and desk.newest[parent] == symbol


@lean_kernel
def address_next(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk) -> None:
    address_contexts(
        cursor.features, memory.used, memory.first, memory.buckets, memory.bucket_size, memory.slots, desk.address,
        desk.check,
    )  # fmt: skip
    if len(pattern.residual_rows) > 0:
        address_rows(pattern.residual_rows, desk.address, desk.check, desk.residual_next)


@lean_kernel
def move_on(
    memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, symbol: Any, learning: bool
) -> None:
    """The past takes the symbol in, and the slots of the next prediction are asked for."""
    advance(cursor.recent, cursor.word, cursor.features, memory.kinds, memory.folded, symbol)
    cursor.fill[0] = min(cursor.fill[0] + 1, RECENT)
    cursor.clock[1] = follow(
        cursor.matches, memory.least, memory.ring, memory.places, sizes[RING_SIZE], sizes[WIDE] != 0, cursor.recent,
        symbol, cursor.clock[1], learning,
    )  # fmt: skip
    for k in range(len(desk.address)):
        desk.held[0, k], desk.held[1, k] = desk.address[k], desk.check[k]
    address_next(memory, pattern, cursor, desk)


@lean_kernel
def move_slow_level(pattern: Pattern, cursor: Cursor, rates: Array, now: Any, learning: bool) -> None:
    """The slow level takes the token in; as the network, it learns more slowly as time goes on."""
    rate = rates[SLOW] / math.sqrt(1.0 + now / rates[NETWORK_TIME])
    slow_step(
        cursor.recent, cursor.slow_trace, cursor.slow_averages, cursor.slow_standing, cursor.slow_film,
        cursor.slow_ticks, pattern.slow_weights, pattern.slow_pending, pattern.slow_moments, pattern.slow_usual,
        pattern.slow_learned, rate, learning,
    )  # fmt: skip


@lean_kernel
def read_stream(
    memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, rates: Array, tokens: Array,
    learning: bool, bits: Array, correct: Array, tags: Tags, asleep: Array,
) -> Any:  # fmt: skip
    """Score each token, and learn from it if asked; how many went well: it ends where a probability is no number.

    `correct` is filled when it is as long as the tokens.
    """
    address_next(memory, pattern, cursor, desk)
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
        move_on(memory, pattern, cursor, desk, sizes, symbol, learning)
        if learning:
            learn_to_read(memory, pattern, cursor, desk, sizes, rates, now, count, symbol)
            remember(memory, desk, sizes, symbol, now + 1)
            if sizes[KEEPING] == SWEPT and (now + 1) % sizes[SWEEP_EVERY] == 0:
                sweep(memory.slots, memory.first, memory.buckets, memory.width, now + 1)
        target = desk.place_of[symbol]
        forget_candidates(desk, sizes, count)
        if learning and sizes[REPLAY] != 0:
            replay(pattern, cursor, desk, tags, sizes, asleep, now, count, target, bits[t])
        if len(cursor.slow_film) > 0:
            move_slow_level(pattern, cursor, rates, now, learning)
        if learning and sizes[MEAN_EVERY] > 0 and (now + 1) % sizes[MEAN_EVERY] == 0:
            take_mean(
                pattern.mean_looks, pattern.weights, pattern.finals, pattern.inputs, pattern.read, pattern.bias,
                pattern.mean_weights, pattern.mean_finals, pattern.mean_inputs, pattern.mean_read, pattern.mean_bias,
            )  # fmt: skip
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
        read_whole_tail(memory, desk, sizes)
        for symbol in range(sizes[VOCABULARY]):
            if desk.place_of[symbol] < 0:
                p = probability_before(pattern, desk, sizes, symbol, desk.behind[symbol])
                if p > most:
                    best, most = np.int64(symbol), p
    return best


@lean_kernel
def predict_row(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, row: Array) -> None:
    """The whole distribution, (V,)."""
    address_next(memory, pattern, cursor, desk)
    count = predict_next(memory, pattern, cursor, desk, sizes)
    read_whole_tail(memory, desk, sizes)
    for symbol in range(len(row)):
        row[symbol] = probability_before(pattern, desk, sizes, symbol, desk.behind[symbol])
    forget_candidates(desk, sizes, count)
