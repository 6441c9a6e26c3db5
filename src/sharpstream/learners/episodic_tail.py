"""The tail: interpolated counts behind a large vocabulary, for the symbols that no slot has room for.

A slot keeps a few symbols of a context that thousands may follow. The tail gives every candidate one more input and
every escaped symbol its share. It is the tables and kernels of `counts_kernels.py`; `episodic_read.py` and
`episodic_loop.py` call this, `episodic.py` makes it.
"""

from typing import Any

from sharpstream.config import CountsConfig, EpisodicConfig
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.learners.counts import Counts
from sharpstream.learners.counts_kernels import (
    Trace,
    count_token,
    find_contexts,
    learn_discounts,
    probability,
    spread,
)
from sharpstream.learners.counts_tables import Tables

LARGE = 256  # vocabularies above this have a tail
TAIL_SHARE = 2  # of the memory's budget, one part in so many
CELL_BYTES = 32  # of the tables, by cell: 16 for the cell and 16 for half a context
FEWEST_BITS = 4
FILL, DEEPEST = 0, 1  # desk.reach: tokens of the past that may be used, the longest order found


def make_tail(config: EpisodicConfig, vocabulary: int) -> Counts | None:
    """Empty counts within their share of the budget; None for a small vocabulary, or where there shall be none."""
    if vocabulary <= LARGE or config.tail == 0:
        return None
    bits = (config.memory_bytes // TAIL_SHARE // CELL_BYTES).bit_length() - 1
    counts = CountsConfig(order=config.tail, table_bits=max(bits, FEWEST_BITS), accuracy=config.accuracy)
    return Counts(counts, vocabulary)


def no_tail() -> Counts:
    """The smallest tables, which nobody reads: the kernels' types do not depend on the vocabulary."""
    return Counts(CountsConfig(order=0, table_bits=FEWEST_BITS), 2)


@lean_kernel
def read_tail(tail: Tables, recent: Array, fill: Any, trace: Trace, reach: Array, symbols: Array, row: Array) -> Any:
    """row ← what the counts give the candidates; what is left for all other symbols. `symbols` is as long."""
    reach[FILL] = min(fill, len(tail.history))
    reach[DEEPEST] = find_contexts(tail.contexts, recent, reach[FILL], trace.keys, trace.slots)
    spread(tail, reach[DEEPEST], trace.slots, symbols, row)
    left = 1.0
    for c in range(len(row)):
        left -= row[c]
    return max(left, 1e-12)  # rounding may leave less than nothing


@lean_kernel
def tail_probability(tail: Tables, trace: Trace, reach: Array, symbol: Any) -> Any:
    """What the counts give one symbol."""
    return probability(tail, symbol, reach[DEEPEST], trace)


@lean_kernel
def learn_tail(tail: Tables, trace: Trace, reach: Array, symbol: Any) -> None:
    """Discounts take a step on −log p of the symbol, then it is counted."""
    learn_discounts(tail, probability(tail, symbol, reach[DEEPEST], trace), reach[DEEPEST], trace)
    count_token(tail, symbol, reach[FILL], trace.keys, True)
