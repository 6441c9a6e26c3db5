"""Clockwork RNN in PyTorch: the oracle of `learners/clockwork.py`, module by module with autograd."""

from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from sharpstream.config import ClockworkConfig
from sharpstream.learners.recurrent_parameters import clockwork_layout
from sharpstream.reference.recurrent import ReferenceRecurrentLearner


class ClockworkModule(nn.Module):
    """One module's weights: from the token (H, E), from the modules it listens to (H, n·H), and one bias."""

    def __init__(self, width: int, embedding: int, heard: int) -> None:
        super().__init__()
        self.input = nn.Parameter(torch.empty(width, embedding))
        self.recurrent = nn.Parameter(torch.empty(width, heard * width))
        self.bias = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor, heard: Tensor) -> Tensor:
        return torch.tanh(self.input @ x + self.recurrent @ heard.flatten() + self.bias)


class ClockworkNet(nn.Module):
    """Embedding, modules with periods, a read-out of all their states."""

    def __init__(self, config: ClockworkConfig, vocabulary: int) -> None:
        super().__init__()
        self.periods, self.reverse = config.periods, config.wiring == "reversed"
        self.state_shape = (1, config.modules, config.width)
        size, modules = config.input_size, range(config.modules)
        self.embed = nn.Linear(size, config.embedding) if size else nn.Embedding(vocabulary, config.embedding)
        self.module = nn.ModuleDict(
            {str(i + 1): ClockworkModule(config.width, config.embedding, len(modules[self.heard(i)])) for i in modules}
        )
        self.read = nn.Linear(config.modules * config.width, vocabulary)

    def heard(self, module: int) -> slice:
        """Which modules feed this one: itself and the slower ones, or the faster ones when reversed."""
        return slice(None, module + 1) if self.reverse else slice(module, None)

    def step(self, x: Tensor, state: Tensor, number: int) -> Tensor:
        """The state after token `number` (from 1), (1, modules, H): modules whose period divides it tick."""
        embedded, before = self.embed(x), state[0]
        after = [
            net(embedded, before[self.heard(i)]) if number % self.periods[i] == 0 else before[i]
            for i, net in enumerate(self.module.values())
        ]
        return torch.stack(after)[None]

    def read_out(self, state: Tensor) -> Tensor:
        """Logits from every module, (V,)."""
        logits: Tensor = self.read(state.flatten())
        return logits


class ReferenceClockwork(ReferenceRecurrentLearner):
    """The twin of `learners.clockwork.Clockwork`."""

    name = "clockwork"

    def __init__(
        self,
        config: ClockworkConfig,
        vocabulary: int,
        *,
        seed: int = 0,
        vectors: npt.NDArray[Any] | None = None,
        device: str = "cpu",
    ) -> None:
        net, layout = ClockworkNet(config, vocabulary), clockwork_layout(config, vocabulary)
        super().__init__(config, vocabulary, net, layout, seed=seed, vectors=vectors, device=device)
        self.regime = {**self.regime, "wiring": config.wiring}
