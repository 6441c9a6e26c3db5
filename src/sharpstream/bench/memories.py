"""Every kind of memory against its own floor: one level, so that little else is in the measured step.

advance: one input taken in and read, against reading each weight of the step once. learn: a wake step in which the
memory learns, against one pass over the weights that learn and their moments. `sharp bench engine` calls this.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sharpstream.bench.floor import floor
from sharpstream.config import SharpConfig
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.memory_kinds import with_memory
from sharpstream.experiments.memory_kinds_page import KINDS
from sharpstream.kernels.jit import Array, kernel
from sharpstream.learners.sharp import Sharp

VOCABULARY = 27


@kernel
def read_once(p: Array, passes: int) -> float:
    """Read each number, so many times; the sums are given back, or the compiler would drop them."""
    total = p.dtype.type(0)
    for i in range(passes):
        shift = p.dtype.type(i)
        for j in range(p.size):
            total += p[j] * shift
    return float(total)


def measure_memories(config: SharpConfig, *, rounds: int) -> list[dict[str, Any]]:
    """Rows of every kind at this model's width: microseconds, and how many times the floor that is."""
    base = replace(config, levels=1, depth=1, tau=0.0)
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 2_000 if base.width <= 128 else 400)
    learners = {kind: Sharp(with_memory(base, kind), VOCABULARY) for kind in KINDS}
    works: dict[str, Work] = {}
    for kind, learner in learners.items():
        works[f"{kind}: advance"] = _advancing(learner, tokens)
        works[f"{kind}: advance, floor"] = _reading(learner, tokens.size)
        works[f"{kind}: learn"] = learning(learner, tokens)
        works[f"{kind}: learn, floor"] = floor(learner.parameters(active=True), staggered=True, passes=tokens.size)
    times = in_turn(works, rounds)
    rows = []
    for kind in KINDS:
        for step in ("advance", "learn"):
            taken, least = times[f"{kind}: {step}"], times[f"{kind}: {step}, floor"]
            rows += [
                {"arm": f"H{base.width}", "quantity": f"{kind}: {step}", "value": 1e6 * taken.seconds, "unit": "µs"},
                {
                    "arm": f"H{base.width}",
                    "quantity": f"{kind}: {step} / floor",
                    "value": taken.over(least),
                    "unit": "×",
                },
            ]
    return rows


def _advancing(learner: Sharp, tokens: Any) -> Work:
    def work() -> int:
        learner.hidden_states(tokens)
        return int(tokens.size)

    return work


def _reading(learner: Sharp, passes: int) -> Work:
    """What a step must read: the weights of memory 1's encoder, or for a delay line the state it moves."""
    layout = learner.layout
    encoder = [layout.view(learner.model.p, name).ravel() for name in layout.names if name.startswith("context.1.enc")]
    weights = np.concatenate([*encoder, learner.mind.states[0]])

    def work() -> int:
        read_once(weights, passes)
        return passes

    return work
