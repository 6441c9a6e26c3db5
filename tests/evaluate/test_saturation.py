"""What is stuck at ±1 is counted, level by level, and nothing else is."""

import numpy as np
import pytest

from sharpstream.config import SharpConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.saturation import film_saturation
from sharpstream.learners.sharp import Sharp

TOKENS = np.arange(40) % 5


def learner_with(biases: dict[int, float], **more) -> Sharp:
    """A learner of three levels whose FiLM biases are these."""
    learner = Sharp(SharpConfig(levels=3, width=8, embedding=4, **more), vocabulary=5, seed=0)
    for level, bias in biases.items():
        learner.layout.view(learner.model.p, f"pattern.{level}.film.bias")[:] = bias
    return learner


def test_a_new_learner_hears_everything():
    assert film_saturation(learner_with({}), TOKENS) == [0.0, 0.0]


@pytest.mark.parametrize("bias", [30.0, -30.0])
def test_the_level_that_is_stuck_is_the_one_that_is_told_so(bias):
    assert film_saturation(learner_with({1: bias}), TOKENS) == [1.0, 0.0]
    assert film_saturation(learner_with({2: bias}), TOKENS) == [0.0, 1.0]


def test_half_of_the_numbers_are_half():
    learner = learner_with({})
    learner.layout.view(learner.model.p, "pattern.1.film.bias")[:8] = 30.0  # the gains, not the shifts
    assert film_saturation(learner, TOKENS) == [0.5, 0.0]


def test_the_learner_learns_what_it_is_given():
    looked, plain = learner_with({}), learner_with({})
    film_saturation(looked, TOKENS)
    plain.learn(TOKENS)
    one, other = looked.state_dict(), plain.state_dict()
    assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("more", [{"conditioning": "concat"}, {"levels": 1}])
def test_without_film_there_is_nothing_to_count(more):
    learner = Sharp(SharpConfig(**{"levels": 3, "width": 8, "embedding": 4, **more}), vocabulary=5)
    with pytest.raises(ConfigError, match="two levels"):
        film_saturation(learner, TOKENS)


def test_no_tokens_are_refused():
    with pytest.raises(ConfigError, match="some tokens"):
        film_saturation(learner_with({}), TOKENS[:0])
