"""Forward, current, backward: a frozen learner scored on what comes next, what it just saw and what it saw first.

In come a learner and three token arrays; out come three rows. The loop calls this at probe times, the experiments at
the end of a segment. Nothing in the learner changes.
"""

from dataclasses import dataclass

import numpy as np

from sharpstream.errors import StreamError
from sharpstream.evaluate.bits import PAPER_CAP, summarise
from sharpstream.learners.contract import Bits, Learner, Tokens

PARTS = 20  # of a probe, whose means show where in it a frozen learner broke down


@dataclass(frozen=True)
class ProbeRow:
    """One probe: which tokens were scored, how many, and the mean bits."""

    probe: str
    tokens: int
    bits: float
    bits_clipped: float
    cap: float
    accuracy: float | None = None  # share of tokens that were the most probable one, where the learner tells
    parts: tuple[float, ...] = ()  # mean bits of each twentieth, in order; of each token when there are fewer


def frozen_bits(learner: Learner, tokens: Tokens, *, probe: str = "probe") -> Bits:
    """`learner.evaluate`, with the two mistakes that would pass unseen refused: no tokens, and a count that differs."""
    if not len(tokens):
        raise StreamError(f"the {probe} probe has no tokens to score")
    bits = learner.evaluate(tokens)
    if len(bits) != len(tokens):
        raise StreamError(
            f"{learner.name} returned {len(bits)} scores for the {len(tokens)} tokens of the {probe} probe"
        )
    return bits


def score_probe(learner: Learner, tokens: Tokens, *, probe: str, cap: float = PAPER_CAP) -> ProbeRow:
    """One probe sequence, scored with learning off."""
    bits = frozen_bits(learner, tokens, probe=probe)
    summary = summarise(bits, cap=cap)
    parts = tuple(float(part.mean()) for part in np.array_split(bits, min(PARTS, len(bits))))
    accuracy = float(np.mean(learner.correct)) if learner.correct.size else None
    return ProbeRow(probe, summary.tokens, summary.bits, summary.bits_clipped, summary.cap, accuracy, parts)
