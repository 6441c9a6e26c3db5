import numpy as np
import pytest

from sharpstream.errors import ConfigError, NumericalError, StreamError
from sharpstream.evaluate.bits import summarise


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


def test_a_cap_must_be_positive() -> None:
    with pytest.raises(ConfigError, match="cap"):
        summarise([1.0], cap=0.0)
