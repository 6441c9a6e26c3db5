"""A learner of your own: forty lines, the whole contract, and a run that can be stopped and continued.

python examples/own_learner.py
"""

import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpstream import CountsConfig, LearnerBase, RunConfig, check_learner, run
from sharpstream.errors import RunError
from sharpstream.factory import LEARNERS, Entry
from sharpstream.learners.contract import check_tokens


class AddOne(LearnerBase):
    """p(x) = (how often x came + 1) / (tokens + V)."""

    name = "add-one"

    def __init__(self, config: Any, vocabulary: int, *, seed: int = 0) -> None:
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime = {"carry": "-", "update_interval": 1}
        self.correct = np.zeros(0, dtype=np.bool_)
        self.counts = np.zeros(vocabulary, dtype=np.int64)

    def predict(self):
        return (self.counts + 1.0) / (self.counts.sum() + self.vocabulary)

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens):
        bits = []
        for token in check_tokens(tokens, self.vocabulary, first=int(self.counts.sum())):
            bits.append(-np.log2(self.predict()[token]))
            self.counts[token] += 1
        return np.array(bits)

    def evaluate(self, tokens):
        return -np.log2(self.predict())[check_tokens(tokens, self.vocabulary)]

    def forget(self) -> None:
        """Where the stream was is no part of it: it has only what it learned."""

    def state_dict(self):
        return {"counts": self.counts.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if set(state) != {"counts"} or state["counts"].shape != self.counts.shape:
            raise RunError("this state is not of add-one: it must hold counts, one a symbol")
        self.counts = state["counts"].copy()

    def parameters(self, *, active: bool = False) -> int:
        return self.vocabulary


check_learner(lambda seed: AddOne(None, vocabulary=5, seed=seed))
print("every promise of the contract is kept")

sys.modules.setdefault("own_learner", sys.modules[__name__])  # the entry names its class by module
LEARNERS["add-one"] = Entry(settings="counts", made="own_learner:AddOne", label="Add one", colour="#009E73")
with tempfile.TemporaryDirectory() as directory:
    config = RunConfig(learner="add-one", tokens=3_000, counts=CountsConfig())
    summary = run(f"{directory}/out", config)
print(f"{summary['learner']} learned {summary['tokens']:,} tokens: {summary['bits']:.3f} bits each")
