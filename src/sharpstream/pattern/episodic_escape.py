"""The mass of symbols that no context proposes, and how they share it; exactly normalised.

P(escape) is a logistic mix of what escaped before in slots like those found now, corrected by its own record; an
escaped symbol is drawn from a learned mixture of the unigram, of what escaped before and of the uniform, for large
vocabularies also of the tail and of what was seen lately, each restricted to the symbols that are not candidates.
"""

import math
from typing import Any

from sharpstream.kernels.jit import Array, lean_kernel
from sharpstream.pattern.episodic_states import DISTINCT_LEVEL, TOTAL_LEVEL

CELLS = 12 * 7  # (N, D) levels of one context
PARTS = 5  # unigram, escaped before, uniform, tail, seen lately
TAIL, LATELY = 3, 4
LEAST_PART = 1e-4
FADE = 1.0 / 500.0  # what was seen so many symbols ago weighs 1/e
LATELY_FRESH = 1e-6  # of the last symbol's weight: no share is 0
WEIGHT = 3  # sums: of unigram, escapes and lately, then the weight of the last symbol
HEAVIEST = 1e6  # then all weights are made lighter
EXTRA = 4  # inputs beside the contexts': the candidates' number, the dropped score, a constant, what the tail leaves
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
    left: Any, vocabulary: Any, x: Array,
) -> Any:  # fmt: skip
    """(P(escape), its logit before correction, level). Everything float64; x (K + 4,) keeps the inputs.

    left: what the tail gives to all that are no candidates; 1 where there is no tail.
    """
    contexts, found = len(totals), 0
    for k in range(contexts):
        x[k] = 0.0
        if totals[k] > 0:
            found += 1
            x[k] = stretch(cells[escape_cell(k, totals[k], distinct[k])])
    x[contexts] = 0.3 * math.log((vocabulary - count + 0.5) / (count + 0.5))
    x[contexts + 1] = math.log(dropped + 0.01)
    x[contexts + 2] = 0.3
    x[contexts + 3] = 0.0 if left >= 1.0 else stretch(max(left, 1e-6))
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
def share_masses(
    unigram: Array, escapes: Array, lately: Array, sums: Array, left: Any, candidates: Array, count: Any, masses: Array
) -> None:
    """masses (5,): what of each part lies outside the candidates; left: of the tail."""
    vocabulary = len(unigram)
    masses[0], masses[1] = sums[0] + UNIGRAM_FRESH * vocabulary, sums[1] + UNIGRAM_FRESH * vocabulary
    masses[2], masses[TAIL], masses[LATELY] = vocabulary, left, sums[2] + LATELY_FRESH * sums[WEIGHT] * vocabulary
    for c in range(count):
        masses[0] -= unigram[candidates[c]] + UNIGRAM_FRESH
        masses[1] -= escapes[candidates[c]] + UNIGRAM_FRESH
        masses[2] -= 1.0
        masses[LATELY] -= lately[candidates[c]] + LATELY_FRESH * sums[WEIGHT]


@lean_kernel
def see(lately: Array, sums: Array, symbol: Any) -> None:
    """The symbol counts among what was seen lately: each weighs more than the one before, so the earlier ones fade."""
    sums[WEIGHT] *= 1.0 + FADE
    lately[symbol] += sums[WEIGHT]
    sums[2] += sums[WEIGHT]
    if sums[WEIGHT] > HEAVIEST:
        for i in range(len(lately)):
            lately[i] /= HEAVIEST
        sums[2] /= HEAVIEST
        sums[WEIGHT] /= HEAVIEST


@lean_kernel
def part_of(
    unigram: Array, escapes: Array, lately: Array, sums: Array, masses: Array, symbol: Any, behind: Any, part: Any
) -> Any:
    """What one part gives a symbol that is not a candidate; behind: what the tail gives it before it is restricted."""
    if part == 0:
        return (unigram[symbol] + UNIGRAM_FRESH) / masses[0]
    if part == 1:
        return (escapes[symbol] + UNIGRAM_FRESH) / masses[1]
    if part == LATELY:
        return (lately[symbol] + LATELY_FRESH * sums[WEIGHT]) / masses[LATELY]
    return (1.0 if part == 2 else behind) / masses[part]


@lean_kernel
def share(
    unigram: Array, escapes: Array, lately: Array, sums: Array, parts: Array, masses: Array, symbol: Any, behind: Any
) -> Any:
    """P(symbol | escaped) for a symbol that is not a candidate."""
    p = 0.0
    for part in range(PARTS):
        p += parts[part] * part_of(unigram, escapes, lately, sums, masses, symbol, behind, part)
    return p


@lean_kernel
def learn_share(
    unigram: Array, escapes: Array, lately: Array, sums: Array, parts: Array, masses: Array, symbol: Any, behind: Any,
    rate: Any,
) -> None:  # fmt: skip
    """The mixture moves towards who expected the escaped symbol; the symbol is counted among the escaped."""
    whole, total = share(unigram, escapes, lately, sums, parts, masses, symbol, behind), 0.0
    for part in range(PARTS):
        if parts[part] > 0.0:  # a part that is not there stays away
            spoke = parts[part] * part_of(unigram, escapes, lately, sums, masses, symbol, behind, part) / whole
            parts[part] = max(parts[part] + rate * (spoke - parts[part]), LEAST_PART)
            total += parts[part]
    for part in range(PARTS):
        parts[part] /= total
    escapes[symbol] += 1.0
    sums[1] += 1.0
