"""A learner of ours as an expert of the episodic learner: its log-probabilities before each token.

Learning, the expert observes every token itself (and sleeps when it is due). Frozen, it walks in a copy of its hidden
state. `episodic.py` asks token by token; this is the simple way, its price is a few calls from Python a token.
"""

from typing import Protocol

import numpy as np

from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Array, Learner, Sleeper
from sharpstream.learners.recurrent_learner import NO_TOKENS, RecurrentLearner
from sharpstream.learners.sharp import Sharp, make_desk
from sharpstream.learners.sharp_wake import NOBODY, Mind, score_frozen


class Walk(Protocol):
    """Reads on from where the expert stands."""

    def before(self, token: int) -> Array:
        """Log-probabilities, (V,), as they were before this token; then the token is read."""


class Awake:
    """The expert itself, learning."""

    def __init__(self, expert: Learner) -> None:
        self.expert = expert

    def before(self, token: int) -> Array:
        p = self.expert.predict()
        self.expert.observe(token)
        if isinstance(self.expert, Sleeper):
            self.expert.sleep_reports.clear()
        return np.log(np.maximum(p, 1e-30))


class FrozenSharp:
    """SHARP with learning off."""

    def __init__(self, expert: Sharp) -> None:
        expert.predict()
        self.model, self.mind = expert.model, Mind(*(array.copy() for array in expert.mind))
        self.desk = make_desk(expert.config, expert.vocabulary)
        self.bits, self.correct = np.empty(1), np.zeros(1, dtype=np.bool_)

    def before(self, token: int) -> Array:
        read = np.array([token], dtype=np.int32)
        score_frozen(self.model, self.mind, self.desk, read, 0, NOBODY, self.bits, self.correct)
        return log_softmax(self.desk.logits)


class FrozenRecurrent:
    """A recurrent learner with learning off."""

    def __init__(self, expert: RecurrentLearner) -> None:
        self.expert, self.mind, self.desk = expert, expert._copied_mind(), expert._make_desk()
        expert._run(self.mind, self.desk, NO_TOKENS)

    def before(self, token: int) -> Array:
        logp = log_softmax(self.desk.logits)
        self.expert._run(self.mind, self.desk, np.array([token], dtype=np.int32))
        return logp


def walk_frozen(expert: Learner) -> Walk:
    """A walk of this expert that changes nothing."""
    if isinstance(expert, Sharp):
        return FrozenSharp(expert)
    if isinstance(expert, RecurrentLearner):
        return FrozenRecurrent(expert)
    raise ConfigError(f"{expert.name} cannot be an expert: only sharp and the recurrent learners walk frozen")


def log_softmax(logits: Array) -> Array:
    """log p, (V,), float64."""
    shifted = logits.astype(np.float64) - float(logits.max())
    return np.asarray(np.maximum(shifted - np.log(np.exp(shifted).sum()), -60.0))
