"""The Transformer itself: pre-norm RMSNorm, rotary positions, SwiGLU, no biases, untied head.

Inputs (B, n) come in, hidden vectors (B, n, d) come out; `transformer.py` makes it a learner. `forward` reads whole
windows; `extend` reads some tokens after those in a cache. Names of parameters are those of the state.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import TransformerConfig
from sharpstream.learners import initialise
from sharpstream.learners.contract import Array

NORM_EPS = 1e-6
ROTARY_BASE = 1e4
FIRST_SCALE = 0.02  # standard deviation of every first weight; norms start at 1
Turn = tuple[Tensor, Tensor]  # cosines and sines of rotary angles, (n, d / heads / 2) each
Cache = tuple[Tensor, Tensor]  # keys and values, (heads, chunk, d / heads) each


def linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)


def rotated(x: Tensor, turn: Turn) -> Tensor:
    """Turn each pair (x_i, x_{i + half}) by its position's angle; x is (..., n, d / heads)."""
    cosine, sine = turn
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


class Layer(nn.Module):
    """x + attention(norm(x)), then x + SwiGLU(norm(x))."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d, self.heads = config.width, config.heads
        self.attention_norm, self.feed_norm = nn.RMSNorm(d, eps=NORM_EPS), nn.RMSNorm(d, eps=NORM_EPS)
        self.query, self.key, self.value, self.mixed = linear(d, d), linear(d, d), linear(d, d), linear(d, d)
        self.gate, self.up, self.down = linear(d, config.d_ff), linear(d, config.d_ff), linear(config.d_ff, d)

    def _split(self, x: Tensor, turn: Turn) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of the heads, positions turned in, (..., heads, n, d / heads)."""
        z = self.attention_norm(x)
        q, k, v = (
            part(z).unflatten(-1, (self.heads, -1)).transpose(-3, -2) for part in (self.query, self.key, self.value)
        )
        return rotated(q, turn), rotated(k, turn), v

    def _finish(self, x: Tensor, read: Tensor) -> Tensor:
        x = x + self.mixed(read.transpose(-3, -2).flatten(-2))
        z = self.feed_norm(x)
        fed: Tensor = x + self.down(F.silu(self.gate(z)) * self.up(z))
        return fed

    def forward(self, x: Tensor, turn: Turn) -> Tensor:
        """(B, n, d) → (B, n, d), each position reading itself and those before it."""
        q, k, v = self._split(x, turn)
        return self._finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def extend(self, x: Tensor, turn: Turn, cache: Cache, start: int) -> Tensor:
        """(m, d) → (m, d): m tokens from position `start` on, whose keys and values join the cache."""
        q, k, v = self._split(x, turn)
        keys, values = cache
        stop = start + len(x)
        keys[:, start:stop], values[:, start:stop] = k, v
        visible = torch.ones(len(x), stop, dtype=torch.bool).tril(start)  # token i sees positions 0 .. start + i
        read = F.scaled_dot_product_attention(q[None], keys[None, :, :stop], values[None, :, :stop], visible)
        return self._finish(x, read[0])


class Transformer(nn.Module):
    """Tokens to logits. With `vectors` (V, D) the inputs are frozen vectors through a trained projection."""

    angles: Tensor
    vectors: Tensor

    def __init__(self, config: TransformerConfig, vocabulary: int, vectors: Array | None, seed: int) -> None:
        super().__init__()
        d, self.heads = config.width, config.heads
        self.embedding = nn.Embedding(vocabulary, d) if vectors is None else linear(config.input_size, d)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm, self.head = nn.RMSNorm(d, eps=NORM_EPS), linear(d, vocabulary)
        self.to(torch.float32 if config.dtype == "float32" else torch.float64)
        dtype = self.head.weight.dtype
        half = d // config.heads // 2
        speeds = ROTARY_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(config.chunk, dtype=torch.float64), speeds)  # (chunk, half)
        self.register_buffer("angles", torch.stack((angles.cos(), angles.sin())).to(dtype), persistent=False)
        given = torch.empty(0) if vectors is None else torch.tensor(vectors)
        self.register_buffer("vectors", given.to(dtype), persistent=False)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if parameter.ndim == 2:
                    drawn = initialise.normal(initialise.generator(seed, name), tuple(parameter.shape))
                    parameter.copy_(torch.tensor(FIRST_SCALE * drawn))

    def _inputs(self, tokens: Tensor) -> Tensor:
        read: Tensor = self.embedding(self.vectors[tokens] if self.vectors.numel() else tokens)
        return read

    def _turn(self, start: int, stop: int) -> Turn:
        return self.angles[0, start:stop], self.angles[1, start:stop]

    def forward(self, tokens: Tensor, last: int = 0) -> Tensor:
        """(B, n) → logits of what follows each of the `last` positions (0: all), (B, last, V)."""
        x, turn = self._inputs(tokens), self._turn(0, tokens.shape[1])
        for layer in self.layers:
            x = layer(x, turn)
        logits: Tensor = self.head(self.norm(x[:, -last:]))
        return logits

    def make_cache(self) -> list[Cache]:
        """Room for the keys and values of one chunk in every layer."""
        shape = (self.heads, self.angles.shape[1], self.head.in_features // self.heads)
        return [(self.angles.new_zeros(shape), self.angles.new_zeros(shape)) for _ in self.layers]

    def extend(self, tokens: list[int], start: int, caches: list[Cache]) -> Tensor:
        """Logits (V,) after some more tokens, at `start` of the window whose earlier tokens are in the caches."""
        x, turn = self._inputs(torch.tensor(tokens)), self._turn(start, start + len(tokens))
        for layer, cache in zip(self.layers, caches, strict=True):
            assert isinstance(layer, Layer)
            x = layer.extend(x, turn, cache, start)
        logits: Tensor = self.head(self.norm(x[-1]))
        return logits
