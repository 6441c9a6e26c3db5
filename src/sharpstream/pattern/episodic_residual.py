"""The residual: one more linear model, which learns what the whole prediction got wrong.

Every other part of the episodic learner learns by its own error. Here each entry of the state tables has a second value
and each context a hashed row of weights by symbol; their sum stands before every mixer, and takes its steps along the
error of the final prediction. `learners/episodic_read.py` and `episodic_learn.py` call this.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.prefetch import prefetch
from sharpstream.pattern.episodic_states import learn_state, state_value

ROW = 32  # numbers in a row: weights, and last the sum of squared errors
PLACES = ROW - 1  # weights in a row: symbol s has place s mod 31, so up to 31 symbols share none
LINE = 16  # 32-bit numbers in a cache line


@lean_kernel
def address_rows(table: Array, address: Array, check: Array, rows: Array) -> None:
    """rows (K,) ← where each context's row begins, by what addresses its slot; asks the memory for it."""
    each = len(table) // ROW // len(rows)
    for k in range(len(rows)):
        z = (np.uint64(address[k]) * np.uint64(65_536) + np.uint64(check[k])) * np.uint64(0x9E3779B97F4A7C15)
        place = ((z >> np.uint64(32)) * np.uint64(each)) >> np.uint64(32)
        rows[k] = (k * each + np.int64(place)) * ROW
        for line in range(0, ROW, LINE):
            prefetch(table, rows[k] + line)


@lean_kernel
def read_residual(
    states: Array, table: Array, rows: Array, place: Array, first: Array, entries: Array, candidate: Array,
    candidates: Array, count: Any, by_place: Array, residual: Array, with_states: bool,
) -> None:  # fmt: skip
    """residual (count,) ← one logit a candidate; entries: of the state tables; by_place (32,) is scratch."""
    for i in range(ROW):
        by_place[i] = 0
    for k in range(len(rows)):
        row = table[rows[k] : rows[k] + ROW]
        for i in range(ROW):
            by_place[i] += row[i]
    for c in range(count):
        residual[c] = by_place[candidates[c] % PLACES]
    if not with_states:
        return
    for k in range(len(rows)):
        if place[k] < 0:
            continue
        own = entries[3 * k :]
        absent = state_value(states, own, first[k + 1])
        for e in range(first[k], first[k + 1]):
            if candidate[e] >= 0:
                residual[candidate[e]] += state_value(states, own, e) - absent


@lean_kernel
def learn_residual(
    states: Array, table: Array, rows: Array, place: Array, first: Array, entries: Array, candidate: Array,
    candidates: Array, p: Array, count: Any, target: Any, rate: Any, row_rate: Any, by_place: Array, error: Array,
    with_states: bool,
) -> None:  # fmt: skip
    """One Adagrad step along the error of p (count,), the whole prediction; a row has one sum of squares for all."""
    real = table.dtype.type
    for i in range(ROW):
        by_place[i] = 0
    for c in range(count):
        error[c] = real(p[c]) - real(c == target)
        by_place[candidates[c] % PLACES] += error[c]
    squares = real(0)
    for i in range(ROW):
        squares += by_place[i] * by_place[i]
    for k in range(len(rows)):
        row = table[rows[k] : rows[k] + ROW]
        grown = row[PLACES] + squares
        step = row_rate / np.sqrt(grown + real(1))
        for i in range(ROW):
            row[i] -= step * by_place[i]
        row[PLACES] = grown
    if not with_states:
        return
    for k in range(len(rows)):
        if place[k] < 0:
            continue
        absent, own = real(0), entries[3 * k :]
        for e in range(first[k], first[k + 1]):
            if candidate[e] >= 0:
                absent -= error[candidate[e]]
                learn_state(states, own, e, error[candidate[e]], rate)
        learn_state(states, own, first[k + 1], absent, rate)
