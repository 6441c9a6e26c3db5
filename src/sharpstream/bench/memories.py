"""Every kind of memory against its own floor: one level, so that little else is in the measured step.

advance: one input taken in and read, against one matrix times vector of as many multiply-adds. wake: a whole step in
which the memory learns if it can, against one pass over the weights that learn and their moments. Processor time.
`sharp bench engine` calls this.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from sharpstream.bench.floor import floor
from sharpstream.config import SharpConfig
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.memory_kinds import with_memory
from sharpstream.experiments.memory_kinds_page import KINDS
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.linear import add_product
from sharpstream.learners.sharp import Sharp
from sharpstream.memory.kinds import gate_rows, slots

VOCABULARY = 27


@kernel
def multiply(weight: Array, x: Array, out: Array, passes: int) -> None:
    """Matrix times vector, so many times; each needs the one before, so that none is left out."""
    for _ in range(passes):
        add_product(weight, x, out)
        x[0] = out[0]


def measure_memories(config: SharpConfig, *, rounds: int) -> list[dict[str, Any]]:
    """Rows of every kind at this model's width: microseconds, and how many times the floor that is."""
    base = replace(config, levels=1, depth=1, tau=0.0)
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 2_000 if base.width <= 128 else 400)
    learners = {kind: Sharp(with_memory(base, kind), VOCABULARY) for kind in KINDS}
    works: dict[str, Work] = {}
    for kind, learner in learners.items():
        works[f"{kind}: advance"] = _advancing(learner, tokens)
        works[f"{kind}: advance, floor"] = _multiplying(multiply_adds(learner.config), base.width, tokens.size)
        works[f"{kind}: wake"] = learning(learner, tokens)
        works[f"{kind}: wake, floor"] = floor(learner.parameters(active=True), staggered=True, passes=tokens.size)
    times = in_turn(works, rounds, clock=time.process_time)
    rows = []
    for kind in KINDS:
        for step in ("advance", "wake"):
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


def multiply_adds(config: SharpConfig) -> int:
    """How many of them one input takes in memory 1; a delay line is charged one for each number it moves."""
    width, embedding, kind = config.width, config.embedding, config.memory
    orders = slots(config)
    if kind == "legendre":
        return orders * (orders + 1) * embedding
    if kind == "delay":
        return orders * embedding
    return gate_rows(config, 1) * (embedding + (0 if kind == "diagonal" else width))


def _multiplying(count: int, width: int, passes: int) -> Work:
    """A matrix of this width with at least one row, and about so many weights."""
    weight = np.full((max(1, round(count / width)), width), 1e-3, dtype=np.float32)
    x, out = np.ones(width, dtype=np.float32), np.zeros(len(weight), dtype=np.float32)

    def work() -> int:
        out[:] = 0.0
        multiply(weight, x, out, passes)
        return passes

    return work
