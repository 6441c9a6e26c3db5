"""All parameters of SHARP as one layout, and their first values. Both engines build themselves from this."""

from collections.abc import Callable

import numpy as np

from sharpstream.config import SharpConfig
from sharpstream.kernels.layout import Buffer, Layout
from sharpstream.learners import initialise
from sharpstream.learners.sharp_fields import trained_awake
from sharpstream.memory.legendre_system import transition
from sharpstream.memory.shapes import context_shapes
from sharpstream.pattern.shapes import pattern_shapes

GIVEN: dict[
    str, Callable[[int], initialise.Array]
] = {  # arrays in which nothing is random: name → values, by their size
    "encoder.rate": lambda width: np.linspace(-1.0, 3.0, width),  # a = σ(rate): 0.27 to 0.95
    "encoder.transition": lambda orders: transition(orders)[0],
    "encoder.input": lambda orders: transition(orders)[1],
}


def sharp_layout(config: SharpConfig, vocabulary: int) -> Layout:
    """Pattern blocks 1..L, then context blocks 1..L: what is active while awake stands together at the front."""
    shapes: dict[str, tuple[int, ...]] = {}
    for level in range(1, config.levels + 1):
        for name, shape in pattern_shapes(config, vocabulary, level).items():
            shapes[f"pattern.{level}.{name}"] = shape
    for level in range(1, config.levels + 1):
        for name, shape in context_shapes(config, vocabulary, level).items():
            shapes[f"context.{level}.{name}"] = shape
    return Layout(shapes)


def first_values(config: SharpConfig, layout: Layout, seed: int) -> Buffer:
    """The buffer of initial parameters for this seed."""
    buffer = layout.zeros(config.dtype)
    for name in layout.names:
        draw = _rule(config, layout, name)
        layout.view(buffer, name)[...] = draw(initialise.generator(seed, name), layout.shapes[name])
    return buffer


def _rule(config: SharpConfig, layout: Layout, name: str) -> initialise.Draw:
    """Xavier and orthogonal cells with zero biases (or ±1/√H), N(0,1) table, ±1/√fan_in linears; and what is given."""
    kind, level, part = name.split(".", 2)
    if config.dead_upper_levels and kind == "context" and int(level) > 1 and part.startswith("encoder."):
        return initialise.ones
    if part in GIVEN:
        return lambda rng, shape: GIVEN[part](shape[0])
    if part.startswith(("encoder.", "decoder.")):
        if config.cells == "uniform":
            return initialise.fan_in(config.width)
        drawn = {"weight_ih": initialise.xavier, "weight_hh": initialise.orthogonal}
        draw = drawn.get(part.split(".")[1], initialise.zeros)
        return initialise.gate_by_gate(draw, layout.shapes[name][0] // config.width)
    if part in ("norm.weight", "film_norm.weight"):
        return initialise.ones
    if part in ("norm.bias", "film_norm.bias"):
        return initialise.zeros
    if name == "context.1.embed.weight" and not config.input_size:
        return initialise.normal
    weight = f"{kind}.{level}.{part.rsplit('.', 1)[0]}.weight"
    return initialise.fan_in(layout.shapes[weight][-1])


def active_names(config: SharpConfig, layout: Layout) -> tuple[str, ...]:
    """Parameters that learn while awake: pattern blocks and context block 1 (every block in the wake-only arm)."""
    prefixes = ("pattern.", *(f"context.{level}." for level in trained_awake(config)))
    return tuple(name for name in layout.names if name.startswith(prefixes))


def count(layout: Layout, names: tuple[str, ...]) -> int:
    """How many numbers the named arrays hold."""
    return int(sum(np.prod(layout.shapes[name]) for name in names))
