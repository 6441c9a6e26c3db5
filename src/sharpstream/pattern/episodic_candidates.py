"""Which symbols get a logit of their own: all of a small vocabulary, else those that some context or match proposes.

A symbol's score is Σ n/(N + D) over the contexts that hold it; of too many the best are kept. The rest of the
vocabulary shares the escape mass (`episodic_escape.py`).
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel


@lean_kernel
def all_candidates(vocabulary: Any, candidates: Array, place_of: Array) -> Any:
    """Every symbol is one; how many there are."""
    for symbol in range(vocabulary):
        candidates[symbol] = symbol
        place_of[symbol] = symbol
    return np.int64(vocabulary)


@lean_kernel
def propose(symbol: Any, score: Any, proposed: Array, scores: Array, place_of: Array, count: Any) -> Any:
    """Add to a symbol's score, entering it if it is new; how many there are now."""
    at = place_of[symbol]
    if at < 0:
        at = count
        proposed[at], scores[at], place_of[symbol] = symbol, 0.0, at
        count += 1
    scores[at] += score
    return count


@lean_kernel
def nth_largest(values: Array, count: Any, n: Any, spare: Array) -> Any:
    """The n-th largest (from 1) of the first `count` values, by quickselect in `spare`."""
    for i in range(count):
        spare[i] = values[i]
    low, high, want = 0, count - 1, n - 1
    while low < high:
        pivot = spare[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while spare[i] > pivot:
                i += 1
            while spare[j] < pivot:
                j -= 1
            if i <= j:
                spare[i], spare[j] = spare[j], spare[i]
                i += 1
                j -= 1
        if want <= j:
            high = j
        elif want >= i:
            low = i
        else:
            break
    return spare[want]


@lean_kernel
def keep_best(proposed: Array, scores: Array, count: Any, most: Any, place_of: Array, spare: Array) -> Any:
    """Keep at most `most` of the proposed, in their order; the score of what was dropped is returned beside."""
    dropped = 0.0
    if count <= most:
        return count, dropped
    bound = nth_largest(scores, count, most, spare)
    above = 0
    for i in range(count):
        above += int(scores[i] > bound)
    level = most - above  # how many of those on the bound still fit
    kept = 0
    for i in range(count):
        symbol = proposed[i]
        fits = scores[i] > bound
        if scores[i] == bound and level > 0:
            fits = True
            level -= 1
        if fits:
            proposed[kept], scores[kept], place_of[symbol] = symbol, scores[i], kept
            kept += 1
        else:
            place_of[symbol] = -1
            dropped += scores[i]
    return kept, dropped
