"""Every learner as plain Python: whoever steps through Algorithm 1 sees what the compiled kernels do."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import (
    ClockworkConfig,
    CountsConfig,
    EpisodicConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
)
from sharpstream.factory import make_learner

SMALL = RunConfig(
    sharp=SharpConfig(levels=2, width=18, embedding=4, depth=2, sleep=SleepConfig(every=150, tags=4, replay_length=32)),
    recurrent=RecurrentConfig(layers=2, width=18, embedding=4),
    clockwork=ClockworkConfig(modules=3, width=4, embedding=4),
    counts=CountsConfig(order=3, table_bits=10),
    episodic=EpisodicConfig(memory="128kB", network=4),
)
NAMES = ("sharp", "rnn", "lstm", "gru", "clockwork", "counts", "episodic")  # the Transformer has no kernels
IN_FLOAT64 = {
    kind: replace(getattr(SMALL, kind), dtype="float64") for kind in ("sharp", "recurrent", "clockwork", "episodic")
}


def bits(name: str) -> np.ndarray:
    """Of a stream with something to learn and a sleep or two; width 18 is whole lanes and a rest."""
    tokens = np.random.default_rng(0).integers(0, 4, 400).astype(np.int32)
    tokens[::3] = 1
    return make_learner(SMALL.replace(learner=name, **IN_FLOAT64), 4).learn(tokens)


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """The bits of each learner from one process that compiles nothing."""
    path = tmp_path_factory.mktemp("uncompiled") / "bits.npz"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, __file__, str(path)], env=environment, check=True, timeout=300)
    return np.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_as_python_give_the_same_bits(name, uncompiled):
    assert np.mean(uncompiled[name]) < 2.0  # it has learned something: more is compared than a start
    np.testing.assert_allclose(uncompiled[name], bits(name), rtol=0, atol=1e-12)


if __name__ == "__main__":
    np.savez(sys.argv[1], **{name: bits(name) for name in NAMES})
