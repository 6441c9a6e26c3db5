"""The arrays of a context block in compiled code: views into the flat buffers, and the space it works in.

`Arrays` are cut anew from the layout's table wherever a block is used; a `Workspace` is made once and holds what one
surprise leaves for learning. Both look the same for every kind of memory, so one machine code serves all of them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharpstream.config import SharpConfig
from sharpstream.kernels.jit import Array, flat_kernel, inlined, kernel
from sharpstream.kernels.lanes import LANES
from sharpstream.kernels.views import matrix, vector
from sharpstream.memory.kinds import gate_rows, slots, state_size
from sharpstream.memory.shapes import ARRAYS_PER_BLOCK, target_size


class Arrays(NamedTuple):
    """One block's parameters, or their first or second moments: views into a flat buffer, in the layout's order."""

    embed: Array  # (V, E) for tokens, (E, D) for vectors
    embed_bias: Array  # (E,) for vectors
    encode_in: Array  # (rows, E), rows = H, 3H for a GRU, 4H for an LSTM; (1, q) for legendre
    encode_rec: Array  # (rows, H); (1, H) for diagonal, (q, q) for legendre, absent for delay
    encode_in_bias: Array
    encode_rec_bias: Array
    decode_in: Array  # (H, D); absent with `recall`, like the next three, and where nothing is learned
    decode_rec: Array  # (H, H)
    decode_in_bias: Array
    decode_rec_bias: Array
    read: Array  # (D, H), or (T·D, H) with `recall`
    read_bias: Array  # (D,) or (T·D,)


class Workspace(NamedTuple):
    """What one surprise leaves for learning, and for the next window."""

    embedded: Array  # (T, E)
    states: Array  # (T + 1, S): states[0] is carried in, states[t + 1] is after the window's input t
    passed: Array  # (T + 1, ·): what each step leaves for its gradient, as its kind wants it; row T is scratch
    before: Array  # (T, H): an LSTM's hidden units before each step, without the cells
    decoded: Array  # (T + 1, H): decoder states; decoded[0] is what is read of the encoder's last state
    output: Array  # (T, D): reconstructed inputs (logits for tokens)
    error: Array  # (T, D): gradient of the loss with respect to the output
    delta_encode: Array  # (T, rows)
    delta_rec: Array  # (T, rows): the same array but for the GRU and the diagonal memory
    delta_decode: Array  # (T, H)
    delta_embed: Array  # (T, E)
    fed: Array  # (T, D): what the decoder was fed: zero, then its own outputs
    back: Array  # (H,)
    row: Array  # (max(D, rows, E),): scratch of the fused update
    aligned: Array  # (1,): 1 when states and embedded still hold, so that only the newest input needs encoding


def passed_size(config: SharpConfig, level: int) -> int:
    """How many numbers a step of block ℓ leaves for its gradient or works on: those that its file names."""
    rows, cells = gate_rows(config, level), 2 * config.width
    orders, wide = slots(config), -(-config.embedding // LANES) * LANES
    kinds = {"gru": 3 * rows, "lstm": 3 * rows + cells, "diagonal": 2 * rows}
    kinds["legendre"] = orders * wide + orders * config.embedding + wide
    return kinds.get(config.memory_of(level), 0)


def make_workspace(config: SharpConfig, vocabulary: int, level: int) -> Workspace:
    """Zeroed workspace for block ℓ (all upper blocks share one size)."""
    size, width, window = target_size(config, vocabulary, level), config.width, config.window
    name, rows = config.memory_of(level), gate_rows(config, level)

    def zeros(*shape: int) -> npt.NDArray[Any]:
        return np.zeros(shape, dtype=config.dtype)

    delta_encode = zeros(window, rows)
    return Workspace(
        embedded=zeros(window, config.embedding),
        states=zeros(window + 1, state_size(config, level)),
        passed=zeros(window + 1, passed_size(config, level)),
        before=zeros(window, width if name == "lstm" else 0),
        decoded=zeros(window + 1, width),
        output=zeros(window, size),
        error=zeros(window, size),
        delta_encode=delta_encode,
        delta_rec=zeros(window, rows) if name in ("gru", "diagonal") else delta_encode,
        delta_decode=zeros(window, width),
        delta_embed=zeros(window, config.embedding),
        fed=zeros(window, size),
        back=zeros(width),
        row=zeros(max(size, rows, config.embedding)),
        aligned=np.zeros(1, dtype=np.int64),
    )


@inlined
def _cut(buffer: Array, table: Array, first: int, level: int) -> Arrays:
    r = first + (level - 1) * ARRAYS_PER_BLOCK
    return Arrays(
        matrix(buffer, table, r),
        vector(buffer, table, r + 1),
        matrix(buffer, table, r + 2),
        matrix(buffer, table, r + 3),
        vector(buffer, table, r + 4),
        vector(buffer, table, r + 5),
        matrix(buffer, table, r + 6),
        matrix(buffer, table, r + 7),
        vector(buffer, table, r + 8),
        vector(buffer, table, r + 9),
        matrix(buffer, table, r + 10),
        vector(buffer, table, r + 11),
    )


@kernel
def block_arrays(buffer: Array, table: Array, first: int, level: int) -> Arrays:
    """Block ℓ's views into a buffer; `first` is the layout row where context blocks begin."""
    return _cut(buffer, table, first, level)


@flat_kernel
def borrowed_arrays(buffer: Array, table: Array, first: int, level: int) -> Arrays:
    """The same for a lean kernel."""
    return _cut(buffer, table, first, level)
