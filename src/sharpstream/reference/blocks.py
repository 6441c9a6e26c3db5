"""Memories of other kinds for the reference: LSTM, GRU and a diagonal linear state-space block.

Each is the paper's autoencoder with another encoder. Plug one in with `ReferenceSharp(config, V, context_block=...)`;
a block of your own needs only what `context_block.ContextBlock` asks for.
"""

import torch
from torch import Tensor, nn

from sharpstream.config import SharpConfig
from sharpstream.reference.context_block import RnnContextBlock


class LstmContextBlock(RnnContextBlock):
    """The state is hidden and cell side by side, (2H,); only the hidden half is read."""

    def __init__(self, config: SharpConfig, vocabulary: int, level: int) -> None:
        super().__init__(config, vocabulary, level)
        self.state_size = 2 * config.width

    def make_encoder(self, inputs: int, width: int) -> nn.Module:
        return nn.LSTMCell(inputs, width)

    def encode(self, x: Tensor, state: Tensor) -> Tensor:
        hidden, cell = self.encoder(self.embed(x), state.chunk(2, dim=-1))
        return torch.cat([hidden, cell], dim=-1)

    def output(self, state: Tensor) -> Tensor:
        return state.chunk(2, dim=-1)[0]


class GruContextBlock(RnnContextBlock):
    """A GRU in place of the tanh RNN."""

    def make_encoder(self, inputs: int, width: int) -> nn.Module:
        return nn.GRUCell(inputs, width)


class DiagonalCell(nn.Module):
    """s ← a ⊙ s + (1 − a) ⊙ B x with 0 < a < 1: H leaky integrators, fast to slow, each learning its own rate."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.input = nn.Linear(inputs, width)
        self.rate = nn.Parameter(torch.linspace(-1.0, 3.0, width))  # a = sigmoid(rate): 0.27 to 0.95

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        keep = torch.sigmoid(self.rate)
        moved: Tensor = keep * state + (1 - keep) * self.input(x)
        return moved


class DiagonalContextBlock(RnnContextBlock):
    """A diagonal linear state-space memory; its tanh is read, so that the levels above see a bounded input."""

    def make_encoder(self, inputs: int, width: int) -> nn.Module:
        return DiagonalCell(inputs, width)

    def output(self, state: Tensor) -> Tensor:
        return torch.tanh(state)
