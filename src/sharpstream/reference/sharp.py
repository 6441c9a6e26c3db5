"""Algorithm 1 of the paper, line by line, with autograd: the oracle of the fused engine and the place to change things.

Tokens come in one at a time through `observe`; bits come out. Slow by design. Sleep itself is in `sleep.py`; exchange
of state with the fused engine in `state.py`. Any block that keeps the protocols of `context_block.py` and
`pattern_block.py` can be plugged in.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sharpstream.config import SharpConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.contract import (
    Array,
    Bits,
    LearnerBase,
    Regime,
    State,
    Tokens,
    check_tokens,
    frozen,
    sleep_reports,
)
from sharpstream.learners.sharp_fields import trained_awake
from sharpstream.learners.sharp_parameters import first_values, sharp_layout
from sharpstream.memory.context_block import KEEP
from sharpstream.memory.drowsiness import drowsy, trigger_of
from sharpstream.reference import sleep as sleeping
from sharpstream.reference import state as exchange
from sharpstream.reference.blocks import block_of
from sharpstream.reference.output_adam import OutputAdam
from sharpstream.reference.pattern_block import MlpPatternBlock

BlockFactory = Callable[[SharpConfig, int, int], nn.Module]  # (config, vocabulary, level) → block


class ReferenceSharp(LearnerBase):
    """SHARP as DESIGN section 3 has it, under the learner contract."""

    name = "sharp"

    def __init__(
        self,
        config: SharpConfig,
        vocabulary: int,
        *,
        seed: int = 0,
        vectors: npt.NDArray[Any] | None = None,
        device: str = "cpu",
        context_block: BlockFactory = block_of,
        pattern_block: BlockFactory = MlpPatternBlock,
    ) -> None:
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime: Regime = {"carry": "aligned", "window": config.window, "update_interval": 1}
        self.dtype = torch.float32 if config.dtype == "float32" else torch.float64
        self.device = torch.device(device)
        self.vectors = self._dense_inputs(vectors)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # only blocks of the user's own are drawn by torch
            blocks = {
                "context": {str(level): context_block(config, vocabulary, level) for level in self.levels},
                "pattern": {str(level): pattern_block(config, vocabulary, level) for level in self.levels},
            }
        self.modules = nn.ModuleDict({kind: nn.ModuleDict(members) for kind, members in blocks.items()})
        self.modules.to(device=self.device, dtype=self.dtype)
        self.m: list[Any] = [blocks["context"][str(level)] for level in self.levels]  # context blocks m^ℓ
        self.f: list[Any] = [blocks["pattern"][str(level)] for level in self.levels]  # pattern blocks f^ℓ
        if context_block is block_of and pattern_block is MlpPatternBlock:
            layout = sharp_layout(config, vocabulary)
            first = first_values(config, layout, seed)
            exchange.load_parameters(self, {name: layout.view(first, name) for name in layout.names})
        self._make_optimizers()
        self._reset_stream()
        self.look_ahead()

    @property
    def levels(self) -> range:
        """1..L, as in the paper."""
        return range(1, self.config.levels + 1)

    @property
    def on_tick(self) -> bool:
        """Whether pattern blocks 2..L take credit only when their level ticks."""
        return self.config.credit == "on-tick"

    def _dense_inputs(self, vectors: npt.NDArray[Any] | None) -> Tensor | None:
        size = self.config.input_size
        if (vectors is None) != (size == 0) or (vectors is not None and vectors.shape != (self.vocabulary, size)):
            given = "none were given" if vectors is None else f"the given ones have shape {vectors.shape}"
            raise ConfigError(
                f"input_size = {size} needs frozen vectors of shape ({self.vocabulary}, {size}), but {given}"
            )
        return None if vectors is None else torch.tensor(vectors, dtype=self.dtype, device=self.device)

    def adam(self, groups: list[dict[str, Any]]) -> torch.optim.Adam:
        """Adam as configured: coupled weight decay, any betas."""
        a = self.config.adam
        return torch.optim.Adam(groups, betas=(a.beta1, a.beta2), eps=a.eps, weight_decay=a.weight_decay)

    def _make_optimizers(self) -> None:
        lr, gamma = self.config.adam.lr, self.config.gamma
        self.pattern_adam = [
            self.adam([{"params": list(f.parameters()), "lr": lr * gamma**level}]) for level, f in enumerate(self.f)
        ]
        if self.config.output_adam != "full":
            self.pattern_adam[0] = self._output_adam()
        self.context_adam = [self.adam([{"params": list(m.parameters()), "lr": lr}]) for m in self.m]

    def _output_adam(self) -> torch.optim.Adam:
        """Adam for block 1 with fewer moments of its output layer."""
        a, kept = self.config.adam, self.config.output_adam
        return OutputAdam(
            [{"params": list(self.f[0].parameters()), "lr": a.lr}],
            self.f[0].mlp[-1].weight,
            momentum=not kept.endswith("no-momentum"),
            factored=kept.startswith("factored"),
            betas=(a.beta1, a.beta2),
            eps=a.eps,
            weight_decay=a.weight_decay,
        )

    def _reset_stream(self) -> None:
        """Nothing seen yet."""
        n = self.config.levels
        self.h = [self.zeros(m.state_size) for m in self.m]  # prediction path: h^ℓ, advanced one input at a time
        self.carried = [self.zeros(m.state_size) for m in self.m]  # training path: after the window's first input
        self.windows: list[list[Tensor]] = [[] for _ in range(n)]
        self.ema, self.recon_sum = [0.0] * n, [0.0] * n
        self.recon_count, self.updates = [0] * n, [0] * n
        self.expected = 0.0  # tagging by prediction: the smoothed loss of the predictions
        self.tags: list[tuple[Tensor, Tensor]] = []
        self.pending = [self.zeros(self.config.width) for _ in range(n)]  # on-tick: δ at c^ℓ since ℓ last ticked
        self.ticks = [0] * n  # on-tick: Adam steps of pattern block ℓ ≥ 2
        self.observed = self.clock = self.sleeps = self.tagged = 0
        self.since_sleep, self.floor = np.zeros(1, dtype=np.int64), np.full(1, np.inf)  # as `drowsy` counts them
        self.correct: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)  # of the last learn or evaluate
        self.sleep_reports = sleep_reports()

    def zeros(self, size: int) -> Tensor:
        """A state nothing has been written to."""
        return torch.zeros(size, dtype=self.dtype, device=self.device)

    # ---- the contract --------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        p: npt.NDArray[np.float64] = torch.softmax(self.logits.detach().double(), -1).cpu().numpy()
        return p

    def observe(self, token: int) -> float:
        check_tokens(np.array([token]), self.vocabulary, first=self.observed)
        return self._wake_step(token)

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=self.observed)
        self.correct = np.zeros(checked.size, dtype=np.bool_)
        bits = np.empty(checked.size)
        for i, token in enumerate(checked):
            self.correct[i] = int(self.logits.argmax()) == token
            bits[i] = self._wake_step(int(token))
        return bits

    def evaluate(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary)
        bits, self.correct = np.empty(checked.size), np.zeros(checked.size, dtype=np.bool_)
        with frozen(self), torch.no_grad():
            for i, token in enumerate(checked):
                self.correct[i] = int(self.logits.argmax()) == token
                bits[i] = self._score(torch.tensor(int(token), device=self.device))
                self._remember(self.input_of(int(token)))
                self.look_ahead()
        return bits

    def sleep(self) -> Mapping[str, Any] | None:
        return sleeping.sleep(self)

    def forget(self) -> None:
        self.zero_states()
        self.windows = [[] for _ in self.levels]
        self.look_ahead()

    def zero_states(self) -> None:
        """Hidden states, what waits for credit, and the clock."""
        self.h = [torch.zeros_like(h) for h in self.h]
        self.carried = [torch.zeros_like(carried) for carried in self.carried]
        self.pending = [torch.zeros_like(pending) for pending in self.pending]
        self.clock = 0

    def state_dict(self) -> State:
        return exchange.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        exchange.load_state_dict(self, state)
        self.look_ahead()

    def parameters(self, *, active: bool = False) -> int:
        awake = [self.m[level - 1] for level in trained_awake(self.config)]
        blocks = [*self.f, *(awake if active else self.m)]
        return sum(p.numel() for block in blocks for p in block.parameters())

    @property
    def growth_bytes(self) -> int:
        c, state = self.config, int(max(m.state_size for m in self.m))  # tags and windows fill up, 8 bytes a number
        return 8 * (c.sleep.tags * (state + c.width) + c.levels * c.window * max(state, c.width, c.input_size))

    def metrics(self) -> Mapping[str, Any]:
        return {
            "updates": list(self.updates),
            "tagged": self.tagged,
            "tags_stored": len(self.tags),
            "sleeps": self.sleeps,
            "recon_sum": list(self.recon_sum),
            "recon_count": list(self.recon_count),
            "ema": list(self.ema),
        }

    # ---- one wake step, on the arrival of x_t ---------------------------------------------------------------------

    def _wake_step(self, token: int) -> float:
        target, x = torch.tensor(token, device=self.device), self.input_of(token)
        bits = self._score(target)
        self._credit(target)
        tagged = self._reconstruct(1, x)
        if self.config.tags_by_prediction:
            tagged = self._unexpected(bits)
        ticked = self._remember(x, learn=True)
        self.look_ahead(ticked if self.on_tick else self.config.levels)
        if tagged:
            self._tag()
        self.observed += 1
        s = self.config.sleep
        rule = (trigger_of(self.config), s.every, s.novelty_ratio, s.novelty_rest)
        smoothed = self.expected if self.config.tags_by_prediction else self.ema[0]
        if drowsy(*rule, self.since_sleep, self.floor, smoothed):
            self.sleep()
        return bits

    def input_of(self, token: int) -> Tensor:
        """What block 1 reads: the token itself, or its frozen vector."""
        return torch.tensor(token, device=self.device) if self.vectors is None else self.vectors[token]

    def _score(self, target: Tensor) -> float:
        """1. bits of x_t under p̂_t, which was computed before x_t was seen."""
        return float(F.cross_entropy(self.logits.detach(), target)) / math.log(2.0)

    def _credit(self, target: Tensor) -> None:
        """2. one Adam step on every pattern block; the states it read carry no gradient, so no context block moves."""
        self.modules["pattern"].zero_grad()
        torch.autograd.backward(F.cross_entropy(self.logits, target))
        if self.on_tick:
            self._credit_on_tick()
        else:
            for adam in self.pattern_adam:
                adam.step()

    def _credit_on_tick(self) -> None:
        """Block 1 steps; going up, each δ joins its level's sum, and a level that ticks now learns from that."""
        self.pattern_adam[0].step()
        for level in range(2, self.config.levels + 1):
            i, context = level - 1, self.c[level - 1]
            assert context is not None
            assert context.grad is not None
            self.pending[i] = self.pending[i] + context.grad
            context.grad = None
            if (self.clock + 1) % self.config.acceleration**i:
                return
            torch.autograd.backward(self.made[i], self.pending[i])
            self.pattern_adam[i].step()
            self.ticks[i] += 1
            self.pending[i] = torch.zeros_like(self.pending[i])

    def _reconstruct(self, level: int, x: Tensor) -> bool:
        """3. reconstruct block ℓ's window ending in x; learn from it if the smoothed error exceeds τ."""
        i, window = level - 1, self.windows[level - 1]
        if not self.m[i].learns:
            return False
        window.append(x)
        del window[: -self.config.window]
        if len(window) < self.config.window:
            return False
        loss, self.carried[i] = self.m[i].reconstruct(torch.stack(window), self.carried[i])
        error = loss.item()
        self.ema[i] = KEEP * self.ema[i] + (1 - KEEP) * error
        self.recon_sum[i] += error
        self.recon_count[i] += 1
        if not self.ema[i] > self.config.tau:
            return False
        self.context_adam[i].zero_grad()
        torch.autograd.backward(loss)
        self.context_adam[i].step()
        self.updates[i] += 1
        return True

    def _unexpected(self, bits: float) -> bool:
        """The other reason to tag: the loss of x_t exceeds the smoothed one, and τ (both in nats)."""
        loss = bits * math.log(2.0)
        rare = loss > max(self.expected, self.config.tau)
        self.expected = KEEP * self.expected + (1 - KEEP) * loss
        return rare

    @torch.no_grad()
    def _remember(self, x: Tensor, learn: bool = False) -> int:
        """4. advance the memories bottom-up, level ℓ every α^(ℓ−1) steps; the highest level that did."""
        self.clock += 1
        for level, m in zip(self.levels, self.m, strict=True):
            if self.clock % self.config.acceleration ** (level - 1):
                return level - 1
            if level > 1:
                x = self.m[level - 2].output(self.h[level - 2])
                if learn and self.config.train_upper_awake:
                    with torch.enable_grad():
                        self._reconstruct(level, x)
            self.h[level - 1] = m.encode(x, self.h[level - 1])
        return self.config.levels

    def look_ahead(self, highest: int | None = None) -> None:
        """5. contexts c^L … c² top-down from the highest level that moved (all of them when not given), then p̂_{t+1}.

        Gradients flow between pattern blocks only. On-tick they stop at each context, to be summed there.
        """
        if highest is None:
            highest = self.config.levels
            self.made: list[Any] = [None] * (highest + 1)  # c^ℓ at [ℓ − 1], as block ℓ made it
            self.c: list[Tensor | None] = [None] * (highest + 1)  # c^ℓ as block ℓ − 1 reads it; none above the top
        for level in range(highest, 0, -1):
            i = level - 1
            self.made[i] = self.f[i](self.m[i].output(self.h[i]), self.c[level])
            self.c[i] = self.made[i].detach().requires_grad_() if self.on_tick else self.made[i]
        self.logits: Tensor = self.made[0]

    def _tag(self) -> None:
        """6. keep (memory 1's state, c²), first in first out."""
        c2 = self.zeros(self.config.width) if self.config.levels == 1 else self.made[1].detach().clone()
        self.tags.append((self.h[0].clone(), c2))
        del self.tags[: -self.config.sleep.tags]
        self.tagged += 1
