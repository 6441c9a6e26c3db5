"""The arrays of a recurrent baseline as three named tuples: the model that learns, its mind, and the desk it works on.

Stacked cells (`recurrent_stack.py`) and the Clockwork layer (`clockwork_layer.py`) share them, and with them one
compiled loop. A Clockwork layer is one layer of modules·width units here.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharpstream.kernels.cell_kinds import GATES, LSTM, RNN
from sharpstream.kernels.jit import Array

CLOCKWORK = 3  # beside RNN, LSTM, GRU = 0, 1, 2


class Model(NamedTuple):
    """What learns, and how: parameters, Adam's moments, and the settings the loop needs."""

    p: Array
    m: Array
    v: Array
    table: Array  # the layout of the three buffers: embedding, layers or modules, read-out
    hyper: Array  # (4,): β1, β2, eps, weight decay
    vectors: Array  # (V, D) frozen inputs; empty when tokens have a table of their own
    periods: Array  # (M,) of the Clockwork modules; empty for stacked cells
    kind: int
    read: int  # the layout row of the read-out's weight; its bias is the next
    lr: float
    overlap: bool  # re-read each window from the end of the last one (paper), instead of from after its first token
    reverse: bool  # Clockwork: fast modules feed slow ones


class Mind(NamedTuple):
    """Everything but the parameters that decides what happens next."""

    carried: Array  # (layers or modules, H): the state the window is read from
    memory: Array  # (layers, H) of an LSTM; (0, 0) for other cells
    tokens: Array  # (T,): the window, the newest last
    fill: Array  # (1,), as all that follow: how many tokens the window holds
    clock: Array  # how many tokens `carried` has read
    observed: Array
    updates: Array  # Adam steps taken


class Desk(NamedTuple):
    """Working space; what the next step needs of it is recomputed from mind and model when `ready` is 0."""

    seen: Array  # (T, D): the window's frozen vectors
    embedded: Array  # (T, E)
    states: Array  # (layers, T + 1, H): [ℓ, 0] is carried in, [ℓ, t + 1] is after the window's token t
    memory: Array  # (layers, T + 1, H) of an LSTM
    gates: Array  # (layers, T, G·H): activated
    recurrent: Array  # (layers, T, G·H): W_hh h + b_hh
    squashed: Array  # (layers, T, H): tanh of an LSTM's memory
    given: Array  # (T, G·H): W_ih x + b_ih of one layer
    logits: Array  # (V,)
    p: Array  # (V,)
    above: Array  # (T, H): gradient of a layer's states from the layer above
    delta_embed: Array  # (T, E)
    delta_in: Array  # (T, G·H): δ at `given`
    delta_rec: Array  # (T, G·H): δ at `recurrent`; the same array but for the GRU
    back: Array  # (H,): gradient of the state, stepping back in time
    back_memory: Array  # (H,)
    earlier: Array  # (H,): Clockwork: gradient of the state before
    row: Array  # scratch of the fused updates
    none: Array  # (0, 0): for `window_step` when no gradient is wanted below
    ready: Array  # (1,): 1 when all of this belongs to the present mind and model
    failed: Array  # (1,): 1 when a loss was not finite


def make_mind(layers: int, width: int, window: int, lstm: bool, dtype: str) -> Mind:
    """A mind that has seen nothing."""
    counters = (np.zeros(1, dtype=np.int64) for _ in range(4))
    memory = np.zeros((layers, width) if lstm else (0, 0), dtype=dtype)
    return Mind(np.zeros((layers, width), dtype=dtype), memory, np.zeros(window, dtype=np.int64), *counters)


def make_desk(
    kind: int, layers: int, units: int, embedding: int, inputs: int, window: int, vocabulary: int, dtype: str
) -> Desk:
    """An empty desk: nothing looked ahead yet. `units` is the width of one layer of states, `inputs` of a vector."""
    wide = GATES[RNN if kind == CLOCKWORK else kind] * units
    remembered = units if kind == LSTM else 0

    def zeros(*shape: int) -> npt.NDArray[Any]:
        return np.zeros(shape, dtype=dtype)

    delta_in = zeros(window, wide)
    return Desk(
        seen=zeros(window, inputs),
        embedded=zeros(window, embedding),
        states=zeros(layers, window + 1, units),
        memory=zeros(layers, window + 1, remembered),
        gates=zeros(layers, window, wide),
        recurrent=zeros(layers, window, wide),
        squashed=zeros(layers, window, remembered),
        given=zeros(window, wide),
        logits=zeros(vocabulary),
        p=zeros(vocabulary),
        above=zeros(window, units),
        delta_embed=zeros(window, embedding),
        delta_in=delta_in,
        delta_rec=zeros(window, wide) if kind not in (RNN, LSTM) else delta_in,
        back=zeros(units),
        back_memory=zeros(remembered),
        earlier=zeros(units),
        row=zeros(max(wide, embedding, inputs)),
        none=zeros(0, 0),
        ready=np.zeros(1, dtype=np.int64),
        failed=np.zeros(1, dtype=np.int64),
    )
