"""The compiled episodic learner equals its NumPy twin in float64, over vocabularies and parts."""

from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import EpisodicConfig
from sharpstream.learners.episodic import Episodic
from sharpstream.reference.episodic import ReferenceEpisodic

BASE = EpisodicConfig(memory="256kB", network=6, residual=False, dtype="float64")
SLEEPY = replace(BASE, replay_every=40, replays=12, replay_tags=30)
GRID = {
    "three symbols": (3, BASE),
    "letters": (27, BASE),
    "letters, no network": (27, replace(BASE, network=0)),
    "letters, crowded": (27, replace(BASE, memory="64kB")),
    "letters, counts only": (27, replace(BASE, states=False)),
    "letters, one set of weights": (27, replace(BASE, selectors=False)),
    "letters, no match, no corrections": (27, replace(BASE, match=False, corrections=False)),
    "letters, few contexts": (27, replace(BASE, words=False, skips=False, orders=3)),
    "letters, memory for more hashed rows": (27, replace(BASE, memory="512MB", network=2)),
    "all candidates, not text": (60, BASE),
    "bytes": (256, BASE),
    "bytes, no network": (256, replace(BASE, network=0)),
    "words": (1_000, BASE),
    "words, a longer tail": (1_000, replace(BASE, tail=5, memory="64kB")),
    "words, no tail": (1_000, replace(BASE, tail=0)),
    "largest": (65_536, replace(BASE, network=0)),
    "crowded, the stale give way": (27, replace(BASE, memory="64kB", keeping="aged")),
    "crowded, newcomers by chance": (27, replace(BASE, memory="64kB", keeping="challenged")),
    "crowded, what parents say": (27, replace(BASE, memory="64kB", keeping="said")),
    "crowded, swept": (27, replace(BASE, memory="64kB", keeping="swept", sweep_every=50)),
    "words, crowded, thrifty": (1_000, replace(BASE, memory="64kB", keeping="thrifty")),
    "letters, replay of any": (27, replace(SLEEPY, replay="uniform")),
    "letters, replay of the last, small steps": (27, replace(SLEEPY, replay="recent", replay_step=0.3)),
    "letters, replay of surprises": (27, replace(SLEEPY, replay="surprising")),
    "letters, twice awake": (27, replace(SLEEPY, replay="again")),
    "letters, replay into the network": (27, replace(SLEEPY, replay="uniform", replay_into="network")),
    "letters, replay into the mixers, no network": (27, replace(SLEEPY, replay="recent", network=0)),
    "letters, one set of weights, replay": (27, replace(SLEEPY, replay="uniform", selectors=False, corrections=False)),
    "bytes, replay of surprises": (256, replace(SLEEPY, replay="surprising")),
    "words, replay into the mixers": (1_000, replace(SLEEPY, replay="uniform", replay_into="mixers")),
    "letters, residual": (27, replace(BASE, residual=True)),
    "letters, residual, counts only, no network": (27, replace(BASE, residual=True, states=False, network=0)),
    "bytes, residual and slow level": (256, replace(BASE, residual=True, slow=1)),
    "words, residual, crowded": (1_000, replace(BASE, residual=True, memory="64kB")),
    "letters, residual and replay": (27, replace(SLEEPY, residual=True, replay="uniform")),
    "words, residual, twice awake": (1_000, replace(SLEEPY, residual=True, replay="again")),
    "letters, slow level": (27, replace(BASE, slow=3)),
    "bytes, slow level of one clock": (256, replace(BASE, slow=1)),
    "letters, means": (27, replace(BASE, mean_every=120)),
    "words, slow level and replay": (1_000, replace(SLEEPY, slow=2, replay="uniform")),
}


def stream(vocabulary: int, n: int) -> np.ndarray:
    """Zipf-like symbols in phrases that come back, so that slots fill, match models match and symbols escape."""
    rng = np.random.default_rng(vocabulary)
    phrases = [np.minimum(rng.zipf(1.3, rng.integers(3, 30)) - 1, vocabulary - 1) for _ in range(25)]
    parts = [phrases[i] if rng.random() < 0.7 else rng.integers(0, vocabulary, 4) for i in rng.integers(0, 25, n)]
    return np.concatenate(parts)[:n]


@pytest.mark.parametrize("arm", GRID)
def test_kernels_equal_the_twin(arm):
    vocabulary, config = GRID[arm]
    fused, twin = Episodic(config, vocabulary, seed=3), ReferenceEpisodic(config, vocabulary, seed=3)
    x = stream(vocabulary, 500)
    np.testing.assert_allclose(fused.learn(x), twin.learn(x), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fused.predict(), twin.predict(), rtol=1e-6, atol=1e-12)
    for name, value in twin.means().items() if twin.looks else ():
        found = getattr(fused.pattern, f"mean_{name}")
        np.testing.assert_allclose(found, value.reshape(-1), rtol=1e-7, atol=1e-10)


def test_the_twin_takes_looks_where_it_is_told_to():
    twin = ReferenceEpisodic(GRID["letters, means"][1], 27)
    twin.learn(stream(27, 500))
    assert len(twin.looks) == 4
