import math

import numpy as np
import pytest

from sharpstream.errors import StreamError
from sharpstream.evaluate.probes import score_probe


def tokens(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_three_rows_by_hand(counter) -> None:
    learner = counter(2)
    learner.learn(tokens(0, 0))  # p(0) = 3/4, p(1) = 1/4
    probes = {"forward": tokens(1, 1), "current": tokens(0, 1), "backward": tokens(0)}
    rows = [score_probe(learner, text, probe=name, cap=1.5) for name, text in probes.items()]
    assert [row.probe for row in rows] == ["forward", "current", "backward"]
    assert [row.tokens for row in rows] == [2, 2, 1]
    seen = math.log2(4 / 3)
    assert [row.bits for row in rows] == pytest.approx([2.0, (seen + 2.0) / 2, seen])
    assert [row.bits_clipped for row in rows] == pytest.approx([1.5, (seen + 1.5) / 2, seen])


def test_probing_changes_nothing_bit_for_bit(counter) -> None:
    learner = counter(3)
    learner.learn(tokens(0, 1, 1, 2))
    before = {name: array.tobytes() for name, array in learner.state_dict().items()}
    score_probe(learner, tokens(2, 2, 0), probe="forward")
    assert {name: array.tobytes() for name, array in learner.state_dict().items()} == before


def test_probe_order_does_not_matter(counter) -> None:
    learner = counter(3)
    learner.learn(tokens(0, 1, 1))
    first = score_probe(learner, tokens(1, 2), probe="a")
    score_probe(learner, tokens(2, 2, 2), probe="b")
    assert score_probe(learner, tokens(1, 2), probe="a") == first


def test_the_parts_of_a_probe_are_its_bits_in_order(counter) -> None:
    learner = counter(3)
    learner.learn(tokens(0, 1, 1))
    text = np.tile(tokens(0, 1, 2, 2, 1), 9)  # 45 tokens: parts of three, then of two
    bits, parts = learner.evaluate(text), score_probe(learner, text, probe="a").parts
    assert parts[0] == pytest.approx(bits[:3].mean())
    assert parts[-1] == pytest.approx(bits[-2:].mean())
    assert len(parts) == 20
    assert score_probe(learner, text[:3], probe="a").parts == pytest.approx(bits[:3])


def test_an_empty_probe_is_named(counter) -> None:
    with pytest.raises(StreamError, match="backward"):
        score_probe(counter(2), tokens(), probe="backward")


def test_a_learner_that_skips_tokens_is_caught(counter) -> None:
    learner = counter(2)
    learner.evaluate = lambda given: np.ones(len(given) - 1)
    with pytest.raises(StreamError, match="2 scores for the 3 tokens"):
        score_probe(learner, tokens(0, 1, 0), probe="forward")
