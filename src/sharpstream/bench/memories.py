"""Every kind of memory against its own floor: one level, so that little else is in the measured step.

advance: one input taken in and read, against the least that any implementation does: the token's embedding read, as
many multiply-adds in long rows, as many tanh, the state and the read-out written. wake: a whole step in which the
memory learns if it can, against one pass over the weights that learn and their moments. Processor time.
`sharp bench engine` calls this.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from sharpstream.bench.floor import floor
from sharpstream.config import HOLD_INPUTS, SharpConfig
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.memory_kinds import with_memory
from sharpstream.experiments.memory_kinds_page import KINDS
from sharpstream.kernels.elementary import tanh_inplace
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.linear import add_product
from sharpstream.kernels.views import copy
from sharpstream.learners.sharp import Sharp
from sharpstream.memory.kinds import gate_rows, slots, state_size

VOCABULARY = 27


@kernel
def least(
    table: Array,
    tokens: Array,
    weight: Array,
    x: Array,
    out: Array,
    squashed: Array,
    held: Array,
    state: Array,
    readouts: Array,
) -> None:
    """What every token asks; each multiplication needs the one before, so that none is left out."""
    for i in range(tokens.size):
        copy(table[tokens[i]], x[: table.shape[1]])
        add_product(weight, x, out)
        x[x.size - 1] = out[0]
        tanh_inplace(squashed)
        copy(held, state)
        copy(held, readouts[i])


def measure_memories(config: SharpConfig, *, rounds: int) -> list[dict[str, Any]]:
    """Rows of every kind at this model's width: microseconds, and how many times the floor that is."""
    base = replace(config, levels=1, depth=1, tau=0.0)
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 2_000 if base.width <= 128 else 400)
    learners = {kind: Sharp(with_memory(base, kind), VOCABULARY) for kind in KINDS}
    works: dict[str, Work] = {}
    for kind, learner in learners.items():
        works[f"{kind}: advance"] = _advancing(learner, tokens)
        works[f"{kind}: advance, floor"] = _least(learner.config, tokens)
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
    """How many of them one input takes in memory 1; a delay line only moves numbers."""
    width, embedding, kind = config.width, config.embedding, config.memory
    orders = slots(config)
    if kind == "legendre":
        return orders * (orders + 1) * embedding
    if kind == "delay":
        return 0
    return gate_rows(config, 1) * (embedding + (0 if kind == "diagonal" else width))


def squashings(config: SharpConfig) -> int:
    """How many tanh one input takes in memory 1; the diagonal one's rates need theirs only when they have learned."""
    if config.memory in HOLD_INPUTS:
        return 0
    return gate_rows(config, 1) + (config.width if config.memory == "lstm" else 0)


def _least(config: SharpConfig, tokens: Any) -> Work:
    """The multiply-adds as a matrix of the model's width. A delay line need write no state but the input: a ring."""

    def ones(*shape: int) -> Array:
        return np.ones(shape, dtype=np.float32)

    width, kept = config.width, 0 if config.memory == "delay" else state_size(config, 1)
    table, weight = ones(VOCABULARY, config.embedding), 1e-3 * ones(round(multiply_adds(config) / width), width)
    x, out, squashed = ones(width), ones(max(1, len(weight))), ones(squashings(config))
    held, state, readouts = ones(max(kept, width)), ones(kept), ones(tokens.size, width)

    def work() -> int:
        out[:] = 0.0
        least(table, tokens, weight, x, out, squashed, held, state, readouts)
        return int(tokens.size)

    return work
