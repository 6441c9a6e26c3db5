import json

import numpy as np
import pytest

from sharpstream.errors import ConfigError, NumericalError, StreamError
from sharpstream.evaluate.bits import Prequential, accuracy, summarise


def test_headline_is_the_true_mean_and_the_cap_applies_to_each_token() -> None:
    summary = summarise([1.0, 2.0, 9.0])
    assert summary.bits == 4.0
    assert summary.bits_clipped == pytest.approx((1.0 + 2.0 + 4.755) / 3)
    assert summarise([1.0, 2.0, 9.0], cap=3.0).bits_clipped == 2.0


def test_a_token_given_no_probability_is_infinite_not_hidden() -> None:
    assert summarise([1.0, np.inf]).bits == np.inf
    assert summarise([1.0, np.inf], cap=3.0).bits_clipped == 2.0


@pytest.mark.parametrize("bad", [[1.0, np.nan], [1.0, -0.5]])
def test_a_score_that_is_no_score_is_named_with_its_position(bad: list[float]) -> None:
    with pytest.raises(NumericalError, match=r"bits\[1\]"):
        summarise(bad)


def test_nothing_to_average_is_an_error() -> None:
    with pytest.raises(StreamError, match="empty"):
        summarise([])
    with pytest.raises(StreamError, match="empty"):
        accuracy([], [])


def test_a_cap_must_be_positive() -> None:
    with pytest.raises(ConfigError, match="cap"):
        summarise([1.0], cap=0.0)


def test_accuracy_refuses_unequal_lengths() -> None:
    with pytest.raises(ConfigError, match="pair"):
        accuracy([1], [1, 2])


def test_prequential_mean_and_curve_by_hand() -> None:
    score = Prequential(every=2, cap=5.0)
    score.add([1.0, 3.0, 8.0])
    score.add([2.0, 6.0])
    assert score.tokens == 5
    assert score.bits == 4.0
    assert score.bits_clipped == pytest.approx((1 + 3 + 5 + 2 + 5) / 5)
    curve = score.curve()
    assert curve.tokens.tolist() == [2, 4]
    assert curve.bits.tolist() == [2.0, 5.0]
    assert curve.bits_clipped.tolist() == [2.0, 3.5]


def test_chunking_does_not_change_the_curve() -> None:
    bits = np.random.default_rng(0).exponential(2.0, 1000)
    whole, pieces = Prequential(every=64), Prequential(every=64)
    whole.add(bits)
    for piece in np.array_split(bits, 37):
        pieces.add(piece)
    np.testing.assert_allclose(whole.curve().bits, pieces.curve().bits, rtol=1e-13)
    assert whole.bits == pytest.approx(bits.mean())


def test_a_resumed_accumulator_continues_to_the_same_floats() -> None:
    bits = np.random.default_rng(1).exponential(2.0, 300)
    straight = Prequential(every=70)
    straight.add(bits[:150])
    resumed = Prequential.from_state(json.loads(json.dumps(straight.state())))
    straight.add(bits[150:])
    resumed.add(bits[150:])
    assert resumed.state() == straight.state()


def test_memory_does_not_grow_with_tokens() -> None:
    score = Prequential(every=1_000_000)
    for _ in range(50):
        score.add(np.ones(1000))
    assert score.state()["points"] == []
    assert score.bits == 1.0


def test_before_the_first_token_there_is_no_mean() -> None:
    assert np.isnan(Prequential().bits)
