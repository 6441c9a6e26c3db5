"""A short golden trace of every learner: bits that must not change unless somebody means them to.

Made by `python tests/learners/test_golden.py`; a change of these numbers belongs in docs/LOG.md.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sharpstream.config import (
    AdamConfig,
    ClockworkConfig,
    CountsConfig,
    EpisodicConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    TransformerConfig,
)
from sharpstream.factory import LEARNERS, make_learner

GOLDEN = Path(__file__).with_name("golden.json")
ADAM = AdamConfig(lr=3e-3)
CONFIG = RunConfig(
    seed=11,
    sharp=SharpConfig(
        levels=3,
        width=10,
        embedding=4,
        depth=2,
        dtype="float64",
        adam=ADAM,
        sleep=SleepConfig(every=150, tags=5, replay_length=80),
    ),
    recurrent=RecurrentConfig(layers=2, width=10, embedding=4, dtype="float64", adam=ADAM),
    clockwork=ClockworkConfig(modules=3, width=5, embedding=4, dtype="float64", adam=ADAM),
    transformer=TransformerConfig(layers=1, width=16, heads=2, d_ff=16, chunk=32, dtype="float64", adam=ADAM),
    counts=CountsConfig(order=3, table_bits=10),
    episodic=EpisodicConfig(memory="256kB", network=8, residual=False, dtype="float64"),
)


MEMORIES = ("gru", "lstm", "diagonal", "orthogonal", "delay", "legendre")
SHARPS = {  # SHARP's other pattern blocks, its other credit and its other memories
    "sharp, film-normed": replace(CONFIG.sharp, conditioning="film-normed"),
    "sharp, concat": replace(CONFIG.sharp, conditioning="concat"),
    "sharp, on-tick": replace(CONFIG.sharp, credit="on-tick"),
    **{f"sharp, {kind}": replace(CONFIG.sharp, memory=kind) for kind in MEMORIES},
    "sharp, tagged by prediction": replace(CONFIG.sharp, tag_by="prediction"),
}
RESIDUAL = "episodic, residual"
TRACES = (*LEARNERS, *SHARPS, RESIDUAL)


def trace(name: str) -> list[float]:
    """Bits of the last ten of 400 tokens of nonlinear(2)."""
    from sharpstream.streams.synthetic import Nonlinear

    if name in SHARPS:
        config = CONFIG.replace(learner="sharp", sharp=SHARPS[name])
    elif name == RESIDUAL:
        config = CONFIG.replace(learner="episodic", episodic=replace(CONFIG.episodic, residual=True))
    else:
        config = CONFIG.replace(learner=name)
    learner = make_learner(config, 7)
    return [round(float(bits), 9) for bits in learner.learn(Nonlinear(2, seed=5).take(400))[-10:]]


@pytest.mark.parametrize("name", TRACES)
def test_the_trace_is_the_golden_one(name):
    np.testing.assert_allclose(trace(name), json.loads(GOLDEN.read_text())[name], atol=1e-7)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: trace(name) for name in TRACES}, indent=1) + "\n")
