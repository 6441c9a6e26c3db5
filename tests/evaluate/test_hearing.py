"""What a level hears is measured as the reference would measure it, and dead levels are heard as nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sharpstream.config import AdamConfig, SharpConfig, SleepConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.hearing import hearing
from sharpstream.experiments.recipes import dead_upper_levels
from sharpstream.learners.sharp import Sharp
from sharpstream.reference.exchange import to_reference

CONFIG = SharpConfig(
    levels=3,
    width=10,
    embedding=4,
    depth=2,
    dtype="float64",
    gamma=1.0,
    adam=AdamConfig(lr=3e-3),
    sleep=SleepConfig(every=400, tags=4, replay_length=70),
)
RNG = np.random.default_rng(3)
STREAM = np.where(RNG.random(1_500) < 0.2, RNG.integers(0, 5, 1_500), np.arange(1_500) % 5)


def by_hand(learner: Sharp, tokens: np.ndarray, deaf: int) -> float:
    """Mean bits of the reference, walked level by level, with a plain mean in place of c^(ℓ+1)."""
    twin, heard, total = to_reference(learner), [], 0.0
    with torch.no_grad():
        for position, token in enumerate(tokens):
            context = None
            for level in range(twin.config.levels, 0, -1):
                if level == deaf:
                    if position == 0 or twin.clock % twin.config.acceleration**level == 0:
                        heard.append(context)
                    context = torch.stack(heard).mean(0)
                context = twin.f[level - 1](twin.h[level - 1], context)
            total -= float(torch.log_softmax(context, -1)[int(token)]) / np.log(2.0)
            twin._remember(twin.input_of(int(token)))
    return total / len(tokens)


@pytest.mark.parametrize("conditioning", ["film", "film-normed", "concat"])
@pytest.mark.parametrize("level", [1, 2])
def test_a_deaf_level_is_given_the_running_mean_of_what_it_would_hear(conditioning: str, level: int) -> None:
    learner = Sharp(replace(CONFIG, conditioning=conditioning), 5, seed=1)
    learner.learn(STREAM)
    deaf = learner.evaluate_deaf(STREAM[:200], level).mean()
    assert deaf == pytest.approx(by_hand(learner, STREAM[:200], level), rel=1e-9)
    assert hearing(learner, STREAM[:200])[level - 1] == deaf - learner.evaluate(STREAM[:200]).mean()


def test_a_level_above_that_is_dead_is_heard_as_nothing() -> None:
    learner = Sharp(dead_upper_levels(CONFIG), 5, seed=1)
    learner.learn(STREAM)
    assert abs(hearing(learner, STREAM[:400])[0]) < 1e-3
    live = Sharp(CONFIG, 5, seed=1)
    live.learn(STREAM)
    assert abs(hearing(live, STREAM[:400])[0]) > 10 * abs(hearing(learner, STREAM[:400])[0])


def test_measuring_changes_nothing() -> None:
    learner = Sharp(CONFIG, 5, seed=1)
    learner.learn(STREAM[:500])
    before = learner.state_dict()
    hearing(learner, STREAM[500:700])
    after = learner.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("level", [0, 3, -1])
def test_a_level_that_hears_nobody_is_refused(level: int) -> None:
    with pytest.raises(ConfigError, match="only those below the top"):
        Sharp(CONFIG, 5).evaluate_deaf(STREAM[:10], level)
