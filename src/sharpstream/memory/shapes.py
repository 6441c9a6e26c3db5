"""The arrays of a context block: their names, shapes, order and first values.

The order is fixed, because compiled code finds an array by its place (`context_block.py`). Absent ones have size 0.
"""

from sharpstream.config import SharpConfig

Shape = tuple[int, ...]
ARRAYS_PER_BLOCK = 12


def input_size(config: SharpConfig, level: int) -> int:
    """D: the size of the vectors a block reads; 0 for block 1 when it reads tokens."""
    return config.input_size if level == 1 else config.width


def target_size(config: SharpConfig, vocabulary: int, level: int) -> int:
    """The size of what a block reconstructs: logits over the vocabulary, or the vector it read."""
    return input_size(config, level) or vocabulary


def context_shapes(config: SharpConfig, vocabulary: int, level: int) -> dict[str, Shape]:
    """Name → shape of block ℓ's arrays; T read-outs stand stacked under one name."""
    width, embedding = config.width, config.embedding
    source, target = input_size(config, level), target_size(config, vocabulary, level)
    rnn = config.decoder == "rnn"
    hidden, readouts = (width, ()) if rnn else (0, (config.window,))
    return {
        "embed.weight": (embedding, source) if source else (vocabulary, embedding),
        "embed.bias": (embedding if source else 0,),
        "encoder.weight_ih": (width, embedding),
        "encoder.weight_hh": (width, width),
        "encoder.bias_ih": (width,),
        "encoder.bias_hh": (width,),
        "decoder.weight_ih": (hidden, target),
        "decoder.weight_hh": (hidden, width),
        "decoder.bias_ih": (hidden,),
        "decoder.bias_hh": (hidden,),
        "readout.weight": (*readouts, target, width),
        "readout.bias": (*readouts, target),
    }
