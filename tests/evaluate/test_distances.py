import math

import numpy as np
import pytest

from sharpstream.errors import ConfigError, StreamError
from sharpstream.evaluate.drift import mean_distance
from sharpstream.evaluate.mmd import gaussian_twin, median_bandwidth, mmd_squared
from sharpstream.evaluate.nonstationarity import distance_by_lag, hellinger, histograms, nonstationarity


def test_mmd_by_hand() -> None:
    # k(d) = exp(−d²) for σ² = ½. x = {0, 1}, y = {0, 2}: within e⁻¹ + e⁻⁴; across (1 + e⁻⁴ + 2e⁻¹)/4.
    e1, e4 = math.exp(-1), math.exp(-4)
    expected = e1 + e4 - 2 * (1 + e4 + 2 * e1) / 4
    assert mmd_squared([[0.0], [1.0]], [[0.0], [2.0]], bandwidth=math.sqrt(0.5)) == pytest.approx(expected)
    assert expected < 0.0  # unbiased, and not clamped


def test_median_bandwidth_by_hand() -> None:
    assert median_bandwidth([[0.0], [1.0]], [[0.0], [3.0]]) == pytest.approx(1.5)  # distances 0, 1, 1, 2, 3, 3
    assert median_bandwidth([[0.0], [0.0], [0.0], [4.0]]) == pytest.approx(2.0)  # 0, 0, 0, 4, 4, 4
    assert median_bandwidth([[0.0]] * 5 + [[4.0]]) == pytest.approx(4.0)  # median 0: the distances above it
    assert median_bandwidth([[1.0], [1.0]]) == 1.0


def test_mmd_is_unbiased_on_two_samples_of_one_distribution() -> None:
    generator = np.random.default_rng(0)
    values = [mmd_squared(generator.normal(size=(40, 3)), generator.normal(size=(30, 3))) for _ in range(300)]
    assert abs(np.mean(values)) < 4 * np.std(values) / math.sqrt(300)
    assert min(values) < 0.0 < max(values)


def test_mmd_is_positive_on_shifted_samples() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=(200, 5))
    assert mmd_squared(x, generator.normal(size=(200, 5)) + 1.0) > 0.05


def test_mmd_sees_dependence_that_mean_and_variance_do_not_show() -> None:
    generator = np.random.default_rng(2)
    line = generator.normal(size=(300, 1)) @ np.ones((1, 4))
    noise = gaussian_twin(line, generator)
    assert noise.shape == line.shape
    np.testing.assert_allclose(noise.mean(axis=0), line.mean(axis=0), atol=0.25)
    assert mmd_squared(line, noise) > 0.02


def test_mmd_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(ConfigError, match="dimensions"):
        mmd_squared(np.zeros((2, 2)), np.zeros((2, 3)))
    with pytest.raises(ConfigError, match="at least two"):
        mmd_squared(np.zeros((1, 2)), np.zeros((2, 2)))
    with pytest.raises(ConfigError, match="finite"):
        mmd_squared([[np.nan], [0.0]], [[0.0], [1.0]])
    with pytest.raises(ConfigError, match="bandwidth"):
        mmd_squared([[1.0], [0.0]], [[0.0], [1.0]], bandwidth=0.0)


def test_drift_by_hand() -> None:
    assert mean_distance([[0.0, 0.0], [1.0, 0.0]], [[0.0, 2.0], [4.0, 4.0]]) == pytest.approx((2 + 5) / 2)
    with pytest.raises(ConfigError, match="same"):
        mean_distance(np.zeros((2, 3)), np.zeros((3, 2)))


def test_hellinger_by_hand() -> None:
    assert float(hellinger([0.5, 0.5], [0.5, 0.5])) == 0.0
    assert float(hellinger([1.0, 0.0], [0.5, 0.5])) == pytest.approx(math.sqrt(1 - math.sqrt(0.5)))


def test_histograms_and_lags_by_hand() -> None:
    tokens = np.array([0, 0, 1, 1, 0, 0, 1])  # windows 00, 11, 00; the last 1 fills none
    frequencies = histograms(tokens, vocabulary=2, window=2)
    assert frequencies.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert distance_by_lag(frequencies).tolist() == [1.0, 0.0]


def test_a_text_that_changes_is_told_from_a_shuffled_one() -> None:
    generator = np.random.default_rng(3)
    drifting = np.concatenate(
        [generator.choice(4, 1024, p=p) for p in np.linspace([0.7, 0.1, 0.1, 0.1], [0.1] * 3 + [0.7], 20)]
    )
    result = nonstationarity(drifting, vocabulary=4, max_lag=10)
    assert result.lags.tolist() == list(range(1, 11))
    assert np.all(np.diff(result.distance[::3]) > 0)
    assert result.distance[-1] > 5 * result.shuffled[-1]


def test_iid_letters_give_the_noise_level_at_every_lag() -> None:
    tokens = np.random.default_rng(4).integers(0, 27, 1024 * 60)
    result = nonstationarity(tokens, vocabulary=27, max_lag=5)
    np.testing.assert_allclose(result.distance, result.shuffled, rtol=0.05)


def test_too_little_text_and_impossible_lags_are_refused() -> None:
    with pytest.raises(StreamError, match="two windows of 1024"):
        histograms(np.zeros(2000, dtype=int), vocabulary=2)
    with pytest.raises(ConfigError, match="max_lag"):
        nonstationarity(np.zeros(4096, dtype=int), vocabulary=2, max_lag=4)
