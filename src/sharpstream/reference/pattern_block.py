"""Pattern blocks in PyTorch: what they must offer, and the paper's FiLM block with `film-normed` and `concat`."""

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
    """Conditioning on the context from above, then an MLP of `depth` linears with GELU where the config places it."""

    def __init__(self, config: SharpConfig, vocabulary: int, level: int) -> None:
        super().__init__()
        width, top = config.width, level == config.levels
        self.placement = config.placement
        self.film = self.norm = self.film_norm = self.project = None
        inner = width
        if config.conditioning != "concat":
            self.film = None if top else nn.Linear(width, 2 * width)
        elif not top:
            self.project = nn.Linear(width, width)
            inner = 2 * width
        if config.conditioning != "film":
            self.norm = nn.LayerNorm(inner)
        if config.conditioning == "film-normed":
            self.film_norm = nn.LayerNorm(width)  # the top block has it too, unused (as published)
        out = vocabulary if level == 1 else width
        sizes = [inner] * config.depth + [out]
        self.mlp = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes))

    def forward(self, z: Tensor, context: Tensor | None) -> Tensor:
        z = self.condition(z, context)
        for layer, linear in enumerate(self.mlp):
            if self.has_gelu(layer):
                z = F.gelu(z)  # the exact one, by erf
            z = linear(z)
        return z

    def has_gelu(self, layer: int) -> bool:
        """Whether a GELU stands before this linear."""
        return {"every": True, "pre": layer < len(self.mlp) - 1, "between": layer > 0}[self.placement]

    def condition(self, z: Tensor, context: Tensor | None) -> Tensor:
        """The state of this level, modulated by the level above."""
        if context is not None and self.film is not None:
            gain, shift = self.film(context).chunk(2, dim=-1)
            if self.norm is None or self.film_norm is None:
                return torch.as_tensor(gain * z + shift)  # the paper's: plain scale and shift
            modulated: Tensor = self.film_norm((1 + torch.tanh(gain)) * self.norm(z) + torch.tanh(shift))
            return modulated
        if context is not None and self.project is not None:
            z = torch.cat([z, self.project(context)], dim=-1)
        return z if self.norm is None else torch.as_tensor(self.norm(z))
