"""The compiled episodic learner equals its NumPy twin in float64, over vocabularies and parts."""

from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import EpisodicConfig
from sharpstream.learners.episodic import Episodic
from sharpstream.reference.episodic import ReferenceEpisodic

BASE = EpisodicConfig(memory="256kB", network=6, dtype="float64")
GRID = {
    "three symbols": (3, BASE),
    "letters": (27, BASE),
    "letters, no network": (27, replace(BASE, network=0)),
    "letters, crowded": (27, replace(BASE, memory="64kB")),
    "letters, counts only": (27, replace(BASE, states=False)),
    "letters, one set of weights": (27, replace(BASE, selectors=False)),
    "letters, no match, no corrections": (27, replace(BASE, match=False, corrections=False)),
    "letters, few contexts": (27, replace(BASE, words=False, skips=False, orders=3)),
    "all candidates, not text": (60, BASE),
    "bytes": (256, BASE),
    "bytes, no network": (256, replace(BASE, network=0)),
    "words": (1_000, BASE),
    "words, a longer tail": (1_000, replace(BASE, tail=5, memory="64kB")),
    "words, no tail": (1_000, replace(BASE, tail=0)),
    "largest": (65_536, replace(BASE, network=0)),
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
