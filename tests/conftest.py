"""Shared by all tests: one thread, and small configs that exercise everything in seconds."""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

from sharpstream.config import AdamConfig, SharpConfig, SleepConfig  # noqa: E402


@pytest.fixture
def small() -> SharpConfig:
    """Three levels that sleep every 250 steps; the gate opens and closes on the streams of the tests."""
    return SharpConfig(
        levels=3,
        width=12,
        embedding=5,
        depth=2,
        tau=0.5,
        dtype="float64",
        adam=AdamConfig(lr=1e-3),
        sleep=SleepConfig(every=250, tags=4, replay_length=70, tau=0.01),
    )


@pytest.fixture
def tokens() -> np.ndarray:
    """2,200 tokens of 7 symbols with some structure: a noisy cycle."""
    rng = np.random.default_rng(1)
    cycle = np.arange(2_200) % 7
    noisy = rng.integers(0, 7, cycle.size)
    return np.where(rng.random(cycle.size) < 0.3, noisy, cycle)
