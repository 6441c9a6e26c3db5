"""Replay, compiled: from each tag, dream a token stream; from a token stream, the states the memories pass through.

The streams depend only on block 1, which sleep never changes, so they are generated once per sleep.
"""

import math

import numpy as np

from sharpstream.kernels.jit import LOWEST, Array, kernel
from sharpstream.kernels.views import copy
from sharpstream.memory import arrays
from sharpstream.memory.context_block import advance, read
from sharpstream.memory.embedding import embed_lowest, embed_vector
from sharpstream.pattern import pattern_block
from sharpstream.pattern.pattern_block import Form, Trace, listen, mlp, modulate

context_arrays = arrays.block_arrays
pattern_arrays = pattern_block.block_arrays


@kernel
def generate(
    p: Array,
    table: Array,
    form: Form,
    first: int,
    kind: int,
    vectors: Array,
    states: Array,
    contexts: Array,
    draws: Array,
    top_k: int,
    trace: Trace,
    logits: Array,
    embedded: Array,
    readout: Array,
    passed: Array,
    tokens: Array,
) -> None:
    """tokens (tags, R) ← streams that start from each tag's memory with its c² held fixed.

    states (tags, S), contexts (tags, H); draws (R, tags) choose the tokens; vectors (V, D) is empty where block 1 reads
    tokens.
    """
    m1, f1 = context_arrays(p, table, first, LOWEST), pattern_arrays(p, table, form, LOWEST)
    cumulative = np.empty(logits.size)
    state, new = np.empty_like(states[0]), np.empty_like(states[0])
    for tag in range(states.shape[0]):
        copy(states[tag], state)
        listen(f1, form, contexts[tag], trace, LOWEST)  # c² is held, so what is heard of it is heard once
        for step in range(draws.shape[0]):
            read(kind, state, readout)
            size = modulate(f1, form, readout, trace, LOWEST)
            mlp(p, table, form, LOWEST, size, trace, logits)
            tokens[tag, step] = sample(logits, draws[step, tag], top_k, cumulative)
            embed_lowest(m1, tokens[tag, step], vectors, embedded)
            advance(kind, m1, embedded, state, new, passed)
            copy(new, state)


@kernel
def sample(logits: Array, uniform: float, top_k: int, cumulative: Array) -> int:
    """A token from softmax(logits), by inverting its cumulative distribution in float64."""
    top = -np.inf
    for i in range(logits.size):
        top = max(top, float(logits[i]))
    for i in range(logits.size):
        cumulative[i] = math.exp(float(logits[i]) - top)
    if 0 < top_k < logits.size:
        kth = kth_largest(cumulative, top_k)
        for i in range(logits.size):
            if cumulative[i] < kth:
                cumulative[i] = 0.0
    for i in range(1, logits.size):
        cumulative[i] += cumulative[i - 1]
    threshold = uniform * cumulative[logits.size - 1]
    for i in range(logits.size - 1):
        if cumulative[i] > threshold:
            return i
    return logits.size - 1


@kernel
def kth_largest(values: Array, k: int) -> float:
    """The k-th largest value, by keeping the k largest so far in descending order; k is small."""
    best = np.full(k, -np.inf)
    for i in range(values.size):
        place = k - 1
        if values[i] <= best[place]:
            continue
        while place > 0 and best[place - 1] < values[i]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = values[i]
    return best[k - 1]


@kernel
def token_states(
    p: Array,
    table: Array,
    first: int,
    kind: int,
    vectors: Array,
    tokens: Array,
    alpha: int,
    embedded: Array,
    passed: Array,
    new: Array,
    pushed: Array,
) -> None:
    """pushed ← h¹ after every α-th token of one stream, from zero; tokens (R,), pushed (R // α, H)."""
    m1 = context_arrays(p, table, first, LOWEST)
    state = np.zeros_like(new)
    for step in range(pushed.shape[0] * alpha):
        embed_lowest(m1, tokens[step], vectors, embedded)
        advance(kind, m1, embedded, state, new, passed)
        copy(new, state)
        if (step + 1) % alpha == 0:
            read(kind, state, pushed[(step + 1) // alpha - 1])


@kernel
def upper_states(
    p: Array,
    table: Array,
    first: int,
    level: int,
    kind: int,
    below: Array,
    alpha: int,
    embedded: Array,
    passed: Array,
    new: Array,
    pushed: Array,
) -> None:
    """pushed ← h^ℓ after every α-th of the states below, from zero; below (P, H), pushed (P // α, H)."""
    block = context_arrays(p, table, first, level)
    state = np.zeros_like(new)
    for step in range(pushed.shape[0] * alpha):
        embed_vector(block, below[step], embedded)
        advance(kind, block, embedded, state, new, passed)
        copy(new, state)
        if (step + 1) % alpha == 0:
            read(kind, state, pushed[(step + 1) // alpha - 1])
