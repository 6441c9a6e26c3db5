"""The arrays of a context block: their names, shapes and order, whatever its kind.

Every kind has the same twelve places, because compiled code finds an array by its place (`arrays.py`); what a kind has
no use for has size 0. What stands in the place of the recurrent weights differs most.
"""

from sharpstream.config import HOLD_INPUTS, SharpConfig
from sharpstream.memory.kinds import gate_rows, learns, slots

Shape = tuple[int, ...]
ARRAYS_PER_BLOCK = 12


def input_size(config: SharpConfig, level: int) -> int:
    """D: the size of the vectors a block reads; 0 for block 1 when it reads tokens."""
    return config.input_size if level == 1 else config.width


def target_size(config: SharpConfig, vocabulary: int, level: int) -> int:
    """The size of what a block reconstructs: logits over the vocabulary, or the vector it read."""
    return input_size(config, level) or vocabulary


def context_shapes(config: SharpConfig, vocabulary: int, level: int) -> dict[str, Shape]:
    """Name → shape of block ℓ's arrays, in their places."""
    source, embedding = input_size(config, level), config.embedding
    return {
        "embed.weight": (embedding, source) if source else (vocabulary, embedding),
        "embed.bias": (embedding if source else 0,),
        **encoder_shapes(config, level),
        **decoder_shapes(config, target_size(config, vocabulary, level), learned=learns(config, level)),
    }


def encoder_shapes(config: SharpConfig, level: int) -> dict[str, Shape]:
    """What takes an input in: four places."""
    name, width, rows = config.memory_of(level), config.width, gate_rows(config, level)
    if name in HOLD_INPUTS:
        orders = slots(config) if name == "legendre" else 0
        shapes: tuple[Shape, ...] = ((orders,), (orders, orders), (0,), (0,))
        names = ("encoder.input", "encoder.transition", "encoder.bias_ih", "encoder.bias_hh")
    elif name == "diagonal":
        shapes = ((width, config.embedding), (width,), (width,), (0,))
        names = ("encoder.weight_ih", "encoder.rate", "encoder.bias_ih", "encoder.bias_hh")
    else:
        shapes = ((rows, config.embedding), (rows, width), (rows,), (rows,))
        names = ("encoder.weight_ih", "encoder.weight_hh", "encoder.bias_ih", "encoder.bias_hh")
    return dict(zip(names, shapes, strict=True))


def decoder_shapes(config: SharpConfig, target: int, *, learned: bool) -> dict[str, Shape]:
    """What reads the last T inputs back: six places; T read-outs stand stacked under one name."""
    rnn = config.decoder == "rnn"
    hidden, readouts = (config.width if rnn else 0, () if rnn else (config.window,))
    if not learned:
        hidden = target = 0
    return {
        "decoder.weight_ih": (hidden, target),
        "decoder.weight_hh": (hidden, config.width),
        "decoder.bias_ih": (hidden,),
        "decoder.bias_hh": (hidden,),
        "readout.weight": (*readouts, target, config.width),
        "readout.bias": (*readouts, target),
    }
