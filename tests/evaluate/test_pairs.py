import math

import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.pairs import (
    difference_where_both,
    mean_interval,
    median_difference_where_both,
    median_interval,
)
from sharpstream.evaluate.student import incomplete_beta, t_below, t_quantile

# Two-sided 95 % (0.975) and 99 % (0.995) points as printed in statistical tables.
TABLE = [(1, 12.7062, 63.6567), (2, 4.3027, 9.9248), (4, 2.7764, 4.6041), (9, 2.2622, 3.2498), (30, 2.0423, 2.7500)]


@pytest.mark.parametrize(("degrees", "q975", "q995"), TABLE)
def test_t_quantiles_match_the_printed_tables(degrees: int, q975: float, q995: float) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(q975, abs=6e-5)
    assert t_quantile(0.995, degrees) == pytest.approx(q995, abs=6e-5)


def test_many_degrees_of_freedom_give_the_normal_quantile() -> None:
    assert t_quantile(0.975, 1e7) == pytest.approx(1.959964, abs=1e-5)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    for t in (-3.0, -0.2, 0.0, 0.7, 40.0):
        assert t_below(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-13)


def test_t_is_symmetric() -> None:
    assert t_quantile(0.025, 6) == -t_quantile(0.975, 6)
    assert t_quantile(0.5, 6) == pytest.approx(0.0, abs=1e-12)


def test_incomplete_beta_by_hand() -> None:
    assert incomplete_beta(0.3, 1.0, 1.0) == pytest.approx(0.3)
    assert incomplete_beta(0.3, 2.0, 1.0) == pytest.approx(0.09)
    assert incomplete_beta(0.9, 1.0, 3.0) == pytest.approx(1 - 0.1**3)


def test_interval_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, s = 1, half = 4.3027 / √3.
    ours = {("seed", 0): 3.0, ("seed", 1): 5.0, ("seed", 2): 4.0}
    theirs = {("seed", 2): 1.0, ("seed", 0): 2.0, ("seed", 1): 3.0}
    difference = difference_where_both(ours, theirs)
    assert (difference.mean, difference.n) == (2.0, 3)
    assert difference.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert difference.low == pytest.approx(2.0 - difference.half_width)


def test_one_pair_has_no_interval() -> None:
    difference = difference_where_both({0: 1.0}, {0: 3.0})
    assert difference.mean == -2.0
    assert math.isnan(difference.low)


def test_no_pairs_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no values"):
        mean_interval([])


def test_infinite_bits_have_an_infinite_mean_and_no_interval():
    assert mean_interval([2.0, math.inf]).mean == math.inf
    assert math.isnan(mean_interval([2.0, math.inf]).low)
    assert math.isnan(mean_interval([-math.inf, math.inf]).mean)  # each side lost one


def test_median_interval_covers_as_often_as_it_says():
    """P(the median of a symmetric law lies within) ≥ 95 % for every n, and one place further in would be less."""
    rng = np.random.default_rng(0)
    for n in (6, 8, 9, 12, 20):
        draws = rng.standard_cauchy((4_000, n))  # no mean, no variance
        found = [median_interval(list(values)) for values in draws]
        inside = np.mean([estimate.low <= 0.0 <= estimate.high for estimate in found])
        assert inside > 0.945, n
        rank = sorted(draws[0]).index(found[0].low) + 1
        tighter = 1.0 - 2.0 * sum(math.comb(n, i) for i in range(rank + 1)) / 2**n
        assert tighter < 0.95, n


def test_five_pairs_decide_nothing_without_assumptions():
    assert median_interval([-1.0] * 5).high == math.inf
    assert median_difference_where_both(dict.fromkeys(range(6), 1.0), dict.fromkeys(range(6), 3.0)).high == -2.0
    assert median_difference_where_both({0: 1.0}, {1: 1.0}) is None
