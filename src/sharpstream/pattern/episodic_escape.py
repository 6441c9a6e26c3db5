"""The mass of symbols that no context proposes, and how they share it; exactly normalised.

P(escape) is a logistic mix of what escaped before in slots like those found now, corrected by its own record; an
escaped symbol is drawn from a learned mixture of the unigram, of what escaped before and of the uniform, each
restricted to the symbols that are not candidates.
"""

import math
from typing import Any

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.pattern.episodic_states import DISTINCT_LEVEL, TOTAL_LEVEL

CELLS = 12 * 7  # (N, D) levels of one context
PARTS = 3  # unigram, escaped before, uniform
EXTRA = 3  # inputs beside the contexts': the candidates' number, the dropped score, a constant
LEVELS = 33  # of the correction
SURE = 12.0  # the largest logit
UNIGRAM_FRESH = 0.02  # unigram counts are shares of a long past; this much uniform keeps each of them above 0


@lean_kernel
def stretch(p: Any) -> Any:
    return math.log(p / (1.0 - p))


@lean_kernel
def squash(x: Any) -> Any:
    x = min(max(x, -SURE), SURE)
    return 1.0 / (1.0 + math.exp(-x))


@lean_kernel
def escape_cell(k: Any, total: Any, distinct: Any) -> Any:
    return k * CELLS + TOTAL_LEVEL[min(total, 1023)] * 7 + DISTINCT_LEVEL[distinct]


@lean_kernel
def escape_probability(
    cells: Array, weights: Array, correction: Array, totals: Array, distinct: Array, count: Any, dropped: Any,
    vocabulary: Any, x: Array,
) -> Any:  # fmt: skip
    """(P(escape), its logit before correction, level). Everything float64; x (K + 3,) keeps the inputs."""
    contexts, found = len(totals), 0
    for k in range(contexts):
        x[k] = 0.0
        if totals[k] > 0:
            found += 1
            x[k] = stretch(cells[escape_cell(k, totals[k], distinct[k])])
    x[contexts] = 0.3 * math.log((vocabulary - count + 0.5) / (count + 0.5))
    x[contexts + 1] = math.log(dropped + 0.01)
    x[contexts + 2] = 0.3
    start, logit = found * (contexts + EXTRA), 0.0
    for i in range(contexts + EXTRA):
        logit += weights[start + i] * x[i]
    if not logit > -SURE:  # also where it is no number
        logit = -SURE
    logit = min(logit, SURE)
    level = int((logit + SURE) / (2.0 * SURE) * (LEVELS - 1) + 0.5)
    return 0.5 * (squash(logit) + correction[level]), logit, level, found


@lean_kernel
def learn_escape(
    cells: Array, weights: Array, correction: Array, totals: Array, distinct: Array, x: Array, logit: Any, level: Any,
    found: Any, escaped: bool, rate: Any, cell_rate: Any, correction_rate: Any,
) -> None:  # fmt: skip
    """One step of the cells, the mix and the correction on whether the symbol escaped."""
    truth = 1.0 if escaped else 0.0
    contexts = len(totals)
    error = truth - squash(logit)
    start = found * (contexts + EXTRA)
    for i in range(contexts + EXTRA):
        weights[start + i] += rate * error * x[i]
    for k in range(contexts):
        if totals[k] > 0:
            at = escape_cell(k, totals[k], distinct[k])
            cells[at] += cell_rate * (truth - cells[at])
            cells[at] = min(max(cells[at], 1e-5), 1.0 - 1e-5)
    correction[level] += correction_rate * (truth - correction[level])
    correction[level] = min(max(correction[level], 1e-6), 1.0 - 1e-6)


@lean_kernel
def share_masses(unigram: Array, escapes: Array, sums: Array, candidates: Array, count: Any, masses: Array) -> None:
    """masses (3,): what of the unigram, the escapes and the uniform lies outside the candidates."""
    vocabulary = len(unigram)
    masses[0], masses[1], masses[2] = (
        sums[0] + UNIGRAM_FRESH * vocabulary,
        sums[1] + UNIGRAM_FRESH * vocabulary,
        vocabulary,
    )
    for c in range(count):
        masses[0] -= unigram[candidates[c]] + UNIGRAM_FRESH
        masses[1] -= escapes[candidates[c]] + UNIGRAM_FRESH
        masses[2] -= 1.0


@lean_kernel
def share(unigram: Array, escapes: Array, parts: Array, masses: Array, symbol: Any) -> Any:
    """P(symbol | escaped) for a symbol that is not a candidate."""
    return (
        parts[0] * (unigram[symbol] + UNIGRAM_FRESH) / masses[0]
        + parts[1] * (escapes[symbol] + UNIGRAM_FRESH) / masses[1]
        + parts[2] / masses[2]
    )


@lean_kernel
def learn_share(
    unigram: Array, escapes: Array, sums: Array, parts: Array, masses: Array, symbol: Any, rate: Any
) -> None:
    """The mixture moves towards who expected the escaped symbol; the symbol is counted among the escaped."""
    whole = share(unigram, escapes, parts, masses, symbol)
    a = parts[0] * (unigram[symbol] + UNIGRAM_FRESH) / masses[0] / whole
    b = parts[1] * (escapes[symbol] + UNIGRAM_FRESH) / masses[1] / whole
    c = parts[2] / masses[2] / whole
    parts[0] += rate * (a - parts[0])
    parts[1] += rate * (b - parts[1])
    parts[2] += rate * (c - parts[2])
    least = 1e-4
    parts[0], parts[1], parts[2] = max(parts[0], least), max(parts[1], least), max(parts[2], least)
    total = parts[0] + parts[1] + parts[2]
    parts[0], parts[1], parts[2] = parts[0] / total, parts[1] / total, parts[2] / total
    escapes[symbol] += 1.0
    sums[1] += 1.0
