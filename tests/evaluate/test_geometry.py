"""The constant of the paper's equation for a memory, where it is known."""

import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.geometry import kept_distance

TOKENS = np.random.default_rng(0).integers(0, 5, 1_000)


def line(taps: int) -> np.ndarray:
    """One-hot delay line: the sequence itself as a state."""
    return np.hstack([np.eye(5)[np.roll(TOKENS, lag)] for lag in range(taps)])


def test_the_sequence_itself_keeps_every_distance_in_any_unit_of_length():
    assert kept_distance(line(4), TOKENS, 4) == pytest.approx(1.0)
    assert kept_distance(7.0 * line(4), TOKENS, 4) == pytest.approx(1.0)


def test_a_memory_too_short_for_the_span_loses_sequences():
    assert kept_distance(line(3), TOKENS, 4) == 0.0
    assert kept_distance(line(3), TOKENS, 3) == pytest.approx(1.0)


def test_one_place_that_weighs_four_times_as_much_gives_c_two():
    """Sequences that differ there alone lie 4 times as far apart as others at the same distance: C² = 4."""
    weighted = line(2)
    weighted[:, :5] *= 4.0
    assert kept_distance(weighted, TOKENS, 2) == pytest.approx(0.5, abs=1e-6)


def test_noise_that_has_nothing_to_do_with_the_tokens_keeps_little():
    noise = np.random.default_rng(1).normal(size=(1_000, 3))
    assert kept_distance(noise, TOKENS, 4) < 0.4


def test_states_and_tokens_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="span"):
        kept_distance(line(2)[:10], TOKENS, 2)
    with pytest.raises(ConfigError, match="no 20 pairs"):
        kept_distance(np.zeros((50, 2)), np.zeros(50, dtype=int), 3)
