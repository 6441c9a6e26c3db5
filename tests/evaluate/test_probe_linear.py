import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.probe_linear import LinearClassifier, fit, read_out_lags


def delay_line(tokens: np.ndarray, vocabulary: int, reach: int) -> np.ndarray:
    """States that hold the last `reach` tokens one-hot and nothing older."""
    states = np.zeros((len(tokens), reach, vocabulary))
    for back in range(reach):
        states[back:, back] = np.eye(vocabulary)[tokens[: len(tokens) - back]]
    return states.reshape(len(tokens), -1)


@pytest.mark.parametrize("method", ["logistic", "ridge"])
def test_what_the_state_holds_is_read_and_what_it_does_not_is_chance(method: str) -> None:
    tokens = np.random.default_rng(0).integers(0, 7, 4000)
    results = read_out_lags(delay_line(tokens, 7, 3), tokens, [0, 1, 2, 3, 4], vocabulary=7, method=method)
    assert [result.error for result in results[:3]] == [0.0, 0.0, 0.0]
    for result in results[3:]:
        assert result.error == pytest.approx(6 / 7, abs=0.04)
        assert result.scored == (4000 - result.lag) - (4000 - result.lag) // 2


def test_the_read_out_is_scored_on_tokens_it_was_not_fitted_on() -> None:
    generator = np.random.default_rng(1)
    states, tokens = generator.normal(size=(100, 200)), generator.integers(0, 2, 100)
    (result,) = read_out_lags(states, tokens, [0], vocabulary=2, penalty=1e-6)
    assert 0.2 < result.accuracy < 0.8  # 200 features separate 50 training points perfectly; held-out is chance


def test_guess_by_hand() -> None:
    classifier = LinearClassifier(np.array([1.0]), np.array([2.0]), np.array([[1.0, -1.0], [0.0, 0.5]]))
    # x = 1 → 0: scores 0, 0.5; x = 3 → 1: scores 1, −0.5.
    assert classifier.guess(np.array([[1.0], [3.0]])).tolist() == [1, 0]


def test_logistic_reaches_the_known_optimum_with_no_features_to_use() -> None:
    labels = np.array([0] * 6 + [1] * 3 + [2])
    classifier = fit(np.zeros((10, 1)), labels, vocabulary=3, penalty=1e-9)
    bias = classifier.weights[-1]
    np.testing.assert_allclose(np.exp(bias) / np.exp(bias).sum(), [0.6, 0.3, 0.1], atol=1e-4)


def test_logistic_separates_a_middle_class_that_ridge_masks() -> None:
    x = np.linspace(-1, 1, 300)[:, None]
    labels = np.repeat([0, 1, 2], 100)
    logistic = fit(x, labels, vocabulary=3, penalty=1e-6).guess(x)
    assert np.mean(logistic == labels) > 0.97


def test_shapes_lags_and_methods_are_checked() -> None:
    with pytest.raises(ConfigError, match="states"):
        read_out_lags(np.zeros((5, 2)), np.zeros(4, dtype=int), [0], vocabulary=2)
    with pytest.raises(ConfigError, match="lags"):
        read_out_lags(np.zeros((5, 2)), np.zeros(5, dtype=int), [-1], vocabulary=2)
    with pytest.raises(ConfigError, match="method"):
        fit(np.zeros((5, 2)), np.zeros(5, dtype=int), vocabulary=2, method="magic")
