"""The count model's state as named arrays: only the places in use, so that a checkpoint is as small as what was seen.

A state from outside is rebuilt beside the present one and audited before it takes its place: places in range, every
entry where it will be looked for, totals equal to the sums of their cells.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.errors import RunError
from sharpstream.kernels.jit import kernel
from sharpstream.learners.contract import Array, State, check_state_tokens
from sharpstream.learners.counts_tables import (
    COUNT,
    FILL,
    KEY_HIGH,
    KEY_LOW,
    OBSERVED,
    OF,
    OWNER,
    STAMP,
    STAMPS,
    SYMBOL,
    TOTAL,
    Tables,
    find_cell,
    find_context,
    grade,
    list_all,
    make_tables,
)  # fmt: skip

if TYPE_CHECKING:
    from sharpstream.learners.counts import Counts

SPARSE = {"contexts": STAMP, "cells": COUNT}  # table → the column that is not 0 where a place is in use
PROBLEMS = (
    "",
    "a cell belongs to a context or a symbol that does not exist",
    "an entry stands where it would never be found, or twice",
    "a context's totals are not the sums of its cells",
)


def state_dict(learner: "Counts") -> State:
    """Copies of everything that decides what happens next; `.place` says where each row of a table stands."""
    tables = learner.tables
    state: State = {"order": np.array(learner.config.order), "table_bits": np.array(learner.config.table_bits)}
    for name, column in SPARSE.items():
        table = getattr(tables, name)
        if name == "contexts":
            table = table[:-1]  # the empty context's totals follow from the unigram counts
        used = np.flatnonzero(table[:, column])
        state[f"{name}.place"], state[name] = used.astype(np.int64), table[used]
    for name in ("unigram", "discounts", "slopes", "history", "counters"):
        state[name] = getattr(tables, name).copy()
    return state


def load_state_dict(learner: "Counts", state: Mapping[str, Array]) -> None:
    """Continue from a state; nothing is changed unless all of it is sound."""
    _check_shapes(learner, state)
    config = learner.config
    tables = make_tables(config.order, learner.vocabulary, config.table_bits, listed=config.accuracy)
    for name in SPARSE:
        table, places = getattr(tables, name), state[f"{name}.place"]
        places_exist = len(table) - (name == "contexts")
        if len(places) and not (places.min() >= 0 and places.max() < places_exist and (np.diff(places) > 0).all()):
            raise RunError(f"the state's {name}.place must ascend within 0..{places_exist - 1}")
        table[places] = state[name]
    for name in ("unigram", "discounts", "slopes", "history", "counters"):
        getattr(tables, name)[...] = state[name]
    _check_values(learner, tables)
    if config.accuracy:
        list_all(tables.contexts, tables.cells, tables.newest, tables.older)
    learner.tables = tables


def _check_shapes(learner: "Counts", state: Mapping[str, Array]) -> None:
    own = state_dict(learner)
    if own.keys() != state.keys():
        differing = ", ".join(sorted(own.keys() ^ state.keys())[:5])
        raise RunError(f"this state is not of this learner: the arrays {differing} are missing or unknown")
    for name in ("order", "table_bits"):
        if np.shape(state[name]) != () or int(state[name]) != int(own[name]):
            raise RunError(f"the state's {name} is {state[name]}, but this learner's is {own[name]}")
    for name, mine in own.items():
        given = np.asarray(state[name])
        variable = name.split(".")[0] in SPARSE
        fits = given.ndim == mine.ndim and given.shape[variable:] == mine.shape[variable:]
        if variable:
            fits = fits and len(given) == len(state[f"{name.split('.')[0]}.place"])
        if not fits or given.dtype != mine.dtype:
            raise RunError(
                f"the state's {name} is {given.dtype} {given.shape}, but this learner's is {mine.dtype} {mine.shape}"
            )


def _check_values(learner: "Counts", tables: Tables) -> None:
    order, history, counters = max(learner.config.order, 0), tables.history, tables.counters
    check_state_tokens("history", history, learner.vocabulary)
    if counters.min() < 0 or counters[FILL] > min(order, counters[OBSERVED]):
        raise RunError(f"the state's counters {counters.tolist()} are impossible for order {order}")
    highest = np.arange(1, 4)
    if not ((tables.discounts > 0).all() and (tables.discounts <= highest).all()):
        raise RunError("the state's discounts must lie above 0 and at most at the counts they are taken from")
    if not ((tables.slopes >= 0).all() and np.isfinite(tables.slopes).all()):
        raise RunError("the state's slopes must be finite and at least 0")
    seen = tables.unigram
    tables.contexts[-1, TOTAL : TOTAL + 4] = (
        min(int(seen.sum(dtype=np.uint64)), 2**32 - 1), (seen == 1).sum(), (seen == 2).sum(), (seen > 2).sum(),
    )  # fmt: skip
    problem = unsound(tables)
    if problem or (tables.contexts[:-1, STAMP].max() > counters[STAMPS] and counters[STAMPS] < 2**32):
        raise RunError(f"the state's tables are damaged: {PROBLEMS[problem] or 'a stamp was never given'}")


def live_cells(tables: Tables) -> int:
    """How many (context, symbol) counts are in use, the unigram's among them."""
    cells = tables.cells
    alive = (cells[:, COUNT] > 0) & (tables.contexts[cells[:, OWNER], STAMP] == cells[:, OF])
    return int(alive.sum()) + int(np.count_nonzero(tables.unigram))


@kernel
def unsound(tables: Tables) -> int:
    """Audit of tables from outside: 0, or which rule they break (an index of PROBLEMS)."""
    contexts, cells, unigram = tables.contexts, tables.cells, tables.unigram
    last = len(contexts) - 1
    tally = np.zeros((last + 1, 4), np.int64)  # total, ones, twos, more: what the cells say
    for place in range(len(cells)):
        count, owner, symbol = np.int64(cells[place, COUNT]), cells[place, OWNER], cells[place, SYMBOL]
        if owner >= last or symbol >= len(unigram):
            return 1
        stamp = contexts[owner, STAMP]
        if count == 0 or stamp == 0 or stamp != cells[place, OF]:
            continue  # empty, or of a context that has left
        if find_cell(cells, stamp, owner, symbol) != place:
            return 2
        tally[owner, 0] += count
        tally[owner, grade(count)] += 1
    for one in range(len(unigram)):
        if unigram[one] > 0:
            tally[last, 0] += np.int64(unigram[one])
            tally[last, grade(np.int64(unigram[one]))] += 1
    for slot in range(last + 1):
        if slot < last and contexts[slot, STAMP] > 0:
            key = (np.uint64(contexts[slot, KEY_HIGH]) << np.uint64(32)) | np.uint64(contexts[slot, KEY_LOW])
            if find_context(contexts, key) != slot:
                return 2
        for j in range(4):
            if contexts[slot, TOTAL + j] != tally[slot, j]:
                return 3
    return 0
