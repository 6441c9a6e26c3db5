"""The slow level of the network expert: what was read, averaged at several clocks, scales and shifts its hidden layer.

Every 16 tokens (a tick) the averages advance and h ← (1 + g)⊙h + b gets a new (g, b), a linear map of the averages that
starts at 0. Between ticks nothing it reads changes, so its gradient is summed and taken once, at the next tick. In: the
last symbols and the network's own gradient; out: `film`, which `episodic_network.py` applies.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel

TICK = 16  # tokens: α² with α = 4; the clocks are α², α³, ...
ALPHA = 4
TRACES, CELLS = 3, 32  # the last one, two and four symbols, each hashed into so many cells
FEATURES = TRACES * CELLS
FRESH = 1e-3  # of the running mean and spread of the averages, at least
STEEPEST = 4.0  # an average stands at most so many deviations from its mean
READ = 0  # of `ticks`: tokens read since the past began


@lean_kernel
def trace_cell(recent: Array, trace: Any) -> Any:
    """The cell that the newest symbols light up."""
    h = np.uint64(trace + 1)
    for i in range(1 << trace):
        h = (h + np.uint64(recent[i] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        h = h ^ (h >> np.uint64(29))
    return trace * CELLS + np.int64((h >> np.uint64(32)) % np.uint64(CELLS))


@lean_kernel
def apply_film(film: Array, hidden: Array, plain: Array) -> None:
    """hidden ← (1 + g)⊙hidden + b; plain ← hidden as it was. film (2·H): g, then b."""
    width = len(hidden)
    gain, shift = film[:width], film[width:]
    for j in range(width):
        plain[j] = hidden[j]
        hidden[j] += gain[j] * hidden[j] + shift[j]


@lean_kernel
def film_backward(film: Array, plain: Array, delta: Array, pending: Array) -> None:
    """pending (2·H) += gradient of (g, b); delta ← gradient of the layer before it was scaled."""
    width = len(delta)
    gain, to_gain, to_shift = film[:width], pending[:width], pending[width:]
    for j in range(width):
        to_gain[j] += delta[j] * plain[j]
        to_shift[j] += delta[j]
        delta[j] += delta[j] * gain[j]


@lean_kernel
def advance_averages(averages: Array, trace: Array, ticks: Any) -> None:
    """averages (C · FEATURES) take in the last TICK tokens; a clock that has not gone round is a plain mean."""
    clocks, fresh = len(averages) // FEATURES, 1.0
    for clock in range(clocks):
        share = max(fresh, 1.0 / ticks)
        for i in range(FEATURES):
            at = clock * FEATURES + i
            averages[at] += share * (trace[i] / TICK - averages[at])
        fresh /= ALPHA
    for i in range(FEATURES):
        trace[i] = 0.0


@lean_kernel
def standardise(averages: Array, usual: Array, ticks: Any, learning: bool, standing: Array) -> None:
    """standing ← how far each average is from its usual value, in deviations; usual (2 · n): means, variances."""
    n = len(averages)
    fresh = max(FRESH, 1.0 / (ticks + 1.0))
    for i in range(n):
        away = averages[i] - usual[i]
        if learning:
            usual[i] += fresh * away
            usual[n + i] += fresh * (away * away - usual[n + i])
        z = away / np.sqrt(usual[n + i] + 1e-8)
        standing[i] = min(max(z, -STEEPEST), STEEPEST)


@lean_kernel
def learn_film(weights: Array, standing: Array, pending: Array, moments: Array, rate: Any, fresh: Any) -> None:
    """One step of the map (n, 2·H) from the summed gradient, divided by its running root mean square; sums cleared."""
    width, real = len(pending), weights.dtype.type
    for j in range(width):
        g = pending[j]
        moments[j] += fresh * (g * g - moments[j])
        pending[j] = g / np.sqrt(moments[j] + real(1e-12))
    for i in range(len(standing)):
        row, step = weights[i * width : (i + 1) * width], rate * real(standing[i])
        for j in range(width):
            row[j] -= step * pending[j]
    for j in range(width):
        pending[j] = 0


@lean_kernel
def make_film(weights: Array, standing: Array, film: Array) -> None:
    """film ← the map of where the averages stand."""
    width, real = len(film), film.dtype.type
    for j in range(width):
        film[j] = 0
    for i in range(len(standing)):
        row, z = weights[i * width : (i + 1) * width], real(standing[i])
        for j in range(width):
            film[j] += z * row[j]


@lean_kernel
def slow_step(
    recent: Array, trace: Array, averages: Array, standing: Array, film: Array, ticks: Array, weights: Array,
    pending: Array, moments: Array, usual: Array, learned: Array, rate: Any, learning: bool,
) -> None:  # fmt: skip
    """After a token: its trace; at a tick the map learns, the averages advance and speak anew."""
    for t in range(TRACES):
        trace[trace_cell(recent, t)] += 1.0
    ticks[0] += 1
    if ticks[0] % TICK != 0:
        return
    if learning:
        learned[0] += 1
        fresh = weights.dtype.type(max(1e-4, 1.0 / learned[0]))
        learn_film(weights, standing, pending, moments, weights.dtype.type(rate), fresh)
    advance_averages(averages, trace, ticks[0] // TICK)
    standardise(averages, usual, learned[0], learning, standing)
    make_film(weights, standing, film)
