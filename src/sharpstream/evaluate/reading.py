"""A learner reads a passage, symbol by symbol: what each cost, and what it had expected instead.

In come tokens, out come `Read` symbols; `sharp surprise` and the report show them. The learner goes on learning as it
reads, so give it one that nobody needs afterwards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpstream.learners.contract import Learner, Tokens


@dataclass(frozen=True)
class Read:
    """One symbol of a passage."""

    token: int
    bits: float
    expected: tuple[tuple[int, float], ...]
    """The most probable tokens before it was seen, with their probabilities."""


def read_passage(learner: Learner, tokens: Tokens, *, alternatives: int = 3) -> Iterator[Read]:
    """Predict, look, learn.

    >>> from sharpstream.config import CountsConfig
    >>> from sharpstream.learners.counts import Counts
    >>> learner = Counts(CountsConfig(order=1, table_bits=8), vocabulary=3)
    >>> last = list(read_passage(learner, np.array([0, 1] * 30), alternatives=1))[-1]
    >>> last.token, last.expected[0][0], last.bits < 0.5
    (1, 1, True)
    """
    for token in tokens.tolist():
        p = learner.predict()
        best = np.argsort(-p, kind="stable")[:alternatives]
        yield Read(token, learner.observe(token), tuple((int(one), float(p[one])) for one in best))


def sample(learner: Learner, length: int, *, temperature: float = 1.0, seed: int = 0) -> Iterator[int]:
    """Tokens that the learner would go on with; it reads what it writes. Temperature 0 takes the most probable."""
    generator = np.random.default_rng(seed)
    for _ in range(length):
        p = learner.predict()
        if temperature == 0.0:
            token = int(p.argmax())
        else:
            logits = np.log(np.maximum(p, 1e-300)) / temperature
            weights = np.exp(logits - logits.max())
            token = int(generator.choice(p.size, p=weights / weights.sum()))
        learner.observe(token)
        yield token


def as_text(tokens: Sequence[int], symbols: tuple[str, ...]) -> str:
    """Tokens as people read them: bytes as the characters they make, other symbols as they are."""
    if len(symbols) == 256:
        return bytes(tokens).decode("utf-8", errors="replace")
    return "".join(symbols[token] for token in tokens)
