"""Learned state tables: what a count means, by how it came about.

For each context and symbol in its slot, three tables (own counts; beside the parent's counts; age) are summed to a
logit, against what a symbol not in the slot gets. Each context's logits are trained on the softmax of their own sum,
by Adagrad. In: the pairs of the slots; out: one logit a pair, an input of the mixers.
"""

from typing import Any

import numpy as np

from sharpstream.kernels.jit import Array, lean_kernel


def _levels(bounds: tuple[int, ...], size: int) -> Array:
    """level[x] = how many bounds are ≤ x."""
    return np.searchsorted(np.array(bounds), np.arange(size), side="right").astype(np.int64)


COUNT_LEVEL = _levels((1, 2, 3, 4, 5, 7, 10, 15, 31, 81), 256)  # 11 levels, 0: absent
TOTAL_LEVEL = _levels((2, 3, 4, 5, 7, 10, 15, 25, 51, 121, 401), 1024)  # 12 levels
DISTINCT_LEVEL = _levels((2, 3, 4, 5, 8, 13), 256)  # 7 levels
COARSE_COUNT = _levels((1, 2, 3, 5, 10, 21, 81), 256)  # 8 levels
COARSE_TOTAL = _levels((2, 3, 5, 10, 21, 61, 251), 1024)  # 8 levels
COARSE_DISTINCT = _levels((2, 3, 5, 10), 256)  # 5 levels
AGED_COUNT = _levels((2, 3, 5, 10), 256)  # 5 levels
AGES = 24
OWN = 12 * 7 * 11 * 3
BESIDE = 8 * 5 * 8 * 9
AGED = AGES * 5 * 4 * 5
STATES = OWN + BESIDE + AGED  # entries of one context
STEEPEST = 15.0  # a logit's largest size


@lean_kernel
def age_level(age: Any) -> Any:
    """⌊log2(age)⌋ + 1, at most 23; 0 for none."""
    level = 0
    while age > 0 and level < AGES - 1:
        age >>= 1
        level += 1
    return level


@lean_kernel
def own_entry(k: Any, total: Any, distinct: Any, count: Any, recency: Any) -> Any:
    """recency: 0 the last symbol seen here (or absent), 1 the one before, 2 older."""
    row = (TOTAL_LEVEL[min(total, 1023)] * 7 + DISTINCT_LEVEL[distinct]) * 11 + COUNT_LEVEL[count]
    return k * STATES + row * 3 + recency


@lean_kernel
def beside_entry(k: Any, total: Any, distinct: Any, count: Any, parent: Any) -> Any:
    """parent: −1 where the parent has no slot, else its count of the symbol."""
    beside = 0 if parent < 0 else COARSE_COUNT[parent] + 1
    row = (COARSE_TOTAL[min(total, 1023)] * 5 + COARSE_DISTINCT[distinct]) * 8 + COARSE_COUNT[count]
    return k * STATES + OWN + row * 9 + beside


@lean_kernel
def aged_entry(k: Any, age: Any, distinct: Any, count: Any, recency: Any) -> Any:
    """`age` is a level; absent symbols have recency 0, present ones 1, 2, 3."""
    row = (age * 5 + COARSE_DISTINCT[distinct]) * 4 + recency
    return k * STATES + OWN + BESIDE + row * 5 + AGED_COUNT[count]


@lean_kernel
def state_entries(
    k: Any, total: Any, distinct: Any, age: Any, first: Any, last: Any, parent: Any, candidate: Array, counts: Array,
    counted: Array, most: Any, entries: Array,
) -> None:  # fmt: skip
    """The table entries of one context's pairs first..last and, in the row after them, of the absent symbols.

    counted (K, most) uint8: each context's count of each candidate; parent −1: no slot. entries (pairs, 3) int64.
    """
    for e in range(first, last):
        count, recency = counts[e], min(e - first, 2)
        beside = np.int64(counted[parent * most + candidate[e]]) if parent >= 0 and candidate[e] >= 0 else np.int64(-1)
        entries[3 * e] = own_entry(k, total, distinct, count, recency)
        entries[3 * e + 1] = beside_entry(k, total, distinct, count, beside)
        entries[3 * e + 2] = aged_entry(k, age, distinct, count, recency + 1)
    entries[3 * last] = own_entry(k, total, distinct, 0, 0)
    entries[3 * last + 1] = beside_entry(k, total, distinct, 0, -1 if parent < 0 else 0)
    entries[3 * last + 2] = aged_entry(k, age, distinct, 0, 0)


@lean_kernel
def state_value(tables: Array, entries: Array, e: Any) -> Any:
    """The sum of a pair's three entries; tables hold (value, sum of squared gradients) side by side."""
    return tables[2 * entries[3 * e]] + tables[2 * entries[3 * e + 1]] + tables[2 * entries[3 * e + 2]]


@lean_kernel
def learn_state(tables: Array, entries: Array, e: Any, gradient: Any, rate: Any) -> None:
    """One Adagrad step on a pair's three entries."""
    square = gradient * gradient
    for i in range(3):
        at = 2 * entries[3 * e + i]
        tables[at + 1] += square
        tables[at] -= rate * gradient / np.sqrt(tables[at + 1])
