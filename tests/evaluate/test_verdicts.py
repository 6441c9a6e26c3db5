"""One word for every page: an interval against a band, and nothing from one run."""

import math

import pytest

from sharpstream.evaluate.pairs import difference_where_both, estimate_of, mean_interval
from sharpstream.evaluate.verdicts import Claim, verdict

FEWER, ALIKE = Claim("below", 0.01), Claim("within", 0.01)


@pytest.mark.parametrize(
    ("values", "fewer", "alike"),
    [
        ((-0.5, -0.52, -0.51), "holds", "differs"),
        ((0.5, 0.52, 0.51), "differs", "differs"),
        ((-0.1, -0.52, 0.2), "not decided", "not decided"),  # the interval has 0 in it
        ((0.001, -0.001, 0.0), "no difference", "holds"),
        ((0.03, -0.03, 0.0), "not decided", "not decided"),  # the mean is 0, but it may be far from it
        ((-0.5,), "not decided (n = 1)", "not decided (n = 1)"),
        ((0.0,), "not decided (n = 1)", "not decided (n = 1)"),  # one run that is equal shows no equality
        ((), "not run", "not run"),
        ((-math.inf, -math.inf), "holds", "differs"),  # the other diverged every time
        ((-math.inf, 0.1), "not decided", "not decided"),
        ((math.nan, 0.1), "not decided", "not decided"),
    ],
)
def test_the_word_of_one_estimate(values, fewer, alike):
    assert verdict([estimate_of(values)], FEWER) == fewer
    assert verdict([estimate_of(values)], ALIKE) == alike


def test_a_claim_about_several_needs_all_of_them():
    less, more, equal, open_, once = (
        mean_interval(values) for values in ((-0.5, -0.51), (0.5, 0.51), (0.0, 0.001), (-0.5, 0.5), (-0.5,))
    )
    assert verdict([less, less], FEWER) == "holds"
    assert verdict([less, more], FEWER) == "differs"
    assert verdict([less, equal], FEWER) == "no difference"
    assert verdict([less, equal, open_], FEWER) == "not decided"
    assert verdict([less, once], FEWER) == "not decided (n = 1)"
    assert verdict([more, once], FEWER) == "differs", "one that is refuted refutes all"
    assert verdict([less, None], FEWER) == "not run"
    assert verdict([], FEWER) == "not run"


def test_differences_are_over_the_keys_that_both_have():
    assert difference_where_both({0: 1.0, 1: 5.0}, {0: 0.5, 2: 9.0}) == mean_interval([0.5])
    assert difference_where_both({0: 1.0}, {1: 1.0}) is None
