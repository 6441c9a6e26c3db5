"""Forward, current, backward: a frozen learner scored on what comes next, what it just saw and what it saw first.

In come a learner and three token arrays; out come three rows. The loop calls this at probe times, the experiments at
the end of a segment. Nothing in the learner changes.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError
from sharpstream.evaluate.bits import PAPER_CAP, summarise
from sharpstream.learners.contract import Bits, Learner, Tokens

Direction = Literal["forward", "current", "backward"]
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
    correct = getattr(learner, "correct", None)
    accuracy = float(np.mean(correct)) if correct is not None and len(correct) else None
    return ProbeRow(probe, summary.tokens, summary.bits, summary.bits_clipped, summary.cap, accuracy, parts)


def guess_and_learn(learner: Learner, tokens: Tokens) -> tuple[Bits, npt.NDArray[np.int32]]:
    """Learn token by token, noting the most probable token before each is seen: (N,) bits and (N,) guesses.

    For error curves (1 − `bits.accuracy`); slower than `learn`, which scores whole chunks without listing guesses.
    """
    bits, guesses = np.empty(len(tokens)), np.empty(len(tokens), dtype=np.int32)
    for t, token in enumerate(tokens):
        guesses[t] = int(np.argmax(learner.predict()))
        bits[t] = learner.observe(int(token))
    return bits, guesses


def forward_current_backward(
    learner: Learner, *, forward: Tokens, current: Tokens, backward: Tokens, cap: float = PAPER_CAP
) -> tuple[ProbeRow, ProbeRow, ProbeRow]:
    """The paper's three columns, each from the same state of the learner.

    forward: held-out future, never learned from; current: the end of what was learned; backward: its beginning.
    The order does not matter, because `evaluate` works on a copy of the state.
    """
    probes: tuple[tuple[Direction, Tokens], ...] = (("forward", forward), ("current", current), ("backward", backward))
    first, second, third = (score_probe(learner, tokens, probe=name, cap=cap) for name, tokens in probes)
    return first, second, third
