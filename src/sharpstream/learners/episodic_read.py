"""How the episodic learner predicts: slots found, their pairs read, inputs mixed, the rest of the vocabulary escaped.

`episodic_loop.py` calls `predict_next`, then `probability` for the symbol that came; everything in between is left on
the desk, where `episodic_learn.py` finds it. Nothing here writes memory or pattern.
"""

import math
from typing import Any

import numpy as np

from sharpstream.kernels.elementary import exp_shifted
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.lanes import LANES, add_lanes
from sharpstream.learners.counts_kernels import spread_over_all
from sharpstream.learners.episodic_arrays import CORRECTION_LEVELS, DENSE, MATCH_STATES, Cursor, Memory, Pattern
from sharpstream.learners.episodic_desk import Desk
from sharpstream.learners.episodic_tail import DEEPEST, read_tail, tail_probability
from sharpstream.memory.episodic_contexts import BACK, POSITION
from sharpstream.memory.episodic_match import LENGTH, MISSES, PLACE, ring_symbol
from sharpstream.memory.episodic_slots import DISTINCT, TOTAL, find_slot, last_visit, read_pairs
from sharpstream.pattern.episodic_candidates import all_candidates, keep_best, propose
from sharpstream.pattern.episodic_escape import UNIGRAM_FRESH, WEIGHT, escape_probability, share, share_masses
from sharpstream.pattern.episodic_mixers import FINALS, gather_weights, log_softmax_lanes, mix_finals, softmax
from sharpstream.pattern.episodic_network import choose_inputs, network_forward
from sharpstream.pattern.episodic_residual import read_residual
from sharpstream.pattern.episodic_selectors import FINAL_LANES, SIZES, STARTS, choose_rows, match_level
from sharpstream.pattern.episodic_states import STEEPEST, age_level, state_entries, state_value

# Switches, indices of the array `sizes` (int64): sizes and what is on.
VOCABULARY, MOST, WIDE, RING_SIZE, ON_STATES, ON_SELECTORS, ON_CORRECTIONS, NETWORK_TABLE, NETWORK_HASHED = range(9)
ON_EXPERT, ON_TAIL, KEEPING, REPLAY, REPLAY_EVERY, REPLAYS, REPLAY_INTO, SWEEP_EVERY, ON_RESIDUAL = range(9, 18)
MEAN_EVERY, SWITCHES = 18, 19
ESCAPE_P, ESCAPE_LOGIT, ESCAPE_LEVEL, ESCAPE_FOUND, DROPPED, CORRECTION_ROW, LEFT = range(7)  # desk.numbers
SEEN_FRESH = 0.01  # of the last symbol's weight, for those not seen lately
FLOOR = 1e-6  # share of the uniform in every prediction: bits stay finite


@lean_kernel
def look_up(memory: Memory, cursor: Cursor, desk: Desk, sizes: Array) -> Any:
    """Find the slots, read their pairs, choose the candidates; how many of these there are."""
    slots, place, totals, distinct = memory.slots, desk.place, desk.totals, desk.distinct
    wide = sizes[WIDE] != 0
    end = np.int64(0)
    for k in range(len(place)):
        desk.first[k] = end
        at = find_slot(slots, desk.address[k], memory.width[k], desk.check[k])
        place[k], totals[k], distinct[k], desk.newest[k], desk.ages[k] = at, 0, 0, -1, 0
        if at >= 0:
            desk.ages[k] = age_level((cursor.clock[0] - last_visit(slots, at)) & 0xFFFFFFFF)
            totals[k], distinct[k] = slots[at + TOTAL], slots[at + DISTINCT]
            end = read_pairs(slots, at, memory.capacity[k], wide, desk.symbols, desk.counts, end)
            desk.newest[k] = desk.symbols[desk.first[k]]
    desk.first[len(place)] = end
    for m in range(len(desk.expected)):
        at = cursor.matches[m, PLACE]
        desk.expected[m] = ring_symbol(memory.ring, sizes[RING_SIZE], wide, at) if at >= 0 else -1
    desk.numbers[DROPPED] = 0.0
    if sizes[MOST] == sizes[VOCABULARY]:
        count = all_candidates(sizes[VOCABULARY], desk.candidates, desk.place_of)
    else:
        count = choose_candidates(desk, sizes)
    for e in range(end):
        desk.candidate[e] = desk.place_of[desk.symbols[e]]
    return count


@lean_kernel
def choose_candidates(desk: Desk, sizes: Array) -> Any:
    """The symbols in slots and matches by score, the best of them."""
    count = np.int64(0)
    for k in range(len(desk.place)):
        if desk.place[k] >= 0:
            scale = 1.0 / (desk.totals[k] + desk.distinct[k])
            for e in range(desk.first[k], desk.first[k + 1]):
                count = propose(
                    desk.symbols[e], desk.counts[e] * scale, desk.candidates, desk.scores, desk.place_of, count
                )
    for m in range(len(desk.expected)):
        if desk.expected[m] >= 0:
            count = propose(desk.expected[m], 1.0, desk.candidates, desk.scores, desk.place_of, count)
    kept, dropped = keep_best(desk.candidates, desk.scores, count, sizes[MOST], desk.place_of, desk.spare)
    desk.numbers[DROPPED] = dropped
    return kept


@lean_kernel
def forget_candidates(desk: Desk, sizes: Array, count: Any) -> None:
    """Leave the desk's maps empty for the next token."""
    most = sizes[MOST]
    for k in range(len(desk.place)):
        for e in range(desk.first[k], desk.first[k + 1]):
            if desk.candidate[e] >= 0:
                desk.counted[k * most + desk.candidate[e]] = 0
    if most != sizes[VOCABULARY]:
        for c in range(count):
            desk.place_of[desk.candidates[c]] = -1


@lean_kernel
def own_probabilities(desk: Desk, count: Any) -> None:
    """desk.power: from e^value to what each context alone would predict; an absent symbol has e^0."""
    real = desk.power.dtype.type
    for k in range(len(desk.place)):
        first, last = desk.first[k], desk.first[k + 1]
        present, norm = 0, real(0)
        for e in range(first, last):
            if desk.candidate[e] >= 0:
                present += 1
                norm += desk.power[e]
        scale = real(1) / (norm + real(count - present))
        for e in range(first, last):
            desk.power[e] *= scale


@lean_kernel
def read_states(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, count: Any) -> None:
    """One logit a pair from the state tables, against an absent symbol's."""
    real = pattern.states.dtype.type
    steepest = real(STEEPEST)
    most, tables, value, entries = sizes[MOST], pattern.states, desk.value, desk.entries
    for k in range(len(desk.place)):
        first, last = desk.first[k], desk.first[k + 1]
        if desk.place[k] < 0:
            continue
        for e in range(first, last):
            if desk.candidate[e] >= 0:
                desk.counted[k * most + desk.candidate[e]] = desk.counts[e]
        if sizes[ON_STATES] == 0:
            continue
        parent = memory.parent[k]
        if parent >= 0 and desk.place[parent] < 0:
            parent = np.int64(-1)
        shift = 3 * k  # the absent symbols' entries stand behind each context's pairs
        state_entries(
            k, desk.totals[k], desk.distinct[k], desk.ages[k], first, last, parent, desk.candidate, desk.counts,
            desk.counted, most, entries[shift:],
        )  # fmt: skip
        absent = state_value(tables, entries[shift:], last)
        for e in range(first, last):
            value[e] = min(max(state_value(tables, entries[shift:], e) - absent, -steepest), steepest)
    end = desk.first[len(desk.place)]
    if sizes[ON_STATES] != 0:
        exp_shifted(value[:end], real(0), desk.power[:end])
        own_probabilities(desk, count)


@lean_kernel
def read_matches(pattern: Pattern, cursor: Cursor, desk: Desk) -> None:
    """The logit of each match's expected symbol, by its length and recent misses."""
    for m in range(len(desk.expected)):
        desk.match_value[m] = 0
        if desk.expected[m] >= 0:
            misses = cursor.matches[m, MISSES]
            recent = (misses & 1) * 2 + int(misses & 14 != 0)
            desk.match_entry[m] = m * MATCH_STATES + match_level(cursor.matches[m, LENGTH]) * 4 + recent
            desk.match_value[m] = pattern.match_states[2 * desk.match_entry[m]]


@lean_kernel
def read_dense(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, count: Any) -> None:
    """The inputs that speak for every candidate: unigram, network, expert, tail, seen lately; logarithms."""
    real = pattern.weights.dtype.type
    total = pattern.sums[0] + UNIGRAM_FRESH * sizes[VOCABULARY]
    for c in range(count):
        desk.dense[0, c] = real(math.log((pattern.unigram[desk.candidates[c]] + UNIGRAM_FRESH) / total))
    if len(desk.hidden) > 0:
        choose_inputs(
            cursor.recent, cursor.features, BACK, sizes[NETWORK_TABLE], sizes[NETWORK_HASHED], desk.network_rows
        )
        run_network(pattern, cursor, desk, count)
    if sizes[ON_EXPERT] != 0:
        for c in range(count):
            desk.dense[2, c] = desk.expert[desk.candidates[c]]
    desk.numbers[LEFT] = 1.0
    if sizes[ON_TAIL] != 0:
        desk.numbers[LEFT] = read_tail(
            memory.tail, cursor.recent, cursor.fill[0], desk.trace, desk.reach, desk.candidates, desk.tail_p[:count]
        )
        for c in range(count):
            seen = pattern.lately[desk.candidates[c]] / pattern.sums[WEIGHT]
            desk.dense[3, c], desk.dense[4, c] = real(math.log(desk.tail_p[c])), real(math.log(seen + SEEN_FRESH))


@lean_kernel
def run_network(pattern: Pattern, cursor: Cursor, desk: Desk, count: Any) -> None:
    """The network expert on the rows that lie on the desk."""
    network_forward(
        pattern.inputs, pattern.read, pattern.bias, desk.network_rows, desk.candidates, count, desk.before,
        desk.hidden, desk.dense[1], desk.network_p, cursor.slow_film, desk.plain,
    )  # fmt: skip


@lean_kernel
def choose_weights(memory: Memory, cursor: Cursor, desk: Desk, sizes: Array) -> None:
    """The rows of the mixers, of the final mixers and of the corrections."""
    longest, expected = np.int64(0), np.int64(-1)
    for m in range(len(desk.expected)):
        if desk.expected[m] >= 0 and cursor.matches[m, LENGTH] > longest:
            longest, expected = cursor.matches[m, LENGTH], desk.expected[m]
    choose_rows(
        cursor.recent, cursor.features, BACK, np.int64(cursor.features[POSITION]), memory.roles, desk.totals,
        desk.distinct, desk.newest, desk.ages, longest, expected, sizes[VOCABULARY], desk.rows,
    )  # fmt: skip
    desk.numbers[CORRECTION_ROW] = desk.rows[1] - STARTS[1]
    begin = 0
    for f in range(FINALS):  # each final mixer borrows the selector of one mixer
        lane = FINAL_LANES[f]
        desk.final_rows[f] = begin + desk.rows[lane] - STARTS[lane]
        begin += SIZES[lane]
    if sizes[ON_SELECTORS] == 0:  # every mixer has one set of weights, and all are alike
        desk.numbers[CORRECTION_ROW] = 0
        for m in range(LANES):
            desk.rows[m] = m
        for f in range(FINALS):
            desk.final_rows[f] = 0


@lean_kernel
def mix_inputs(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, count: Any) -> None:
    """Which weights, then what they make of the inputs."""
    choose_weights(memory, cursor, desk, sizes)
    mix_chosen(pattern, desk, sizes, count)


@lean_kernel
def mix_chosen(pattern: Pattern, desk: Desk, sizes: Array, count: Any) -> None:
    """The mixers over all inputs, then the final mixers: desk.logp, desk.total."""
    contexts, models = len(desk.place), len(desk.expected)
    inputs = 3 * contexts + models + DENSE
    gather_weights(pattern.weights, desk.rows, inputs, desk.chosen)
    logp, chosen = desk.logp, desk.chosen
    for c in range(count):
        for m in range(LANES):
            logp[c * LANES + m] = desk.residual[c]
    for k in range(contexts):
        for e in range(desk.first[k], desk.first[k + 1]):
            c = desk.candidate[e]
            if c >= 0:
                add_lanes(logp, c * LANES, desk.log_count[desk.counts[e]], chosen, 3 * k * LANES)
                add_lanes(logp, c * LANES, desk.value[e], chosen, (3 * k + 1) * LANES)
                add_lanes(logp, c * LANES, desk.power[e], chosen, (3 * k + 2) * LANES)
    for m in range(models):
        if desk.expected[m] >= 0 and desk.place_of[desk.expected[m]] >= 0:
            c = desk.place_of[desk.expected[m]]
            add_lanes(logp, c * LANES, desk.match_value[m], chosen, (3 * contexts + m) * LANES)
    for d in range(DENSE):
        if speaks(desk, sizes, d):
            for c in range(count):
                add_lanes(logp, c * LANES, desk.dense[d, c], chosen, (3 * contexts + models + d) * LANES)
    log_softmax_lanes(logp, count, desk.p, desk.shift)
    mix_finals(pattern.finals, desk.final_rows, logp, count, desk.final_logits, desk.final_p, desk.total)
    softmax(desk.total, count, desk.corrected)
    blend(pattern, desk, sizes, count)


@lean_kernel
def blend(pattern: Pattern, desk: Desk, sizes: Array, count: Any) -> None:
    """Half what the final mixers say, half what their record makes of it: desk.blended, P of the candidates."""
    for c in range(count):
        desk.blended[c] = desk.corrected[c]
    if sizes[ON_CORRECTIONS] != 0:
        base = int(desk.numbers[CORRECTION_ROW])
        for c in range(count):
            desk.corrected[c] = desk.total[c] + pattern.corrections[2 * correction_entry(base, desk.total[c])]
        softmax(desk.corrected, count, desk.final_logits)
        for c in range(count):
            desk.blended[c] = 0.5 * (desk.blended[c] + desk.final_logits[c])
            desk.corrected[c] = desk.final_logits[c]
    total = 0.0
    for c in range(count):
        total += desk.blended[c]
    for c in range(count):
        desk.blended[c] /= total


@lean_kernel
def speaks(desk: Desk, sizes: Array, d: Any) -> bool:
    """Whether a dense input is there."""
    if d == 0:
        return True
    return (d == 1 and len(desk.hidden) > 0) or (d == 2 and sizes[ON_EXPERT] != 0) or (d >= 3 and sizes[ON_TAIL] != 0)


@lean_kernel
def correction_entry(base: Any, logp: Any) -> Any:
    """By the last two symbols and the logarithm of p, 24 levels; a logarithm that is no number is level 0."""
    level = -logp * 2.0
    if not level > 0.0:
        level = 0.0
    return base * CORRECTION_LEVELS + np.int64(min(level, CORRECTION_LEVELS - 1.0))


@lean_kernel
def predict_next(memory: Memory, pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array) -> Any:
    """Everything up to the prediction; how many candidates there are. The addresses are on the desk."""
    count = look_up(memory, cursor, desk, sizes)
    read_states(memory, pattern, cursor, desk, sizes, count)
    read_matches(pattern, cursor, desk)
    read_dense(memory, pattern, cursor, desk, sizes, count)
    if sizes[ON_RESIDUAL] != 0:
        for k in range(len(desk.place)):
            desk.residual_at[k] = desk.residual_next[k]
        read_residual(
            pattern.residual_states, pattern.residual_rows, desk.residual_at, desk.place, desk.first, desk.entries,
            desk.candidate, desk.candidates, count, desk.residual_places, desk.residual, sizes[ON_STATES] != 0,
        )  # fmt: skip
    if count > 0:
        mix_inputs(memory, pattern, cursor, desk, sizes, count)
    if sizes[MOST] != sizes[VOCABULARY]:
        p, logit, level, found = escape_probability(
            pattern.cells, pattern.escape_weights, pattern.escape_correction, desk.totals, desk.distinct, count,
            desk.numbers[DROPPED], desk.numbers[LEFT], sizes[VOCABULARY], desk.escape_inputs,
        )  # fmt: skip
        share_masses(
            pattern.unigram, pattern.escapes, pattern.lately, pattern.sums, desk.numbers[LEFT], desk.candidates, count,
            desk.masses,
        )  # fmt: skip
        desk.numbers[ESCAPE_P] = 1.0 if count == 0 else p
        desk.numbers[ESCAPE_LOGIT], desk.numbers[ESCAPE_LEVEL], desk.numbers[ESCAPE_FOUND] = logit, level, found
    return count


@lean_kernel
def probability(memory: Memory, pattern: Pattern, desk: Desk, sizes: Array, symbol: Any) -> Any:
    """What was predicted for one symbol."""
    escaped = sizes[MOST] != sizes[VOCABULARY] and desk.place_of[symbol] < 0
    behind = tail_of(memory, desk, sizes, symbol) if escaped else 0.0
    return probability_before(pattern, desk, sizes, symbol, behind)


@lean_kernel
def probability_before(pattern: Pattern, desk: Desk, sizes: Array, symbol: Any, behind: Any) -> Any:
    """The same where it is known what the tail behind gives the symbol, if that is no candidate."""
    c, vocabulary = desk.place_of[symbol], sizes[VOCABULARY]
    if sizes[MOST] == vocabulary:
        p = desk.blended[c]
    elif c >= 0:
        p = (1.0 - desk.numbers[ESCAPE_P]) * desk.blended[c]
    else:
        p = desk.numbers[ESCAPE_P] * share(
            pattern.unigram, pattern.escapes, pattern.lately, pattern.sums, pattern.parts, desk.masses, symbol, behind
        )
    return (1.0 - FLOOR) * p + FLOOR / vocabulary  # log2 of it is finite


@lean_kernel
def read_whole_tail(memory: Memory, desk: Desk, sizes: Array) -> None:
    """desk.behind ← what the tail gives every symbol; zeros where there is no tail."""
    if sizes[ON_TAIL] != 0:
        spread_over_all(memory.tail, desk.reach[DEEPEST], desk.trace.slots, desk.behind)


@lean_kernel
def tail_of(memory: Memory, desk: Desk, sizes: Array, symbol: Any) -> Any:
    """What the tail gives a symbol that is no candidate; 0 where there is no tail."""
    return tail_probability(memory.tail, desk.trace, desk.reach, symbol) if sizes[ON_TAIL] != 0 else 0.0
