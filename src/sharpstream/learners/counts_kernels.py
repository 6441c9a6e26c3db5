"""Score a stream by interpolated counts and count it: the compiled loops of `counts.py` over `counts_tables.py`.

For a context counted n times with symbol x counted c(x) times, from the empty context up,
    P(x) = (c(x) − D(c(x)) + g·P_lower(x)) / n,   g = D1·n1 + D2·n2 + D3·n3   (n1, n2, n3: symbols seen once, twice, more)
with P_lower uniform beneath order 0. The D of each order follow the gradient of log P online (AdaGrad) unless fixed.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharpstream.kernels.jit import kernel
from sharpstream.learners.counts_tables import (
    COUNT, FILL, FULL, MORE, OBSERVED, ONES, TOTAL, TWOS, Tables, add_cell, add_context, context_keys, count_of,
    count_once, find_cell, find_context,
)  # fmt: skip

Array = npt.NDArray[Any]
DISCOUNT_RATE = 0.02
DISCOUNT_FLOOR = 0.02  # every context keeps some doubt, so no probability is ever 0
DISCOUNT_ROOM = 0.01  # D(c) stays this much below c
FIRST_SLOPE = 1e-3


class Trace(NamedTuple):
    """What one token found at each order."""

    keys: Array  # (order + 1,) uint64
    slots: Array  # (order + 1,) int64: place of the context, −1: never seen
    counts: Array  # (order + 1,) int64
    lower: Array  # (order + 1,) float64: probability by the order below
    share: Array  # (order + 1,) float64: g / n, what the order below weighs


@kernel
def make_trace(size: int) -> Trace:
    return Trace(
        np.zeros(size, np.uint64), np.zeros(size, np.int64), np.zeros(size, np.int64),
        np.zeros(size, np.float64), np.zeros(size, np.float64),
    )  # fmt: skip


@kernel
def find_contexts(tables: Tables, history: Array, fill: int, trace: Trace) -> int:
    """Places of the contexts the history ends in; returns the longest one known.

    The search goes on past an unknown one: a short context may have had to leave while a longer one stayed.
    """
    context_keys(history, fill, trace.keys)
    trace.slots[0] = len(tables.contexts) - 1
    deepest = 0
    for order in range(1, fill + 1):
        slot = find_context(tables, trace.keys[order])
        trace.slots[order] = slot
        if slot >= 0:
            deepest = order
    return deepest


@kernel
def discount(tables: Tables, order: int, count: int) -> float:
    return tables.discounts[order, min(count, 3) - 1] if count > 0 else 0.0


@kernel
def backed_off(tables: Tables, order: int, slot: int) -> float:
    """g / n: the part of a context's probability that goes to the order below."""
    context, d = tables.contexts[slot], tables.discounts[order]
    return (d[0] * context[ONES] + d[1] * context[TWOS] + d[2] * context[MORE]) / context[TOTAL]


@kernel
def probability(tables: Tables, symbol: int, deepest: int, trace: Trace) -> float:
    """P(symbol), from order 0 up to the deepest context; leaves in the trace what learning needs."""
    p = 1.0 / len(tables.unigram)
    for order in range(deepest + 1):
        slot = trace.slots[order]
        trace.counts[order], trace.lower[order], trace.share[order] = 0, p, 1.0
        if slot >= 0 and tables.contexts[slot, TOTAL] > 0:
            count = count_of(tables, slot, symbol)
            trace.counts[order], trace.share[order] = count, backed_off(tables, order, slot)
            p = (count - discount(tables, order, count)) / tables.contexts[slot, TOTAL] + trace.share[order] * p
    return p


@kernel
def learn_discounts(tables: Tables, p: float, deepest: int, trace: Trace) -> None:
    """One AdaGrad step up log P: ∂P_o/∂D_j = (n_j·P_lower − [c is of class j]) / n, times the shares above."""
    pull = 1.0 / p  # ∂ log P / ∂ P_o
    for order in range(deepest, -1, -1):
        slot, count = trace.slots[order], trace.counts[order]
        if slot >= 0 and tables.contexts[slot, TOTAL] > 0:
            context = tables.contexts[slot]
            for j in range(3):
                own = 1.0 if count > 0 and min(count, 3) == j + 1 else 0.0
                slope = pull * (context[ONES + j] * trace.lower[order] - own) / context[TOTAL]
                if slope != 0.0:
                    tables.slopes[order, j] += slope * slope
                    step = DISCOUNT_RATE * slope / np.sqrt(tables.slopes[order, j])
                    bounded = min(tables.discounts[order, j] + step, j + 1 - DISCOUNT_ROOM)
                    tables.discounts[order, j] = max(bounded, DISCOUNT_FLOOR)
        pull *= trace.share[order]


@kernel
def count_symbol(tables: Tables, symbol: int, order: int, trace: Trace) -> int:
    """Count the symbol in the context of one order, entering both if need be; returns what it counted before."""
    last = len(tables.contexts) - 1
    if order == 0:
        before = np.int64(tables.unigram[symbol])
        if tables.contexts[last, TOTAL] < FULL:
            tables.unigram[symbol] += 1
            count_once(tables, last, before)
        return before
    # A higher order of this very token may just have taken this order's place: look again, never trust the trace.
    slot = find_context(tables, trace.keys[order])
    if slot < 0:
        slot = add_context(tables, trace.keys[order])
    place = find_cell(tables, slot, symbol)
    if place < 0:
        place = add_cell(tables, slot, symbol)
    before = np.int64(tables.cells[place, COUNT])
    if tables.contexts[slot, TOTAL] < FULL:
        tables.cells[place, COUNT] += 1
        count_once(tables, slot, before)
    return before


@kernel
def remember(history: Array, fill: int, symbol: int) -> int:
    """Shift a token into the history; returns how many tokens it now holds."""
    for i in range(len(history) - 1, 0, -1):
        history[i] = history[i - 1]
    if len(history):
        history[0] = symbol
    return min(fill + 1, len(history))


@kernel
def learn_stream(
    tables: Tables, uniform: bool, adapt: bool, only_novel: bool, tokens: Array, bits: Array, correct: Array
) -> None:
    """Score each token, then count it. `correct` is filled when it is as long as the tokens."""
    trace, counters, row = make_trace(len(tables.discounts)), tables.counters, np.empty(len(tables.unigram))
    for t in range(len(tokens)):
        symbol, fill = np.int64(tokens[t]), counters[FILL]
        deepest = -1 if uniform else find_contexts(tables, tables.history, fill, trace)
        if len(correct):
            spread(tables, deepest, trace, row)
            correct[t] = np.argmax(row) == symbol
        p = probability(tables, symbol, deepest, trace)
        bits[t] = -np.log2(p)
        counters[OBSERVED] += 1
        if uniform:
            continue
        if adapt:
            learn_discounts(tables, p, deepest, trace)
        for order in range(fill, -1, -1):
            if count_symbol(tables, symbol, order, trace) > 0 and only_novel:
                break  # the orders below have seen it follow this context before
        counters[FILL] = remember(tables.history, fill, symbol)


@kernel
def score_stream(tables: Tables, uniform: bool, every: int, tokens: Array, bits: Array, correct: Array) -> None:
    """Bits with the counts as they are; the history walks on in a copy, emptied every so many tokens (0: never)."""
    trace, row = make_trace(len(tables.discounts)), np.empty(len(tables.unigram))
    history, fill = tables.history.copy(), tables.counters[FILL]
    for t in range(len(tokens)):
        symbol = np.int64(tokens[t])
        if every > 0 and t % every == 0:
            fill = 0
        deepest = -1 if uniform else find_contexts(tables, history, fill, trace)
        if len(correct):
            spread(tables, deepest, trace, row)
            correct[t] = np.argmax(row) == symbol
        bits[t] = -np.log2(probability(tables, symbol, deepest, trace))
        fill = remember(history, fill, symbol)


@kernel
def spread(tables: Tables, deepest: int, trace: Trace, row: Array) -> None:
    """The whole distribution, (V,), by the same recursion as `probability`."""
    row[:] = 1.0 / len(row)
    for order in range(deepest + 1):
        slot = trace.slots[order]
        if slot >= 0 and tables.contexts[slot, TOTAL] > 0:
            total = tables.contexts[slot, TOTAL]
            share = backed_off(tables, order, slot)
            for symbol in range(len(row)):
                count = count_of(tables, slot, symbol)
                row[symbol] = (count - discount(tables, order, count)) / total + share * row[symbol]


@kernel
def predict_row(tables: Tables, uniform: bool, row: Array) -> None:
    """`spread` for the history as it stands."""
    trace = make_trace(len(tables.discounts))
    deepest = -1 if uniform else find_contexts(tables, tables.history, tables.counters[FILL], trace)
    spread(tables, deepest, trace, row)
