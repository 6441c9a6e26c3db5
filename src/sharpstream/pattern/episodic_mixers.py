"""Sixteen softmax mixers over all inputs, each with its weights chosen by another selector, and the final mixers.

Inputs are sparse: a context speaks only for the symbols in its slot, the others are 0 (a softmax does not see what is
added to all). The mixers lie side by side, one a lane, so that one vector instruction serves all of them.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.elementary import exp_shifted
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.kernels.lanes import LANES, add_lanes, larger, load, spread, store, sum_lanes

FINALS = 4


@lean_kernel
def gather_weights(weights: Array, rows: Array, inputs: Any, chosen: Array) -> None:
    """chosen (inputs, LANES) ← the selected row of each mixer."""
    for m in range(LANES):
        row = weights[rows[m] * inputs : (rows[m] + 1) * inputs]
        for i in range(inputs):
            chosen[i * LANES + m] = row[i]


@lean_kernel
def log_softmax_lanes(logits: Array, count: Any, p: Array, shift: Array) -> None:
    """Per lane over `count` candidates: logits ← log p, p ← probabilities; both (count, LANES) flat."""
    one, zero = shift.dtype.type(1), shift.dtype.type(0)
    top = load(logits, 0)
    for c in range(1, count):
        top = larger(top, load(logits, c * LANES))
    for c in range(count):
        store(logits, c * LANES, load(logits, c * LANES) - top)
    exp_shifted(logits[: count * LANES], zero, p[: count * LANES])
    sums = spread(zero)
    for c in range(count):
        sums += load(p, c * LANES)
    store(shift, 0, sums)
    for m in range(LANES):
        shift[m] = np.log(shift[m])
    scale, drop = one / sums, load(shift, 0)
    for c in range(count):
        store(p, c * LANES, load(p, c * LANES) * scale)
        store(logits, c * LANES, load(logits, c * LANES) - drop)


@lean_kernel
def softmax(logits: Array, count: Any, p: Array) -> None:
    """logits ← log p over the first `count`, p ← probabilities."""
    top = logits[0]
    for c in range(1, count):
        top = max(top, logits[c])
    exp_shifted(logits[:count], top, p[:count])
    total = p.dtype.type(0)
    for c in range(count):
        total += p[c]
    scale, drop = p.dtype.type(1) / total, top + np.log(total)
    for c in range(count):
        p[c] *= scale
        logits[c] -= drop


@lean_kernel
def step_weights(
    weights: Array, rows: Array, inputs: Any, chosen: Array, gradient: Array, squares: Array, rate: Any, keep: Any
) -> None:
    """One step of every mixer's selected weights, each gradient divided by its running root mean square."""
    real = weights.dtype.type
    fresh, small = real(1) - keep, real(1e-12)
    for i in range(inputs * LANES):
        g = gradient[i]
        squares[i] = keep * squares[i] + fresh * g * g
        chosen[i] -= rate * g / np.sqrt(squares[i] + small)
    for m in range(LANES):
        row = weights[rows[m] * inputs : (rows[m] + 1) * inputs]
        for i in range(inputs):
            row[i] = chosen[i * LANES + m]


@lean_kernel
def mix_finals(finals: Array, rows: Array, logp: Array, count: Any, logits: Array, p: Array, total: Array) -> None:
    """Each final mixer's log-probabilities (FINALS, most) from the lanes; total ← their mean in log space."""
    most = len(total)
    for c in range(count):
        total[c] = 0
    for f in range(FINALS):
        start = rows[f] * LANES
        for c in range(count):
            logits[f * most + c] = sum_lanes(load(finals, start) * load(logp, c * LANES))
        softmax(logits[f * most : (f + 1) * most], count, p[f * most : (f + 1) * most])
        for c in range(count):
            total[c] += logits[f * most + c] * finals.dtype.type(1.0 / FINALS)


@lean_kernel
def learn_finals(
    finals: Array, squares: Array, rows: Array, logp: Array, count: Any, p: Array, most: Any, target: Any, rate: Any,
    keep: Any, gradient: Array,
) -> None:  # fmt: skip
    """One step of all final mixers on the loss of their own softmax."""
    real = finals.dtype.type
    for f in range(FINALS):
        start = rows[f] * LANES
        for m in range(LANES):
            gradient[m] = -logp[target * LANES + m]
        for c in range(count):
            add_lanes(gradient, 0, p[f * most + c], logp, c * LANES)
        for m in range(LANES):
            at, g = f * LANES + m, gradient[m]
            squares[at] = keep * squares[at] + (real(1) - keep) * g * g
            finals[start + m] -= rate * g / np.sqrt(squares[at] + real(1e-12))
