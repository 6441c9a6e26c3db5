"""How the episodic learner learns to read: every part takes one step on the loss of its own prediction.

`episodic_loop.py` calls `learn_to_read` after each token; what was predicted is still on the desk.
"""

import math
from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.lanes import LANES, add_lanes
from sharpstream.learners.episodic_arrays import DENSE, Cursor, Memory, Pattern
from sharpstream.learners.episodic_desk import Desk
from sharpstream.learners.episodic_read import (
    CORRECTION_ROW,
    ESCAPE_FOUND,
    ESCAPE_LEVEL,
    ESCAPE_LOGIT,
    MOST,
    ON_CORRECTIONS,
    ON_RESIDUAL,
    ON_STATES,
    ON_TAIL,
    VOCABULARY,
    correction_entry,
    speaks,
    tail_of,
)
from sharpstream.pattern.episodic_escape import learn_escape, learn_share, see
from sharpstream.pattern.episodic_mixers import learn_finals, step_weights
from sharpstream.pattern.episodic_network import network_learn
from sharpstream.pattern.episodic_residual import learn_residual
from sharpstream.pattern.episodic_states import STEEPEST, learn_state

# Rates, all set in `episodic.py`; indices of the array `rates` (float64).
MIX, MIX_TIME, MIX_FLOOR, MIX_KEEP, STATE, FINAL, FINAL_TIME, FINAL_FLOOR = range(8)
NETWORK, NETWORK_ROWS, NETWORK_TIME, CORRECT, ESCAPE, ESCAPE_CELL, ESCAPE_CORRECT, SHARE = range(8, 16)
SLOW, RESIDUAL, RESIDUAL_ROWS = range(16, 19)
RATES = 19


@lean_kernel
def learn_to_read(
    memory: Memory,
    pattern: Pattern,
    cursor: Cursor,
    desk: Desk,
    sizes: Array,
    rates: Array,
    now: Any,
    count: Any,
    symbol: Any,
) -> None:
    """Every part takes one step on the loss of its own prediction."""
    target = desk.place_of[symbol]
    if sizes[MOST] != sizes[VOCABULARY]:
        escaped = target < 0
        learn_escape(
            pattern.cells, pattern.escape_weights, pattern.escape_correction, desk.totals, desk.distinct,
            desk.escape_inputs, desk.numbers[ESCAPE_LOGIT], int(desk.numbers[ESCAPE_LEVEL]),
            int(desk.numbers[ESCAPE_FOUND]), escaped, rates[ESCAPE], rates[ESCAPE_CELL], rates[ESCAPE_CORRECT],
        )  # fmt: skip
        if escaped:
            learn_share(
                pattern.unigram, pattern.escapes, pattern.lately, pattern.sums, pattern.parts, desk.masses, symbol,
                tail_of(memory, desk, sizes, symbol), rates[SHARE],
            )  # fmt: skip
    if sizes[ON_TAIL] != 0:
        see(pattern.lately, pattern.sums, symbol)
    pattern.unigram[symbol] += 1.0
    pattern.sums[0] += 1.0
    if target < 0:
        return
    learn_mixers(pattern, desk, sizes, rates, now, count, target)
    if sizes[ON_RESIDUAL] != 0:
        real = pattern.weights.dtype.type
        learn_residual(
            pattern.residual_states, pattern.residual_rows, desk.residual_at, desk.place, desk.first, desk.entries,
            desk.candidate, desk.candidates, desk.blended, count, target, real(rates[RESIDUAL]),
            real(rates[RESIDUAL_ROWS]), desk.residual_places, desk.residual_error, sizes[ON_STATES] != 0,
        )  # fmt: skip
    if sizes[ON_STATES] != 0:
        learn_states(pattern, desk, rates, count, target)
    learn_matches(pattern, desk, rates, count, target)
    if len(desk.hidden) > 0:
        learn_network(pattern, cursor, desk, rates, now, count, target)


@lean_kernel
def learn_network(
    pattern: Pattern, cursor: Cursor, desk: Desk, rates: Array, now: Any, count: Any, target: Any
) -> None:
    """The network expert, slower as time goes on."""
    real = pattern.read.dtype.type
    slower = 1.0 / math.sqrt(1.0 + now / rates[NETWORK_TIME])
    network_learn(
        pattern.inputs, pattern.read, pattern.bias, desk.network_rows, desk.candidates, count, desk.before,
        desk.hidden, desk.network_p, target, pattern.moments, pattern.errors, desk.delta,
        real(rates[NETWORK] * slower), real(rates[NETWORK_ROWS] * slower), real(max(1e-5, 1.0 / (now + 1.0))),
        cursor.slow_film, desk.plain, pattern.slow_pending,
    )  # fmt: skip


@lean_kernel
def learn_mixers(pattern: Pattern, desk: Desk, sizes: Array, rates: Array, now: Any, count: Any, target: Any) -> None:
    """Corrections, final mixers, mixers."""
    real = pattern.weights.dtype.type
    if sizes[ON_CORRECTIONS] != 0:
        base, table, rate = int(desk.numbers[CORRECTION_ROW]), pattern.corrections, real(rates[CORRECT])
        for c in range(count):
            at = 2 * correction_entry(base, desk.total[c])
            g = desk.corrected[c] - real(c == target)
            table[at + 1] += g * g
            table[at] -= rate * g / np.sqrt(table[at + 1] + real(1e-6))
    rate = max(rates[FINAL_FLOOR], rates[FINAL] / math.sqrt(1.0 + now / rates[FINAL_TIME]))
    keep = real(rates[MIX_KEEP])
    learn_finals(
        pattern.finals, pattern.final_squares, desk.final_rows, desk.logp, count, desk.final_p, len(desk.total), target,
        real(rate), keep, desk.shift,
    )  # fmt: skip
    error, gradient, contexts, models = desk.p, desk.gradient, len(desk.place), len(desk.expected)
    inputs = 3 * contexts + models + DENSE
    for m in range(LANES):
        error[target * LANES + m] -= real(1)
    for i in range(inputs * LANES):
        gradient[i] = 0
    for k in range(contexts):
        for e in range(desk.first[k], desk.first[k + 1]):
            c = desk.candidate[e]
            if c >= 0:
                add_lanes(gradient, 3 * k * LANES, desk.log_count[desk.counts[e]], error, c * LANES)
                add_lanes(gradient, (3 * k + 1) * LANES, desk.value[e], error, c * LANES)
                add_lanes(gradient, (3 * k + 2) * LANES, desk.power[e], error, c * LANES)
    for m in range(models):
        if desk.expected[m] >= 0 and desk.place_of[desk.expected[m]] >= 0:
            c = desk.place_of[desk.expected[m]]
            add_lanes(gradient, (3 * contexts + m) * LANES, desk.match_value[m], error, c * LANES)
    for d in range(DENSE):
        if speaks(desk, sizes, d):
            for c in range(count):
                add_lanes(gradient, (3 * contexts + models + d) * LANES, desk.dense[d, c], error, c * LANES)
    rate = max(rates[MIX_FLOOR], rates[MIX] / math.sqrt(1.0 + now / rates[MIX_TIME]))
    step_weights(pattern.weights, desk.rows, inputs, desk.chosen, gradient, pattern.squares, real(rate), keep)


@lean_kernel
def learn_states(pattern: Pattern, desk: Desk, rates: Array, count: Any, target: Any) -> None:
    """Each context's state tables, on the softmax of its own logits; an absent symbol's is 0."""
    real = pattern.states.dtype.type
    rate, one = real(rates[STATE]), real(1)
    tables, power = pattern.states, desk.power
    for k in range(len(desk.place)):
        first, last = desk.first[k], desk.first[k + 1]
        if desk.place[k] < 0:
            continue
        absent, entries = real(0), desk.entries[3 * k :]
        for e in range(first, last):
            if desk.candidate[e] >= 0:
                g = power[e]
                if desk.candidate[e] == target:
                    g -= one
                absent -= g
                learn_state(tables, entries, e, g, rate)
        learn_state(tables, entries, last, absent, rate)


@lean_kernel
def learn_matches(pattern: Pattern, desk: Desk, rates: Array, count: Any, target: Any) -> None:
    """Each match's logit, on the softmax that gives every other candidate 0."""
    real = pattern.match_states.dtype.type
    table = pattern.match_states
    for m in range(len(desk.expected)):
        if desk.expected[m] >= 0 and desk.place_of[desk.expected[m]] >= 0:
            at = 2 * desk.match_entry[m]
            grown = math.exp(desk.match_value[m])
            g = real(grown / (grown + count - 1.0))
            if desk.place_of[desk.expected[m]] == target:
                g -= real(1)
            table[at + 1] += g * g
            moved = table[at] - real(rates[STATE]) * g / np.sqrt(table[at + 1])
            table[at] = min(max(moved, real(-STEEPEST)), real(STEEPEST))
