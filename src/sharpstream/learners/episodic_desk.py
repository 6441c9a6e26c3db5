"""The desk: scratch of one token, which prediction leaves for learning; nothing on it outlives the token."""

from typing import NamedTuple

import numpy as np

from sharpstream.config import EpisodicConfig
from sharpstream.kernels.jit import Array
from sharpstream.kernels.lanes import LANES
from sharpstream.learners.counts_kernels import Trace, make_trace
from sharpstream.learners.episodic_arrays import DENSE, Memory, most_candidates, slow_sizes
from sharpstream.pattern.episodic_escape import EXTRA, PARTS
from sharpstream.pattern.episodic_mixers import FINALS
from sharpstream.pattern.episodic_network import INPUTS
from sharpstream.pattern.episodic_residual import ROW


class Desk(NamedTuple):
    """Scratch of one token."""

    address: Array  # (K,) int64
    check: Array  # (K,) int64
    held: Array  # (2, K) int64: address and check of the token that is being learned
    place: Array  # (K,) int64
    totals: Array  # (K,) int64
    distinct: Array  # (K,) int64
    newest: Array  # (K,) int64: the symbol seen last
    ages: Array  # (K,) int64: levels
    first: Array  # (K + 1,) int64: each context's pairs
    symbols: Array  # (pairs,) int64
    counts: Array  # (pairs,) int64
    candidate: Array  # (pairs,) int64
    entries: Array  # (pairs + K, 3) int64
    value: Array  # (pairs,)
    power: Array  # (pairs,)
    counted: Array  # (K · most,) uint8
    candidates: Array  # (V or proposals,) int64
    place_of: Array  # (V,) int64
    scores: Array  # float64
    spare: Array  # float64
    chosen: Array  # (inputs · LANES,)
    gradient: Array  # (inputs · LANES,)
    logp: Array  # (most · LANES,)
    p: Array  # (most · LANES,)
    shift: Array  # (LANES,)
    rows: Array  # (LANES,) int64
    final_rows: Array  # (2,) int64
    final_logits: Array  # (2 · most,)
    final_p: Array  # (2 · most,)
    total: Array  # (most,): log p of the final mixers
    corrected: Array  # (most,)
    blended: Array  # (most,) float64: what is predicted for the candidates
    dense: Array  # (5, most)
    match_value: Array  # (M,)
    expected: Array  # (M,) int64
    match_entry: Array  # (M,) int64
    network_rows: Array  # (15,) int64
    before: Array  # (H,)
    hidden: Array  # (H,)
    plain: Array  # (H,): hidden before the slow level scales it; empty without one
    delta: Array  # (H,)
    network_p: Array  # (most,)
    log_count: Array  # (256,): input (a) by count
    masses: Array  # (5,) float64
    escape_inputs: Array  # (K + 4,) float64
    expert: Array  # (V,) log-probabilities of the expert, if there is one
    numbers: Array  # (8,) float64: what the scoring of a token leaves for its learning
    tail_p: Array  # (most,) float64: of the candidates, by the tail
    behind: Array  # (V,) float64: of all symbols, by the tail; 0 without one
    reach: Array  # (2,) int64: how far the tail looks back
    trace: Trace  # what the tail found
    residual: Array  # (most,): 0 without a residual
    residual_next: Array  # (K,) int64: where the rows of the next prediction begin
    residual_at: Array  # (K,) int64: those of the token that is being learned
    residual_places: Array  # (32,): sums by place in a row
    residual_error: Array  # (most,)


def make_desk(config: EpisodicConfig, vocabulary: int, memory: Memory) -> Desk:
    """Scratch for one pass."""
    real, contexts, models = np.dtype(config.dtype), len(memory.width), len(memory.least)
    most, pairs = most_candidates(vocabulary), int(memory.capacity.sum())
    inputs, width = 3 * contexts + models + DENSE, config.network
    proposals = max(vocabulary if most == vocabulary else 0, pairs + models)

    def whole(*shape: int) -> Array:
        return np.zeros(shape, dtype=np.int64)

    def numbers(*shape: int) -> Array:
        return np.zeros(shape, dtype=real)

    return Desk(
        address=whole(contexts), check=whole(contexts), held=whole(2, contexts), place=whole(contexts),
        totals=whole(contexts), distinct=whole(contexts), newest=whole(contexts), ages=whole(contexts),
        first=whole(contexts + 1), symbols=whole(pairs),
        counts=whole(pairs), candidate=whole(pairs), entries=whole(3 * (pairs + contexts + 1)),
        value=numbers(pairs), power=numbers(pairs), counted=np.zeros(contexts * most, dtype=np.uint8),
        candidates=whole(proposals), place_of=whole(vocabulary) - (most != vocabulary), scores=np.zeros(proposals),
        spare=np.zeros(proposals), chosen=numbers(inputs * LANES), gradient=numbers(inputs * LANES),
        logp=numbers(most * LANES), p=numbers(most * LANES), shift=numbers(LANES), rows=whole(LANES),
        final_rows=whole(FINALS), final_logits=numbers(FINALS * most), final_p=numbers(FINALS * most),
        total=numbers(most), corrected=numbers(most), blended=np.zeros(most), dense=numbers(DENSE, most),
        match_value=numbers(models), expected=whole(models), match_entry=whole(models), network_rows=whole(INPUTS),
        before=numbers(width), hidden=numbers(width), plain=numbers(slow_sizes(config)[1]), delta=numbers(width),
        network_p=numbers(most),
        log_count=np.log1p(np.arange(256) / 0.3).astype(real), masses=np.zeros(PARTS),
        escape_inputs=np.zeros(contexts + EXTRA), expert=numbers(vocabulary), numbers=np.zeros(8),
        tail_p=np.zeros(most), behind=np.zeros(vocabulary), reach=whole(2),
        trace=make_trace(len(memory.tail.discounts)),
        residual=numbers(most), residual_next=whole(contexts), residual_at=whole(contexts),
        residual_places=numbers(ROW), residual_error=numbers(most),
    )  # fmt: skip
