"""A learner small enough to compute by hand: it counts tokens and predicts by their add-one frequencies."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from sharpstream.learners.contract import Array, Bits, Learner, State, Tokens, check_tokens


class Counter:
    """Order 0, adaptive: p(x) = (count(x) + 1) / (tokens + V)."""

    name = "counter"

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.regime = {"update_interval": 1}
        self.counts = np.zeros(vocabulary, dtype=np.int64)
        self.correct = np.zeros(0, dtype=np.bool_)

    def predict(self) -> np.ndarray:
        return (self.counts + 1.0) / (self.counts.sum() + self.vocabulary)

    def observe(self, token: int) -> float:
        bits = float(-np.log2(self.predict()[token]))
        self.counts[token] += 1
        return bits

    def learn(self, tokens: Tokens) -> Bits:
        return np.array([self.observe(int(token)) for token in check_tokens(tokens, self.vocabulary)])

    def evaluate(self, tokens: Tokens) -> Bits:
        return -np.log2(self.predict())[check_tokens(tokens, self.vocabulary)]

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """A memory that only counts since the last reset: what it has seen is what helps it."""
        pieces = []
        for start in range(0, len(tokens), every):
            pieces.append(Counter(self.vocabulary).learn(tokens[start : start + every]))
        return np.concatenate(pieces)

    def state_dict(self) -> State:
        return {"counts": self.counts.copy()}

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        self.counts = state["counts"].copy()

    def parameters(self, *, active: bool = False) -> int:
        return self.vocabulary


@pytest.fixture
def counter() -> Callable[[int], Learner]:
    return Counter
