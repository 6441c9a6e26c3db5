"""The network expert: a delay line of symbols and three hashed rows into one GELU layer, read out for the candidates.

No gradient reaches back in time. Steps are scaled by running second moments: of the hidden gradient for the rows, of
error and activation apart (their product stands for the weight's) for the read-out, so a step is one pass.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.elementary import gelu, gelu_backward
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.pattern.episodic_mixers import softmax
from sharpstream.pattern.episodic_slow import apply_film, film_backward

DELAY = 12  # symbols in the delay line
HASHED = 3  # hashed rows: current word, last word, last three symbols
INPUTS = DELAY + HASHED


@lean_kernel
def choose_inputs(recent: Array, features: Array, word: Any, table: Any, hashed_rows: Any, rows: Array) -> None:
    """rows (15,): which input rows are on. `word` is where the words stand among the features."""
    for i in range(DELAY):
        rows[i] = i * table + recent[i] % table
    three = np.uint64((recent[0] * 65_537 + recent[1]) * 65_537 + recent[2])
    for i in range(HASHED):
        value = features[word + i] if i < 2 else three
        z = (value + np.uint64(i)) * np.uint64(0x9E3779B97F4A7C15)
        place = ((z >> np.uint64(32)) * np.uint64(hashed_rows)) >> np.uint64(32)
        rows[DELAY + i] = DELAY * table + i * hashed_rows + np.int64(place)


@lean_kernel
def network_forward(
    inputs: Array, read: Array, bias: Array, rows: Array, candidates: Array, count: Any, before: Array, hidden: Array,
    logits: Array, p: Array, film: Array, plain: Array,
) -> None:  # fmt: skip
    """logits ← log-probabilities of the candidates; inputs (rows·H), read (V·H), bias (V,); film (2·H), or empty."""
    width = len(hidden)
    for j in range(width):
        before[j] = 0
    for i in range(INPUTS):
        row = inputs[rows[i] * width : (rows[i] + 1) * width]  # a view: an index that may be negative costs the vector
        for j in range(width):
            before[j] += row[j]
    gelu(before, hidden)
    if len(film) > 0:
        apply_film(film, hidden, plain)
    for c in range(count):
        row = read[candidates[c] * width : (candidates[c] + 1) * width]
        z = hidden.dtype.type(0)
        for j in range(width):
            z += row[j] * hidden[j]
        logits[c] = z + bias[candidates[c]]
    softmax(logits, count, p)


@lean_kernel
def network_learn(
    inputs: Array, read: Array, bias: Array, rows: Array, candidates: Array, count: Any, before: Array, hidden: Array,
    p: Array, target: Any, moments: Array, errors: Array, delta: Array, rate: Any, row_rate: Any, fresh: Any,
    film: Array, plain: Array, pending: Array,
) -> None:  # fmt: skip
    """One step on −log p of the target; moments (2·H): of the activations, of the hidden gradient; errors (V,)."""
    width = len(hidden)
    real = hidden.dtype.type
    small = real(1e-12)
    activation, backward = moments[:width], moments[width:]
    for j in range(width):
        delta[j] = 0
        activation[j] += fresh * (hidden[j] * hidden[j] - activation[j])
        hidden[j] /= np.sqrt(activation[j] + real(1e-6))
    for c in range(count):
        symbol = np.int64(candidates[c])
        row = read[symbol * width : (symbol + 1) * width]
        error = p[c] - real(1) if c == target else p[c]
        errors[symbol] += fresh * (error * error - errors[symbol])
        scaled = rate * error / np.sqrt(errors[symbol] + small)
        for j in range(width):
            delta[j] += error * row[j]
            row[j] -= scaled * hidden[j]
        bias[symbol] -= scaled
    if len(film) > 0:
        film_backward(film, plain, delta, pending)
    gelu_backward(before, delta)
    for j in range(width):
        g = delta[j]
        backward[j] += fresh * (g * g - backward[j])
        delta[j] = g / np.sqrt(backward[j] + small)
    for i in range(INPUTS):
        row = inputs[rows[i] * width : (rows[i] + 1) * width]
        step = rate if i < DELAY else row_rate
        for j in range(width):
            row[j] -= step * delta[j]
