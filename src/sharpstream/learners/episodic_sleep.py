"""The episodic learner asleep: tags laid on the desk again, mixers and network take one more step from each.

`episodic_loop.py` calls `replay` after every token that was learned from. What is laid out is what was there when the
token was predicted; the same kernels as awake then mix and learn.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.learners.episodic_arrays import DENSE, Cursor, Pattern
from sharpstream.learners.episodic_desk import Desk
from sharpstream.learners.episodic_learn import (
    CORRECT,
    FINAL,
    FINAL_FLOOR,
    MIX,
    MIX_FLOOR,
    NETWORK_ROWS,
    learn_mixers,
    learn_network,
)
from sharpstream.learners.episodic_learn import NETWORK as NETWORK_RATE
from sharpstream.learners.episodic_read import (
    CORRECTION_ROW,
    MOST,
    REPLAY,
    REPLAY_EVERY,
    REPLAY_INTO,
    REPLAYS,
    VOCABULARY,
    mix_chosen,
    run_network,
)
from sharpstream.learners.episodic_tags import COUNT, HEAD, ROW, TARGET
from sharpstream.sleep.episodic_replay import AGAIN, MIXERS, NETWORK, STORED, Tags, drawn, is_due, place_of_tag


def rates_asleep(rates: Array, step: float) -> Array:
    """The rates of a replay: the steps of mixers and network times `step`; their schedules are the waking ones."""
    asleep = rates.copy()
    asleep[[MIX, MIX_FLOOR, FINAL, FINAL_FLOOR, CORRECT, NETWORK_RATE, NETWORK_ROWS]] *= step
    return asleep


@lean_kernel
def carry(values: Array, kept: Array, at: Any, size: Any, room: Any, away: bool) -> Any:
    """The first `size` values from the desk into kept[at..] (away) or back; where the next ones are, `room` on."""
    for i in range(size):
        if away:
            kept[at + i] = values[i]
        else:
            values[i] = kept[at + i]
    return at + room


@lean_kernel
def carry_tag(desk: Desk, whole: Array, real: Array, away: bool) -> None:
    """What lies on the desk into one tag whose count is set (away), or a tag onto the desk again."""
    count, most = np.int64(whole[COUNT]), len(desk.total)
    at = carry(desk.candidates, whole, HEAD, count, most, away)
    at = carry(desk.first, whole, at, len(desk.first), len(desk.first), away)
    pairs = desk.first[len(desk.place)]
    at = carry(desk.candidate, whole, at, pairs, len(desk.candidate), away)
    at = carry(desk.counts, whole, at, pairs, len(desk.counts), away)
    at = carry(desk.expected, whole, at, len(desk.expected), len(desk.expected), away)
    at = carry(desk.rows, whole, at, len(desk.rows), len(desk.rows), away)
    at = carry(desk.final_rows, whole, at, len(desk.final_rows), len(desk.final_rows), away)
    carry(desk.network_rows, whole, at, len(desk.network_rows), len(desk.network_rows), away)
    at = carry(desk.value, real, 0, pairs, len(desk.value), away)
    at = carry(desk.power, real, at, pairs, len(desk.power), away)
    at = carry(desk.match_value, real, at, len(desk.match_value), len(desk.match_value), away)
    at = carry(desk.residual, real, at, count, most, away)
    for d in range(DENSE):
        at = carry(desk.dense[d], real, at, count, most, away)


@lean_kernel
def learn_again(
    pattern: Pattern, cursor: Cursor, desk: Desk, sizes: Array, asleep: Array, now: Any, count: Any, target: Any
) -> None:
    """One more step of mixers and network from the inputs on the desk. The network speaks last: `dense` is a tag's."""
    if sizes[REPLAY_INTO] & MIXERS:
        mix_chosen(pattern, desk, sizes, count)
        learn_mixers(pattern, desk, sizes, asleep, now, count, target)
    if sizes[REPLAY_INTO] & NETWORK and len(desk.hidden) > 0:
        run_network(pattern, cursor, desk, count)
        learn_network(pattern, cursor, desk, asleep, now, count, target)


@lean_kernel
def draws_due(tags: Tags, sizes: Array, now: Any, target: Any) -> Any:
    """How many times to learn again after this token: once awake, or a whole sleep."""
    if sizes[REPLAY] == AGAIN:
        return np.int64(target >= 0 and is_due(now, sizes[REPLAY_EVERY], sizes[REPLAYS]))
    return sizes[REPLAYS] if (now + 1) % sizes[REPLAY_EVERY] == 0 and tags.counts[STORED] > 0 else np.int64(0)


@lean_kernel
def replay(
    pattern: Pattern, cursor: Cursor, desk: Desk, tags: Tags, sizes: Array, asleep: Array, now: Any, count: Any,
    target: Any, bits: Any,
) -> None:  # fmt: skip
    """After a token, its candidates forgotten: keep it as a tag (if it had not escaped), learn again what is due."""
    if sizes[REPLAY] != AGAIN and target >= 0:
        place = place_of_tag(tags.counts, tags.mean, len(tags.whole), sizes[REPLAY], bits)
        if place >= 0:
            tag = tags.whole[place]
            tag[COUNT], tag[TARGET], tag[ROW] = count, target, int(desk.numbers[CORRECTION_ROW])
            carry_tag(desk, tag, tags.real[place], True)
    for draw in range(draws_due(tags, sizes, now, target)):
        if sizes[REPLAY] != AGAIN:
            place = drawn(tags.counts, len(tags.whole), now, draw)
            tag = tags.whole[place]
            count, target, desk.numbers[CORRECTION_ROW] = np.int64(tag[COUNT]), np.int64(tag[TARGET]), tag[ROW]
            carry_tag(desk, tag, tags.real[place], False)
        if sizes[MOST] != sizes[VOCABULARY]:
            for c in range(count):
                desk.place_of[desk.candidates[c]] = c
        learn_again(pattern, cursor, desk, sizes, asleep, now, count, target)
        if sizes[MOST] != sizes[VOCABULARY]:
            for c in range(count):
                desk.place_of[desk.candidates[c]] = -1
