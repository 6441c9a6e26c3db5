"""Memories of other kinds for the reference, twins of those in `memory/`, and the choice among all of them.

Those that learn are the paper's autoencoder with another encoder; the others have no decoder, and nothing of theirs
takes a gradient. A block of your own needs only what `context_block.ContextBlock` asks for.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import SharpConfig
from sharpstream.memory.kinds import slots, state_size
from sharpstream.memory.shapes import input_size
from sharpstream.reference.context_block import RnnContextBlock


def block_of(config: SharpConfig, vocabulary: int, level: int) -> nn.Module:
    """Block ℓ of the configured kind."""
    return BLOCKS[config.memory_of(level)](config, vocabulary, level)


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
    """s ← a ⊙ s + (1 − a) ⊙ (B x + b) with 0 < a < 1: H leaky units, fast to slow, each learning its own rate."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)
        self.bias_ih = nn.Parameter(torch.zeros(width))
        self.rate = nn.Parameter(torch.linspace(-1.0, 3.0, width))  # a = σ(rate): 0.27 to 0.95

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        keep = torch.sigmoid(self.rate)
        moved: Tensor = keep * state + (1 - keep) * F.linear(x, self.weight_ih, self.bias_ih)
        return moved


class DiagonalContextBlock(RnnContextBlock):
    """A diagonal linear state-space memory; its tanh is read, so that the levels above see a bounded input."""

    def make_encoder(self, inputs: int, width: int) -> nn.Module:
        return DiagonalCell(inputs, width)

    def output(self, state: Tensor) -> Tensor:
        return torch.tanh(state)


class FixedBlock(nn.Module):
    """A memory that stays as it began: an embedding, a step, a read-out, no decoder; here, an RNN's first weights."""

    learns = False

    def __init__(self, config: SharpConfig, vocabulary: int, level: int) -> None:
        super().__init__()
        self.width, self.state_size, source = config.width, state_size(config, level), input_size(config, level)
        self.embed = nn.Linear(source, config.embedding) if source else nn.Embedding(vocabulary, config.embedding)
        self.encoder = self.make_encoder(config)
        self.requires_grad_(False)

    def make_encoder(self, config: SharpConfig) -> nn.Module:
        """What takes an embedded input in; a variant overrides this, and `output` where a state is not read whole."""
        return nn.RNNCell(config.embedding, config.width)

    def encode(self, x: Tensor, state: Tensor) -> Tensor:
        encoded: Tensor = self.encoder(self.embed(x), state)
        return encoded

    def output(self, state: Tensor) -> Tensor:
        return F.pad(state, (0, self.width - state.shape[-1]))


class DelayCell(nn.Module):
    """The newest input comes first, the oldest is dropped."""

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        return torch.cat([x, state[..., : -x.shape[-1]]], dim=-1)


class DelayContextBlock(FixedBlock):
    """The last H // E inputs exactly."""

    def make_encoder(self, config: SharpConfig) -> nn.Module:
        return DelayCell()


class LegendreCell(nn.Module):
    """M ← Ā M + B̄ eᵀ: the first q Legendre coefficients of each coordinate over the last q inputs; M (q, E), flat."""

    def __init__(self, orders: int) -> None:
        super().__init__()
        self.input = nn.Parameter(torch.empty(orders))
        self.transition = nn.Parameter(torch.empty(orders, orders))

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        kept = self.transition @ state.reshape(*state.shape[:-1], -1, x.shape[-1])
        moved: Tensor = (kept + self.input[:, None] * x[..., None, :]).flatten(-2)
        return moved


class LegendreContextBlock(FixedBlock):
    """The best polynomial fit of the last H // E inputs."""

    def make_encoder(self, config: SharpConfig) -> nn.Module:
        return LegendreCell(slots(config))


BLOCKS: dict[str, type[nn.Module]] = {
    "rnn": RnnContextBlock,
    "gru": GruContextBlock,
    "lstm": LstmContextBlock,
    "diagonal": DiagonalContextBlock,
    "orthogonal": FixedBlock,
    "delay": DelayContextBlock,
    "legendre": LegendreContextBlock,
}
