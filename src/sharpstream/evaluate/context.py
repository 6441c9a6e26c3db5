"""Effective context: how many bits a learner loses when its memory is wiped every m tokens.

In come a learner that can be reset, and tokens; out comes a curve of bits against m. Experiments on long context call
this; a learner whose curve is flat beyond m = 16 does not use more than 16 tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sharpstream.errors import ConfigError, StreamError
from sharpstream.evaluate.bits import summarise
from sharpstream.learners.contract import Resettable, Tokens

RESET_LENGTHS = tuple(2**power for power in range(2, 13))  # 4, 8, … 4096


@dataclass(frozen=True)
class ContextPoint:
    """Mean bits when memory reaches at most `every` tokens back."""

    every: int
    bits: float


def effective_context(
    learner: Resettable, tokens: Tokens, *, lengths: Sequence[int] = RESET_LENGTHS
) -> list[ContextPoint]:
    """Mean bits over the same tokens for each reset length, shortest first."""
    if not isinstance(learner, Resettable):
        raise ConfigError(f"{type(learner).__name__} cannot be reset, so its context cannot be measured")
    if not lengths or min(lengths) < 1:
        raise ConfigError(f"lengths = {list(lengths)}: they must be integers ≥ 1")
    if len(tokens) < max(lengths):
        raise StreamError(f"{len(tokens)} tokens cannot show a context of {max(lengths)}: give at least that many")
    return [
        ContextPoint(every, summarise(learner.evaluate_with_resets(tokens, every)).bits)
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
