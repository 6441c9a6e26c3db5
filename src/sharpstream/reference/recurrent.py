"""RNN, LSTM and GRU in PyTorch: torch.nn cells, autograd and torch.optim.Adam. The oracle of the fused baselines.

`ReferenceRecurrentLearner` is the online protocol for any network that steps through one token at a time; `CellStack`
is that network for stacked cells, `clockwork.py` has the other. State goes out and in as the fused learners have it.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import ClockworkConfig, RecurrentConfig
from sharpstream.errors import NumericalError
from sharpstream.kernels.layout import Layout
from sharpstream.learners.contract import (
    Array,
    Bits,
    LearnerBase,
    Regime,
    State,
    Tokens,
    check_level,
    check_resets,
    check_tokens,
    frozen,
)
from sharpstream.learners.recurrent_learner import dense_inputs
from sharpstream.learners.recurrent_parameters import first_values, recurrent_layout
from sharpstream.learners.recurrent_state import COUNTERS, check_state

CELL_MODULES = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}


class ReferenceRecurrentLearner(LearnerBase):
    """Score x_t by the window before it, learn from that prediction's loss, move the carried state on."""

    name: str

    def __init__(
        self,
        config: RecurrentConfig | ClockworkConfig,
        vocabulary: int,
        net: Any,
        layout: Layout,
        *,
        seed: int,
        vectors: npt.NDArray[Any] | None,
        device: str,
    ) -> None:
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime: Regime = {"carry": config.carry, "window": config.window, "update_interval": 1}
        self.dtype = torch.float32 if config.dtype == "float32" else torch.float64
        self.device = torch.device(device)
        given = dense_inputs(config.input_size, vocabulary, vectors, config.dtype)
        self.vectors = torch.tensor(given, device=self.device) if config.input_size else None
        self.net = net.to(device=self.device, dtype=self.dtype)
        first = first_values(config, layout, seed)
        self._load_parameters({name: layout.view(first, name) for name in layout.names})
        a = config.adam
        self.adam = torch.optim.Adam(
            self.net.parameters(), lr=a.lr, betas=(a.beta1, a.beta2), eps=a.eps, weight_decay=a.weight_decay
        )
        self.correct: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.observed = self.updates = 0
        self._forget()
        self.look_ahead()

    def _forget(self) -> None:
        """Nothing seen; the weights stay."""
        self.carried: Tensor = torch.zeros(self.net.state_shape, dtype=self.dtype, device=self.device)
        self.clock = 0  # tokens that `carried` has read
        self.window: list[int] = []

    # ---- the contract ----------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        p: npt.NDArray[np.float64] = torch.softmax(self.logits.detach().double(), -1).cpu().numpy()
        return p

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=self.observed)
        bits, self.correct = np.empty(checked.size), np.zeros(checked.size, dtype=np.bool_)
        for i, token in enumerate(checked.tolist()):
            bits[i], self.correct[i] = self._step(token)
        return bits

    def evaluate(self, tokens: Tokens) -> Bits:
        return self.evaluate_with_resets(tokens, every=0)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with state, window and clock forgotten every so many tokens (0: never)."""
        scores = [(bits, right) for bits, right, _ in self._watch(tokens, check_resets(every))]
        self.correct = np.array([right for _, right in scores], dtype=np.bool_)
        return np.array([bits for bits, _ in scores], dtype=np.float64)

    def hidden_states(self, tokens: Tokens, level: int = 1) -> Array:
        """A layer's (or Clockwork module's) state after each token, learning off, (n, H)."""
        layer = check_level(level, self.net.state_shape[1]) - 1
        return np.stack([_numpy(state[0, layer]) for _, _, state in self._watch(tokens, 0)])

    def forget(self) -> None:
        self._forget()
        self.look_ahead()

    def parameters(self, *, active: bool = False) -> int:
        return sum(p.numel() for p in self.net.parameters())

    @property
    def growth_bytes(self) -> int:
        return 8 * self.config.window  # it fills up with tokens

    # ---- one step, on the arrival of x_t -----------------------------------------------------------------------------

    def _step(self, token: int) -> tuple[float, bool]:
        loss, right = self._score(token)
        if not torch.isfinite(loss):
            raise NumericalError(f"learning left the finite numbers at token {self.observed}: its loss was not finite")
        if len(self.window) == self.config.window:
            self._credit(loss)
            overlap = self.config.carry == "overlap"
            self._carry(self.states[-1] if overlap else self.states[1], len(self.window) if overlap else 1)
        self.window = [*self.window, token][-self.config.window :]
        self.observed += 1
        self.look_ahead()
        return loss.item() / math.log(2.0), right

    def _score(self, token: int) -> tuple[Tensor, bool]:
        loss = F.cross_entropy(self.logits, torch.tensor(token, device=self.device))
        return loss, int(self.logits.argmax()) == token

    def _credit(self, loss: Tensor) -> None:
        """One Adam step on every parameter; one that the window did not touch has gradient zero, not none."""
        self.adam.zero_grad()
        torch.autograd.backward(loss)
        for parameter in self.net.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.adam.step()
        self.updates += 1

    def _carry(self, state: Tensor, consumed: int) -> None:
        self.carried = state.detach()
        self.clock += consumed

    def look_ahead(self) -> None:
        """Read the window from the carried state with the present weights; the logits of the next token."""
        self.states = [self.carried]  # (1 or 2, layers, H) each
        for t, token in enumerate(self.window):
            self.states.append(self.net.step(self._input(token), self.states[-1], self.clock + t + 1))
        self.logits: Tensor = self.net.read_out(self.states[-1])

    def _input(self, token: int) -> Tensor:
        return torch.tensor(token, device=self.device) if self.vectors is None else self.vectors[token]

    @torch.no_grad()
    def _watch(self, tokens: Tokens, every: int) -> Iterator[tuple[float, bool, Tensor]]:
        """Bits of each token, whether it was expected, and the state after it, learning off; changes nothing."""
        with frozen(self):
            for i, token in enumerate(check_tokens(tokens, self.vocabulary).tolist()):
                if every and i % every == 0:
                    self._forget()
                    self.look_ahead()
                loss, right = self._score(token)
                if self.config.carry == "aligned":  # each token is read once
                    self._carry(self.states[-1], len(self.window))
                    self.window = [token]
                else:
                    if len(self.window) == self.config.window:
                        self._carry(self.states[-1], len(self.window))
                    self.window = [*self.window, token][-self.config.window :]
                self.look_ahead()
                yield loss.item() / math.log(2.0), right, self.states[-1]

    # ---- state -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> State:
        state: State = {name: _numpy(parameter) for name, parameter in self.net.named_parameters()}
        for name, parameter in self.net.named_parameters():
            kept = self.adam.state.get(parameter, {})
            state[f"adam.m.{name}"] = _numpy(kept.get("exp_avg", torch.zeros_like(parameter)))
            state[f"adam.v.{name}"] = _numpy(kept.get("exp_avg_sq", torch.zeros_like(parameter)))
        state["carried"] = _numpy(self.carried[0])
        if len(self.carried) > 1:
            state["carried_memory"] = _numpy(self.carried[1])
        state["window"] = np.array(self.window, dtype=np.int64)
        for name in (*COUNTERS, "seed"):
            state[name] = np.array(getattr(self, name), dtype=np.int64)
        return state

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        check_state(self.state_dict(), state, self.config.window, self.vocabulary)
        self._load_parameters(state)
        for name in (*COUNTERS, "seed"):
            setattr(self, name, int(state[name]))
        for name, parameter in self.net.named_parameters():
            self.adam.state[parameter] = {
                "step": torch.tensor(float(self.updates)),
                "exp_avg": torch.tensor(state[f"adam.m.{name}"]).to(parameter),
                "exp_avg_sq": torch.tensor(state[f"adam.v.{name}"]).to(parameter),
            }
        parts = [state["carried"], *([state["carried_memory"]] if "carried_memory" in state else [])]
        self.carried = torch.tensor(np.stack(parts), dtype=self.dtype, device=self.device)
        self.window = [int(token) for token in state["window"]]
        self.look_ahead()

    @torch.no_grad()
    def _load_parameters(self, values: Mapping[str, Array]) -> None:
        for name, parameter in self.net.named_parameters():
            parameter.copy_(torch.tensor(np.asarray(values[name])))


def _numpy(tensor: Tensor) -> Array:
    array: Array = tensor.detach().cpu().numpy().copy()
    return array


class CellStack(nn.Module):
    """Embedding, stacked torch.nn cells, linear read-out."""

    def __init__(self, config: RecurrentConfig, vocabulary: int) -> None:
        super().__init__()
        self.gated = config.cell == "lstm"
        self.state_shape = (2 if self.gated else 1, config.layers, config.width)
        kind, size = CELL_MODULES[config.cell], config.input_size
        self.embed = nn.Linear(size, config.embedding) if size else nn.Embedding(vocabulary, config.embedding)
        sizes = [config.embedding] + [config.width] * (config.layers - 1)
        self.cell = nn.ModuleDict({str(i): kind(inputs, config.width) for i, inputs in enumerate(sizes, start=1)})
        self.read = nn.Linear(config.width, vocabulary)

    def step(self, x: Tensor, state: Tensor, number: int) -> Tensor:
        """The state after one token, (1 or 2, layers, H); the token's number matters only to clocks."""
        below, after = self.embed(x), []
        for layer, cell in enumerate(self.cell.values()):
            given = (state[0, layer], state[1, layer]) if self.gated else state[0, layer]
            out = cell(below, given)
            after.append(torch.stack(out) if self.gated else out[None])
            below = after[-1][0]
        return torch.stack(after, dim=1)

    def read_out(self, state: Tensor) -> Tensor:
        """Logits from the top layer, (V,)."""
        logits: Tensor = self.read(state[0, -1])
        return logits


class ReferenceRecurrent(ReferenceRecurrentLearner):
    """The twin of `learners.recurrent.Recurrent`."""

    def __init__(
        self,
        config: RecurrentConfig,
        vocabulary: int,
        *,
        seed: int = 0,
        vectors: npt.NDArray[Any] | None = None,
        device: str = "cpu",
    ) -> None:
        self.name = config.cell
        net, layout = CellStack(config, vocabulary), recurrent_layout(config, vocabulary)
        super().__init__(config, vocabulary, net, layout, seed=seed, vectors=vectors, device=device)
