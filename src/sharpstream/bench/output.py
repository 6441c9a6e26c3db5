"""The output layer of a large vocabulary against its memory floor, for each of what Adam may keep of it.

One token's work on V × H weights: the product forwards, then the product backwards with the update in it. The floor
reads the weights once and then reads and writes once whatever is kept. The whole wake step of the subword recipe stands
beside them; one thread, the process's own time, everything in one run.
"""

import time
from dataclasses import replace
from typing import Any, cast, get_args, get_type_hints

import numpy as np

from sharpstream.bench.floor import touch
from sharpstream.config import SharpConfig
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.language.wall_time import RESTS
from sharpstream.experiments.recipes import never_sleeps, pg19_subword
from sharpstream.kernels.adam import adam_outer_backward, adam_step
from sharpstream.kernels.adam_output import FULL, adam_output_backward
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.layout import Layout
from sharpstream.kernels.linear import affine
from sharpstream.learners.sharp import Sharp

OPTIONS: tuple[str, ...] = get_args(get_type_hints(SharpConfig)["output_adam"])
KEPT = {"full": 2, "no-momentum": 1, "factored": 1, "factored-no-momentum": 0}  # moments as large as the weights
TOKENS = 40


@kernel
def total(p: Array) -> Any:
    """Read each number once."""
    found = p.dtype.type(0)
    for i in range(p.size):
        found += p[i]
    return found


@kernel
def touch_two(p: Array, m: Array) -> None:
    """Read and write each number once, as `touch` does for three."""
    decay, more = p.dtype.type(0.999), p.dtype.type(1e-9)
    for i in range(p.size):
        m[i] = decay * m[i]
        p[i] = p[i] - more * m[i]


@kernel
def touch_one(p: Array) -> None:
    """Read and write each number once."""
    decay = p.dtype.type(0.999)
    for i in range(p.size):
        p[i] = decay * p[i]


@kernel
def one_token(
    p: Array, m: Array, v: Array, bias: Array, x: Array, out: Array, delta: Array, back: Array, kind: int
) -> None:
    """The layer's share of one token: forwards, and backwards with its update."""
    hyper = np.array([0.9, 0.999, 1e-8, 1e-12])
    affine(p, bias, x, out)
    s = adam_step(p, hyper, 1e-4, 1000)
    if kind == FULL:
        adam_outer_backward(p, m, v, delta, x, back, s)
    else:
        adam_output_backward(p, m, v, delta, x, back, s, kind)


def measure_output(width: int, vocabulary: int, *, rounds: int = 5) -> list[dict[str, Any]]:
    """Microseconds a token: the layer, its floor, and the whole step, for each option."""
    works: dict[str, Work] = {}
    for option in OPTIONS:
        works[f"{option} layer"] = _layer(width, vocabulary, OPTIONS.index(option))
        works[f"{option} floor"] = _floor(width, vocabulary, KEPT[option])
        works[f"{option} step"] = _step(width, vocabulary, option)
    times = in_turn(works, rounds, clock=time.process_time)
    rows = []
    for option in OPTIONS:
        layer, floor, step = (times[f"{option} {what}"] for what in ("layer", "floor", "step"))
        microseconds = {
            name: 1e6 * timed.seconds for name, timed in (("layer", layer), ("floor", floor), ("step", step))
        }
        against = {"layer/floor": layer.over(floor), "full step/step": times["full step"].over(step)}
        rows.append({"arm": f"V{vocabulary} H{width}", "output_adam": option, **microseconds, **against})
    return rows


def _buffers(width: int, vocabulary: int) -> tuple[Layout, list[Any]]:
    layout = Layout({"w": (vocabulary, width)})
    buffers = [layout.zeros(np.float32, place) for place in range(3)]
    for buffer in buffers:
        buffer[:] = 1e-3
    return layout, buffers


def _layer(width: int, vocabulary: int, kind: int) -> Work:
    layout, buffers = _buffers(width, vocabulary)
    p, m, v = (layout.view(buffer, "w") for buffer in buffers)
    rng = np.random.default_rng(0)
    x, back = rng.standard_normal(width).astype(np.float32), np.empty(width, np.float32)
    delta = rng.random(vocabulary).astype(np.float32) / vocabulary
    bias, out = np.zeros_like(delta), np.empty_like(delta)

    def work() -> int:
        for _ in range(TOKENS):
            one_token(p, m, v, bias, x, out, delta, back, kind)
        return TOKENS

    return work


def _floor(width: int, vocabulary: int, kept: int) -> Work:
    _, (p, m, v) = _buffers(width, vocabulary)

    def work() -> int:
        for _ in range(TOKENS):
            total(p)
            if kept == 2:
                touch(p, m, v, 1)
            elif kept == 1:
                touch_two(p, m)
            else:
                touch_one(p)
        return TOKENS

    return work


def _step(width: int, vocabulary: int, option: str) -> Work:
    """The whole wake step of the subword recipe at this width, where block 1 has learned enough to rest."""
    base = never_sleeps(replace(pg19_subword().sharp, width=width, tau=RESTS))
    config = replace(base, output_adam=cast(Any, option))
    rng = np.random.default_rng(0)
    learner = Sharp(config, vocabulary, vectors=rng.standard_normal((vocabulary, config.input_size)))
    return learning(learner, rng.integers(0, vocabulary, 10 * TOKENS), TOKENS)
