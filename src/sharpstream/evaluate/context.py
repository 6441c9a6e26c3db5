"""Effective context: how many bits a learner loses when its memory is wiped every m tokens.

In come a learner that can be reset, and tokens; out comes a curve of bits against m, over the second half of each
stretch: the first tokens after a wipe cost so much that a mean over all of them falls as 1/m for ever, whatever the
learner remembers. `sharp evaluate` and `effective-context` call this; a curve flat beyond 16 uses at most 16 tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpstream.errors import ConfigError, StreamError
from sharpstream.evaluate.bits import summarise
from sharpstream.learners.contract import Array, Resettable, Tokens

RESET_LENGTHS = tuple(2**power for power in range(2, 13))  # 4, 8, … 4096


@dataclass(frozen=True)
class ContextPoint:
    """Mean bits of tokens that have from half of `every` to `every` tokens behind them since the last wipe."""

    every: int
    bits: float


def remembered(values: Array, every: int) -> Array:
    """The values of tokens in the second half of their stretch; 0: nothing is ever wiped, all of them.

    >>> remembered(np.arange(8), 4).tolist()
    [2, 3, 6, 7]
    """
    return values[np.arange(len(values)) % every >= every // 2] if every else values


def effective_context(
    learner: Resettable, tokens: Tokens, *, lengths: Sequence[int] = RESET_LENGTHS
) -> list[ContextPoint]:
    """A point for each reset length, shortest first."""
    if not isinstance(learner, Resettable):
        raise ConfigError(f"{type(learner).__name__} cannot be reset, so its context cannot be measured")
    if not lengths or min(lengths) < 1:
        raise ConfigError(f"lengths = {list(lengths)}: they must be integers ≥ 1")
    if len(tokens) < max(lengths):
        raise StreamError(f"{len(tokens)} tokens cannot show a context of {max(lengths)}: give at least that many")
    return [
        ContextPoint(every, summarise(remembered(learner.evaluate_with_resets(tokens, every), every)).bits)
        for every in sorted(set(lengths))
    ]


def used_context(points: Sequence[ContextPoint], *, tolerance: float = 0.01) -> int:
    """The shortest memory within `tolerance` bits of the longest one's score: what the learner makes use of.

    >>> used_context([ContextPoint(4, 3.0), ContextPoint(8, 2.205), ContextPoint(16, 2.2)])
    8
    """
    if not points:
        raise ConfigError("no points: measure the effective context first")
    ordered = sorted(points, key=lambda point: point.every)
    # Walk down from the longest: a short memory that is good by accident does not count if a longer one is worse.
    used = ordered[-1]
    for point in reversed(ordered[:-1]):
        if point.bits > ordered[-1].bits + tolerance:
            break
        used = point
    return used.every
