"""Context blocks in PyTorch: what they must offer, and the paper's recurrent autoencoder.

`ReferenceSharp` knows a block only through `ContextBlock`, so any module with these methods can take its place
(`blocks.py` has the other kinds). States are flat vectors; a leading batch is allowed.
"""

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import SharpConfig
from sharpstream.memory.shapes import input_size, target_size


class ContextBlock(Protocol):
    """A memory: it encodes one input at a time and is trained, if at all, only to reconstruct its last T inputs."""

    state_size: int
    learns: bool
    """False: `reconstruct` is never called."""

    def encode(self, x: Tensor, state: Tensor) -> Tensor:
        """The state after input x: a token () or a vector (D,); state (S,) → (S,)."""

    def output(self, state: Tensor) -> Tensor:
        """What the pattern block and the level above read of a state, (S,) → (H,)."""

    def reconstruct(self, window: Tensor, carried: Tensor, clean: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Loss of reconstructing the window's T inputs from their encoding, and the detached state after the first.

        The window starts from `carried`; `clean` are the targets where the inputs carry noise.
        """

    def parameters(self, recurse: bool = True) -> object:
        """Every nn.Module has this."""


class Recall(nn.Module):
    """T separate linear read-outs of one state, stacked: weight (T, D, H), bias (T, D)."""

    def __init__(self, window: int, target: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(window, target, width))
        self.bias = nn.Parameter(torch.empty(window, target))

    def forward(self, state: Tensor) -> Tensor:
        return torch.einsum("tdh,h->td", self.weight, state) + self.bias


class RnnContextBlock(nn.Module):
    """The paper's block: embed, tanh-RNN encoder, and an `rnn` or `recall` decoder."""

    learns = True

    def __init__(self, config: SharpConfig, vocabulary: int, level: int) -> None:
        super().__init__()
        source, target = input_size(config, level), target_size(config, vocabulary, level)
        self.window, self.reads_tokens, self.state_size = config.window, source == 0, config.width
        self.embed = nn.Linear(source, config.embedding) if source else nn.Embedding(vocabulary, config.embedding)
        self.encoder = self.make_encoder(config.embedding, config.width)
        self.decoder = nn.RNNCell(target, config.width) if config.decoder == "rnn" else None
        self.readout = nn.Linear(config.width, target) if self.decoder else Recall(config.window, target, config.width)

    def make_encoder(self, inputs: int, width: int) -> nn.Module:
        """The recurrent cell; a variant block overrides this, `encode`, `output` and `state_size`."""
        return nn.RNNCell(inputs, width)

    def encode(self, x: Tensor, state: Tensor) -> Tensor:
        encoded: Tensor = self.encoder(self.embed(x), state)
        return encoded

    def output(self, state: Tensor) -> Tensor:
        return state

    def reconstruct(self, window: Tensor, carried: Tensor, clean: Tensor | None = None) -> tuple[Tensor, Tensor]:
        state = self.encode(window[0], carried)
        after_first = state.detach()
        for x in window[1:]:
            state = self.encode(x, state)
        decoded = self.decode(self.output(state))  # (T, D)
        target = window if clean is None else clean
        loss = F.cross_entropy(decoded, target) if self.reads_tokens else F.mse_loss(decoded, target)
        return loss, after_first

    def decode(self, state: Tensor) -> Tensor:
        """The T inputs in forward order, read from the last encoder state alone, (H,) → (T, D)."""
        if self.decoder is None:
            decoded: Tensor = self.readout(state)
            return decoded
        fed, outputs = state.new_zeros(self.decoder.input_size), []
        for _ in range(self.window):
            state = self.decoder(fed, state)
            outputs.append(self.readout(state))
            fed = outputs[-1].detach()  # its own raw output, the gradient cut
        return torch.stack(outputs)
