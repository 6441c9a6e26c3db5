"""The twin of `pattern/episodic_residual.py`: one more linear model, trained by the error of the whole prediction."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sharpstream.learners import episodic_learn as learn
from sharpstream.learners.episodic import RATE_VALUES
from sharpstream.pattern.episodic_residual import PLACES, ROW
from sharpstream.reference.episodic_memory import GOLDEN, WORD64
from sharpstream.reference.episodic_numbers import Array, adagrad


class Spoken(NamedTuple):
    """What one context says of the candidates it has seen."""

    places: list[int]  # which candidates
    counts: list[int]
    entries: list[list[int]]  # three of the state tables each
    absent: list[int]  # those of a symbol that is not in the slot
    value: Array
    own: Array  # its own probabilities


class Residual:
    """Second values of the state tables, and a hashed row of weights by symbol for each context."""

    def __init__(self, states: Array, rows: Array, contexts: int) -> None:
        self.states, self.rows, self.each = states.reshape(-1, 2), rows.reshape(-1, ROW), rows.size // ROW // contexts

    def read(self, addresses: Iterable[tuple[int, int]], spoken: Sequence[Spoken], candidates: Array) -> Array:
        """One logit a candidate; addresses: where each context's bucket lies, and its check."""
        self.at, self.spoken, self.places = [], spoken, candidates % PLACES
        for k, (bucket, check) in enumerate(addresses):
            z = ((bucket * 65_536 + check) * GOLDEN) & WORD64
            self.at.append(k * self.each + (((z >> 32) * self.each) >> 32))
        logits: Array = self.rows[self.at].sum(axis=0)[self.places]
        for one in spoken:
            absent = self.states[one.absent, 0].sum()
            logits[one.places] += [self.states[three, 0].sum() - absent for three in one.entries]
        return logits

    def learn(self, error: Array) -> None:
        """One step along the error of the whole prediction, one number a candidate."""
        by_place = np.bincount(self.places, weights=error, minlength=PLACES)
        for at in self.at:
            row = self.rows[at]
            row[PLACES] += (by_place**2).sum()
            row[:PLACES] -= RATE_VALUES[learn.RESIDUAL_ROWS] * by_place / math.sqrt(row[PLACES] + 1.0)
        for one in self.spoken:
            gradients = [*error[one.places], -error[one.places].sum()]
            for three, g in zip([*one.entries, one.absent], gradients, strict=True):
                for entry in three:
                    adagrad(self.states, entry, g, RATE_VALUES[learn.RESIDUAL])
