"""Pattern blocks in PyTorch: what they must offer, and the paper's FiLM block with its `concat` sibling."""

from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import SharpConfig


class PatternBlock(Protocol):
    """A read-out of memory: state of its level and context from above in, context for the level below out."""

    def __call__(self, z: Tensor, context: Tensor | None) -> Tensor:
        """z (H,), context (H,) or None at the top → (H,), or logits (V,) at level 1; a leading batch is allowed."""

    def parameters(self, recurse: bool = True) -> object:
        """Every nn.Module has this."""


class MlpPatternBlock(nn.Module):
    """LayerNorm, conditioning on the context, MLP of `depth` linears with GELU placed `pre` or `between`."""

    def __init__(self, config: SharpConfig, vocabulary: int, level: int) -> None:
        super().__init__()
        width, top = config.width, level == config.levels
        self.before = config.activation == "pre"
        self.film = self.film_norm = self.project = None
        inner = width
        if config.conditioning == "film":
            self.film = None if top else nn.Linear(width, 2 * width)
            self.film_norm = nn.LayerNorm(width)  # the top block has it too, unused (as published)
        elif not top:
            self.project = nn.Linear(width, width)
            inner = 2 * width
        self.norm = nn.LayerNorm(inner)
        out = vocabulary if level == 1 else width
        sizes = [inner] * config.depth + [out]
        self.mlp = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes))

    def forward(self, z: Tensor, context: Tensor | None) -> Tensor:
        z = self.condition(z, context)
        last = len(self.mlp) - 1
        for layer, linear in enumerate(self.mlp):
            if (layer < last) if self.before else (layer > 0):
                z = F.gelu(z)  # the exact one, by erf
            z = linear(z)
        return z

    def condition(self, z: Tensor, context: Tensor | None) -> Tensor:
        """The state of this level, modulated by the level above."""
        if context is not None and self.film is not None and self.film_norm is not None:
            gain, shift = self.film(context).chunk(2, dim=-1)
            modulated: Tensor = self.film_norm((1 + torch.tanh(gain)) * self.norm(z) + torch.tanh(shift))
            return modulated
        if context is not None and self.project is not None:
            z = torch.cat([z, self.project(context)], dim=-1)
        normed: Tensor = self.norm(z)
        return normed
