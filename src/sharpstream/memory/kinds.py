"""The kinds of memory a level can have: their numbers in compiled code, and the size of their states.

A memory is a state that takes in one input at a time (`advance`) and a read-out of it (`read`), always of the model's
width; one that learns also says how badly it recalls its last T inputs (`surprise`) and learns from that (`learn`).
"""

from sharpstream.config import HOLD_INPUTS, NEVER_LEARN, SharpConfig
from sharpstream.kernels.cell_kinds import GATES
from sharpstream.kernels.cell_kinds import GRU as GRU
from sharpstream.kernels.cell_kinds import LSTM as LSTM
from sharpstream.kernels.cell_kinds import RNN as RNN

DIAGONAL, ORTHOGONAL, DELAY, LEGENDRE = range(3, 7)  # beside the three cells
KINDS = {
    "rnn": RNN,
    "gru": GRU,
    "lstm": LSTM,
    "diagonal": DIAGONAL,
    "orthogonal": ORTHOGONAL,
    "delay": DELAY,
    "legendre": LEGENDRE,
}


def kind_of(config: SharpConfig, level: int) -> int:
    """The number of block ℓ's kind."""
    return KINDS[config.memory_of(level)]


def learns(config: SharpConfig, level: int) -> bool:
    """Whether block ℓ has anything to learn."""
    return config.memory_of(level) not in NEVER_LEARN


def slots(config: SharpConfig) -> int:
    """How many numbers of each of an input's E coordinates fit into a read-out: taps of a delay line, or orders."""
    return config.width // config.embedding


def state_size(config: SharpConfig, level: int) -> int:
    """S: how many numbers block ℓ carries from one input to the next."""
    name = config.memory_of(level)
    if name in HOLD_INPUTS:
        return slots(config) * config.embedding
    return 2 * config.width if name == "lstm" else config.width  # an LSTM's cells stand behind its hidden units


def gate_rows(config: SharpConfig, level: int) -> int:
    """How many pre-activations an input gives: the rows of the encoder's input weights."""
    kind = kind_of(config, level)
    return config.width * (GATES[kind] if kind in (RNN, LSTM, GRU) else 1)
