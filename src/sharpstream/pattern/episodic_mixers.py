"""Eight softmax mixers over all inputs, each with its weights chosen by another selector, and the final mixers.

Inputs are sparse: a context speaks only for the symbols in its slot, the others are 0 (a softmax does not see what is
added to all). Everything is laid out eight mixers side by side, so that one vector instruction serves all of them.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.elementary import exp_shifted
from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.pattern.episodic_selectors import LANES

FINALS = 2


@lean_kernel
def add_lanes(out: Array, at: Any, scale: Any, values: Array, row: Any) -> None:
    """out[at + m] += scale · values[row + m] for the eight lanes; all loads come before the stores."""
    a = out[at] + scale * values[row]
    b = out[at + 1] + scale * values[row + 1]
    c = out[at + 2] + scale * values[row + 2]
    d = out[at + 3] + scale * values[row + 3]
    e = out[at + 4] + scale * values[row + 4]
    f = out[at + 5] + scale * values[row + 5]
    g = out[at + 6] + scale * values[row + 6]
    h = out[at + 7] + scale * values[row + 7]
    out[at], out[at + 1], out[at + 2], out[at + 3] = a, b, c, d
    out[at + 4], out[at + 5], out[at + 6], out[at + 7] = e, f, g, h


@lean_kernel
def gather_weights(weights: Array, rows: Array, inputs: Any, chosen: Array) -> None:
    """chosen (inputs, 8) ← the selected row of each mixer."""
    for m in range(LANES):
        start = rows[m] * inputs
        for i in range(inputs):
            chosen[i * LANES + m] = weights[start + i]


@lean_kernel
def log_softmax_lanes(logits: Array, count: Any, p: Array, shift: Array) -> None:
    """Per lane over `count` candidates: logits ← log p, p ← probabilities; both (count, 8) flat."""
    for m in range(LANES):
        shift[m] = logits[m]
    for c in range(1, count):
        for m in range(LANES):
            shift[m] = max(shift[m], logits[c * LANES + m])
    for c in range(count):
        for m in range(LANES):
            logits[c * LANES + m] -= shift[m]
    exp_shifted(logits[: count * LANES], shift.dtype.type(0), p[: count * LANES])
    for m in range(LANES):
        shift[m] = 0
    for c in range(count):
        for m in range(LANES):
            shift[m] += p[c * LANES + m]
    for m in range(LANES):
        scale, drop = shift.dtype.type(1) / shift[m], np.log(shift[m])
        for c in range(count):
            p[c * LANES + m] *= scale
            logits[c * LANES + m] -= drop


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
        start = rows[m] * inputs
        for i in range(inputs):
            weights[start + i] = chosen[i * LANES + m]


@lean_kernel
def mix_finals(finals: Array, rows: Array, logp: Array, count: Any, logits: Array, p: Array, total: Array) -> None:
    """Each final mixer's log-probabilities (FINALS, most) from the eight; total ← their mean, normalised in log space."""
    most = len(total)
    for c in range(count):
        total[c] = 0
    for f in range(FINALS):
        start = rows[f] * LANES
        for c in range(count):
            z = finals.dtype.type(0)
            for m in range(LANES):
                z += finals[start + m] * logp[c * LANES + m]
            logits[f * most + c] = z
        softmax(logits[f * most : (f + 1) * most], count, p[f * most : (f + 1) * most])
        for c in range(count):
            total[c] += logits[f * most + c] / FINALS


@lean_kernel
def learn_finals(
    finals: Array, squares: Array, rows: Array, logp: Array, count: Any, p: Array, most: Any, target: Any, rate: Any,
    keep: Any,
) -> None:  # fmt: skip
    """One step of both final mixers on the loss of their own softmax."""
    real = finals.dtype.type
    for f in range(FINALS):
        start = rows[f] * LANES
        for m in range(LANES):
            g = -logp[target * LANES + m]
            for c in range(count):
                g += p[f * most + c] * logp[c * LANES + m]
            at = f * LANES + m
            squares[at] = keep * squares[at] + (real(1) - keep) * g * g
            finals[start + m] -= rate * g / np.sqrt(squares[at] + real(1e-12))
