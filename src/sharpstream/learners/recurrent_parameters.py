"""All parameters of a recurrent baseline as one layout, and their first values. Both engines are built from this.

Everything begins as PyTorch would begin it: an N(0,1) table, cells uniform in ±1/√H with their biases, linears in
±1/√fan_in. Each Clockwork module counts as a cell of its own width.
"""

import numpy as np

from sharpstream.config import ClockworkConfig, RecurrentConfig
from sharpstream.kernels.cell_kinds import GATES, GRU, LSTM, RNN
from sharpstream.kernels.layout import Buffer, Layout
from sharpstream.learners import initialise

CELLS = {"rnn": RNN, "lstm": LSTM, "gru": GRU}
Shapes = dict[str, tuple[int, ...]]


def recurrent_layout(config: RecurrentConfig, vocabulary: int) -> Layout:
    """Embedding, cells 1..L, read-out of the top one; names as torch.nn has them."""
    wide = GATES[CELLS[config.cell]] * config.width
    shapes = _embedding(config, vocabulary)
    for layer in range(1, config.layers + 1):
        shapes[f"cell.{layer}.weight_ih"] = (wide, config.embedding if layer == 1 else config.width)
        shapes[f"cell.{layer}.weight_hh"] = (wide, config.width)
        shapes[f"cell.{layer}.bias_ih"] = (wide,)
        shapes[f"cell.{layer}.bias_hh"] = (wide,)
    return Layout(shapes | _read(config.width, vocabulary))


def clockwork_layout(config: ClockworkConfig, vocabulary: int) -> Layout:
    """Embedding, modules 1..M (fastest first), read-out of all of them.

    A module has one bias and weights only from itself and from those that feed it: the forbidden half of the recurrent
    matrix does not exist, which gives the published 4,262,567 numbers at text8's size.
    """
    shapes = _embedding(config, vocabulary)
    for module in range(1, config.modules + 1):
        heard = module if config.wiring == "reversed" else config.modules - module + 1
        shapes[f"module.{module}.input"] = (config.width, config.embedding)
        shapes[f"module.{module}.recurrent"] = (config.width, heard * config.width)
        shapes[f"module.{module}.bias"] = (config.width,)
    return Layout(shapes | _read(config.modules * config.width, vocabulary))


def _embedding(config: RecurrentConfig | ClockworkConfig, vocabulary: int) -> Shapes:
    if config.input_size:
        return {"embed.weight": (config.embedding, config.input_size), "embed.bias": (config.embedding,)}
    return {"embed.weight": (vocabulary, config.embedding), "embed.bias": (0,)}


def _read(units: int, vocabulary: int) -> Shapes:
    return {"read.weight": (vocabulary, units), "read.bias": (vocabulary,)}


def first_values(config: RecurrentConfig | ClockworkConfig, layout: Layout, seed: int) -> Buffer:
    """The buffer of initial parameters for this seed."""
    buffer = layout.zeros(config.dtype)
    for name in layout.names:
        part = name.split(".")[0]
        if part == "embed" and not config.input_size:
            draw: initialise.Draw = initialise.normal
        elif part in ("embed", "read"):
            draw = initialise.fan_in(layout.shapes[f"{part}.weight"][-1])
        else:
            draw = initialise.uniform(1.0 / np.sqrt(config.width))
        layout.view(buffer, name)[...] = draw(initialise.generator(seed, name), layout.shapes[name])
    return buffer
