"""The arrays of the episodic learner: what it remembers, what it has learned, where it stands.

`episodic.py` makes them, `episodic_loop.py` reads and moves them, `episodic_state.py` saves and audits them; scratch
is in `episodic_desk.py`. All are shaped by the config and the vocabulary alone, so the state never grows.
"""

from typing import NamedTuple

import numpy as np

from sharpstream.config import EpisodicConfig
from sharpstream.kernels.jit import Array
from sharpstream.kernels.lanes import LANES
from sharpstream.learners.counts import Counts
from sharpstream.learners.counts_tables import Tables
from sharpstream.learners.episodic_tail import TAIL_SHARE, no_tail
from sharpstream.memory.episodic_contexts import (
    FEATURES,
    RECENT,
    WORDS,
    Context,
    context_table,
    symbol_kinds,
)  # fmt: skip
from sharpstream.memory.episodic_match import MATCH_COLUMNS
from sharpstream.memory.episodic_slots import PAIRS, WAYS
from sharpstream.pattern import episodic_slow as slow
from sharpstream.pattern.episodic_escape import CELLS, EXTRA, LEVELS, PARTS, TAIL
from sharpstream.pattern.episodic_mixers import FINALS
from sharpstream.pattern.episodic_network import DELAY, HASHED, INPUTS
from sharpstream.pattern.episodic_residual import ROW
from sharpstream.pattern.episodic_selectors import FINAL_LANES, MATCH_LEVELS, ORDERS, ROWS, SIZES
from sharpstream.pattern.episodic_states import STATES

KERNELS = "sharpstream.learners.episodic:Episodic"  # what `warm.py` compiles
DENSE = 5  # inputs that speak for every candidate: unigram, network, expert, tail, seen lately
MATCH_STATES = MATCH_LEVELS * 4
SMALL = 64  # vocabularies up to here have every symbol for a candidate
FINAL_ROWS = sum(SIZES[lane] for lane in FINAL_LANES)
CORRECTION_LEVELS = 24
SLOT_WIDTHS = (16, 32, 64)  # 16-bit numbers in a slot, by its room
LEAST_HASHED_ROWS, BYTES_A_HASHED_ROW = 4096, 65_536  # of memory: at width 256 the rows are 5 % beside the budget
RING_SHARE, INDEX_SHARE = 16, 16  # of the budget, one part in so many goes to the ring and to the match index
RESIDUAL_SHARE = 8  # and to the rows of the residual, if there is one; four times as many earned nothing


class Memory(NamedTuple):
    """What was observed, and the fixed description of the contexts."""

    slots: Array  # uint16
    places: Array  # (M, entries) uint32
    ring: Array  # uint8
    kinds: Array  # (V,) int64
    folded: Array  # (V,) int64
    used: Array  # (K, most features) int64
    first: Array  # (K,) int64: where its slots begin
    buckets: Array  # (K,) int64
    bucket_size: Array  # (K,) int64: 16-bit numbers
    width: Array  # (K,) int64: of a slot
    capacity: Array  # (K,) int64: pairs in a slot
    limit: Array  # (K,) int64
    parent: Array  # (K,) int64, −1: none
    roles: Array  # (9,) int64: which contexts the selectors look at
    least: Array  # (M,) int64
    tail: Tables  # counts behind a large vocabulary


class Cursor(NamedTuple):
    """Where the learner stands in the stream; a frozen pass moves a copy."""

    recent: Array  # (32,) int64, newest first
    word: Array  # (4,) uint64
    features: Array  # (F,) uint64
    matches: Array  # (M, 3) int64
    clock: Array  # (2,) int64: tokens observed, tokens in the ring
    fill: Array  # (1,) int64: tokens since the past was last forgotten, at most 32
    slow_trace: Array  # (FEATURES,) float64: what was read since the last tick of the slow level
    slow_averages: Array  # (clocks · FEATURES,) float64
    slow_standing: Array  # (clocks · FEATURES,) float64: where the averages stand, in deviations
    slow_film: Array  # (2 · H,): gain and shift of the network's hidden layer
    slow_ticks: Array  # (1,) int64: tokens read since the past began


class Pattern(NamedTuple):
    """What is learned by error."""

    states: Array  # (K · STATES · 2,)
    match_states: Array  # (M · MATCH_STATES · 2,)
    weights: Array  # (ROWS · inputs,)
    squares: Array  # (inputs · LANES,)
    finals: Array  # (FINAL_ROWS · LANES,)
    final_squares: Array  # (2 · LANES,)
    corrections: Array  # (1024 · levels · 2,)
    inputs: Array  # (rows · H,) network
    read: Array  # (V · H,)
    bias: Array  # (V,)
    moments: Array  # (2 · H,)
    errors: Array  # (V,)
    unigram: Array  # (V,) float64
    escapes: Array  # (V,) float64
    lately: Array  # (V,) float64
    sums: Array  # (4,) float64: of unigram, escapes, lately; the weight of the last symbol in lately
    parts: Array  # (5,) float64
    cells: Array  # (K · CELLS,) float64
    escape_weights: Array  # ((K + 1) · (K + 4),) float64
    escape_correction: Array  # (LEVELS,) float64
    slow_weights: Array  # (clocks · FEATURES · 2 · H,)
    slow_pending: Array  # (2 · H,): gradient summed since the last tick
    slow_moments: Array  # (2 · H,)
    slow_usual: Array  # (2 · clocks · FEATURES,) float64: means and variances of the averages
    slow_learned: Array  # (1,) int64: ticks learned from
    residual_states: Array  # (K · STATES · 2,), empty without a residual
    residual_rows: Array  # (K · rows · 32,)
    mean_weights: Array  # as what they are the means of (episodic_mean.py); empty where frozen passes read the present
    mean_finals: Array
    mean_inputs: Array
    mean_read: Array
    mean_bias: Array
    mean_looks: Array  # (1,) int64: looks taken


def is_text(config: EpisodicConfig, vocabulary: int) -> bool:
    """Whether symbols are letters or bytes, so that there are words."""
    return config.contexts == "text" or (config.contexts == "auto" and vocabulary in (27, 256))


def contexts_of(config: EpisodicConfig, vocabulary: int) -> tuple[Context, ...]:
    """The table of contexts this learner keeps."""
    return context_table(is_text(config, vocabulary), config.words, config.skips, config.orders)


def most_candidates(vocabulary: int) -> int:
    """How many symbols may have a logit of their own."""
    return vocabulary if vocabulary <= SMALL else min(vocabulary, SMALL if vocabulary <= 256 else 2 * SMALL)


def slot_width(room: int, vocabulary: int) -> int:
    """16-bit numbers in a slot: small vocabularies fit whole into 64 bytes, large ones need two numbers a pair."""
    if vocabulary <= 32 and room == 2:
        room = 1
    return SLOT_WIDTHS[room] * (2 if vocabulary > 256 and room == 2 else 1)


def make_memory(config: EpisodicConfig, vocabulary: int, tail: Counts | None) -> Memory:
    """Empty memory within the budget; contexts with few possible values leave their share to the others."""
    table = contexts_of(config, vocabulary)
    names = [context.name for context in table]
    wide = vocabulary > 256
    width = np.array([slot_width(context.room, vocabulary) for context in table], dtype=np.int64)
    budget = config.memory_bytes - (0 if tail is None else config.memory_bytes // TAIL_SHARE)
    budget -= config.memory_bytes // RESIDUAL_SHARE * config.residual
    ring_bytes = budget // RING_SHARE if config.match else 4 * RECENT
    index_bytes = budget // INDEX_SHARE if config.match else 0
    models = 2 if config.match else 0
    buckets = share_budget(table, width, budget - ring_bytes - index_bytes, vocabulary)
    bucket_size = width * WAYS
    ends = np.cumsum(buckets * bucket_size)
    kinds, folded = symbol_kinds(vocabulary, is_text(config, vocabulary))
    used = np.full((len(table), max(len(context.features) for context in table)), -1, dtype=np.int64)
    for k, context in enumerate(table):
        used[k, : len(context.features)] = context.features
    roles = [f"o{n + 1}" for n in range(ORDERS)] + ["w0", "w0w1", "w0w1w2"]
    return Memory(
        slots=aligned_zeros(int(ends[-1])),
        places=np.zeros((models, max(index_bytes // 8, 1)), dtype=np.uint32),
        ring=np.zeros(ring_bytes // 2 * 2, dtype=np.uint8),
        kinds=kinds,
        folded=folded,
        used=used,
        first=ends - buckets * bucket_size,
        buckets=buckets,
        bucket_size=bucket_size,
        width=width,
        capacity=np.minimum((width - PAIRS) // (2 if wide else 1), vocabulary),
        limit=np.array([context.limit for context in table], dtype=np.int64),
        parent=np.array([names.index(c.parent) if c.parent in names else -1 for c in table], dtype=np.int64),
        roles=np.array([names.index(role) if role in names else -1 for role in roles], dtype=np.int64),
        least=np.array((7, 14) if vocabulary <= 256 else (3, 6), dtype=np.int64)[:models],
        tail=(tail or no_tail()).tables,
    )


def share_budget(table: tuple[Context, ...], width: Array, budget: int, vocabulary: int) -> Array:
    """Buckets of each context, (K,): equal bytes, but none gets more than its possible values could fill."""
    sizes = width * WAYS * 2  # bytes of a bucket
    possible = np.array([
        min(float(vocabulary) ** len(c.features), 1e15) if max(c.features) < RECENT // 2 else 1e15 for c in table
    ])  # fmt: skip
    cap = np.ceil(possible / 2)  # buckets: twice as many slots as values
    buckets = np.zeros(len(table))
    for _ in range(len(table)):
        open_ = buckets < cap
        left = budget - float((buckets * sizes).sum())
        if not open_.any() or left < sizes.max():
            break
        buckets[open_] = np.minimum(cap, buckets + np.floor(left / open_.sum() / sizes))[open_]
    return np.maximum(buckets, 1).astype(np.int64)


def aligned_zeros(size: int) -> Array:
    """16-bit zeros that begin on a cache line."""
    spare = np.zeros(size + 128, dtype=np.uint16)
    start = -spare.ctypes.data % 256 // 2
    return spare[start : start + size]


def make_cursor(models: int, config: EpisodicConfig) -> Cursor:
    """Before the first token."""
    matches = np.zeros((models, MATCH_COLUMNS), dtype=np.int64)
    matches[:, 0] = -1
    features, width = slow_sizes(config)
    return Cursor(
        recent=np.zeros(RECENT, dtype=np.int64),
        word=np.zeros(WORDS, dtype=np.uint64),
        features=np.zeros(FEATURES, dtype=np.uint64),
        matches=matches,
        clock=np.zeros(2, dtype=np.int64),
        fill=np.zeros(1, dtype=np.int64),
        slow_trace=np.zeros(slow.FEATURES if features else 0),
        slow_averages=np.zeros(features),
        slow_standing=np.zeros(features),
        slow_film=np.zeros(2 * width, dtype=config.dtype),
        slow_ticks=np.zeros(min(features, 1), dtype=np.int64),
    )


def slow_sizes(config: EpisodicConfig) -> tuple[int, int]:
    """Averages of the slow level, and the width it scales; without one both are 0."""
    on = config.slow > 0 and config.network > 0
    return config.slow * slow.FEATURES * on, config.network * on


def network_sizes(config: EpisodicConfig, vocabulary: int) -> tuple[int, int]:
    """Rows of one place of the delay line, and of one hashed row, which has more the more memory there is."""
    return min(vocabulary, 1024), max(LEAST_HASHED_ROWS, config.memory_bytes // BYTES_A_HASHED_ROW)


def residual_rows(config: EpisodicConfig, contexts: int) -> int:
    """Rows of each context in the residual's share of the budget, at 32 bits a number."""
    return max(config.memory_bytes // RESIDUAL_SHARE // (4 * ROW * contexts), 1) * config.residual


def make_pattern(
    config: EpisodicConfig, vocabulary: int, contexts: int, models: int, seed: int, with_tail: bool
) -> Pattern:
    """Before any error: mixers trust every context a little, the network has random rows."""
    real, inputs, width = np.dtype(config.dtype), 3 * contexts + models + DENSE, config.network
    table, hashed_rows = network_sizes(config, vocabulary)
    rows = (DELAY * table + HASHED * hashed_rows) * (width > 0)
    states = np.zeros((contexts * STATES, 2), dtype=real)
    states[:, 1] = 0.1
    match_states = np.zeros((models, MATCH_LEVELS, 4, 2), dtype=real)
    match_states[..., 0] = np.linspace(0.0, 6.0, MATCH_LEVELS)[:, None]
    match_states[..., 1] = 1.0
    weights = np.zeros((ROWS, inputs), dtype=real)
    weights[:, : 3 * contexts : 3] = 0.05 if config.states else 0.2
    weights[:, 1 : 3 * contexts : 3] = 0.1 if config.states else 0.0
    weights[:, 3 * contexts :] = 0.2
    corrections = np.zeros((SIZES[1] * CORRECTION_LEVELS, 2), dtype=real)
    corrections[:, 1] = 1.0
    residual_states = np.zeros((contexts * STATES * config.residual, 2), dtype=real)
    residual_states[:, 1] = 0.1
    features, film = slow_sizes(config)
    parts = np.array([1.0] * TAIL + [float(with_tail)] * (PARTS - TAIL))
    parts /= parts.sum()
    network = np.random.default_rng([seed, 17]).standard_normal((rows, width)) / np.sqrt(INPUTS)
    averaged = config.mean_every > 0

    def mean_of(size: int) -> Array:
        return np.zeros(size * averaged, dtype=real)

    return Pattern(
        states=states.reshape(-1),
        match_states=match_states.reshape(-1),
        weights=weights.reshape(-1),
        squares=np.full(inputs * LANES, 0.01, dtype=real),
        finals=np.full(FINAL_ROWS * LANES, 1.0 / LANES, dtype=real),
        final_squares=np.full(FINALS * LANES, 0.1, dtype=real),
        corrections=corrections.reshape(-1),
        inputs=network.astype(real).reshape(-1),
        read=np.zeros(vocabulary * width, dtype=real),
        bias=np.zeros(vocabulary if width else 0, dtype=real),
        moments=np.zeros(2 * width, dtype=real),
        errors=np.zeros(vocabulary if width else 0, dtype=real),
        unigram=np.zeros(vocabulary),
        escapes=np.zeros(vocabulary),
        lately=np.zeros(vocabulary),
        sums=np.array([0.0, 0.0, 0.0, 1.0]),
        parts=parts,
        cells=np.full(contexts * CELLS, 0.1),
        escape_weights=np.full((contexts + 1) * (contexts + EXTRA), 1.0 / contexts),
        escape_correction=1.0 / (1.0 + np.exp(-np.linspace(-12.0, 12.0, LEVELS))),
        slow_weights=np.zeros(features * 2 * film, dtype=real),
        slow_pending=np.zeros(2 * film, dtype=real),
        slow_moments=np.zeros(2 * film, dtype=real),
        slow_usual=np.zeros(2 * features),
        slow_learned=np.zeros(min(features, 1), dtype=np.int64),
        residual_states=residual_states.reshape(-1),
        residual_rows=np.zeros(contexts * residual_rows(config, contexts) * ROW, dtype=real),
        mean_weights=mean_of(weights.size),
        mean_finals=mean_of(FINAL_ROWS * LANES),
        mean_inputs=mean_of(rows * width),
        mean_read=mean_of(vocabulary * width),
        mean_bias=mean_of(vocabulary if width else 0),
        mean_looks=np.zeros(int(averaged), dtype=np.int64),
    )
