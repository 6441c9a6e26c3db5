"""A process that compiles its kernels learns the same bits as every later one, which loads them."""

import os
import subprocess
import sys

import pytest

from sharpstream.learners import warm

PROGRAM = """
import hashlib, sys
from sharpstream.config import CountsConfig, RecurrentConfig, RunConfig, SharpConfig, SleepConfig, StreamConfig
from sharpstream.factory import make_learner
from sharpstream.streams import open_stream
sharp = SharpConfig(levels=2, width=8, embedding=4, sleep=SleepConfig(every=700, tags=5, replay_length=32))
config = RunConfig(learner=sys.argv[1], sharp=sharp, recurrent=RecurrentConfig(layers=2, width=8, embedding=4))
learner = make_learner(config, 7)
bits = learner.learn(open_stream(StreamConfig(), seed=0).take(2000))
print(hashlib.sha256(bits.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("name", ["lstm", "counts"])
def test_the_run_that_compiles_is_like_the_next(name, tmp_path):
    """The LSTM differed in the last bit while its kernels could be handed each other's callees (kernels/jit.py)."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM, name], env=extra, capture_output=True, text=True, check=True
        ).stdout
        for extra in ({**environment, warm.CHILD: "1"}, environment)  # the first compiles in itself, not in a child
    )
    assert first == second != ""


@pytest.mark.parametrize(
    "kind",
    [
        "sharpstream.learners.sharp:Sharp",
        "sharpstream.learners.recurrent:Recurrent",
        "sharpstream.learners.episodic:Episodic",
    ],
)
def test_the_child_compiles_every_class_that_asks_for_it(kind):
    """A class without an example would be compiled by every process for itself, with a traceback each time."""
    warm.ensure(kind, "float32")
    assert warm.is_compiled(kind, "float32")
