"""The reference's whole state as the same flat dict of named NumPy arrays that the fused engine reads and writes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from sharpstream.errors import RunError
from sharpstream.learners.contract import Array, State
from sharpstream.learners.sharp_fields import differing, in_table_order, trained_awake

if TYPE_CHECKING:
    from sharpstream.reference.sharp import ReferenceSharp


def load_parameters(learner: "ReferenceSharp", values: Mapping[str, Array]) -> None:
    """Overwrite the blocks' parameters by name."""
    with torch.no_grad():
        for name, parameter in learner.modules.named_parameters():
            parameter.copy_(torch.tensor(np.asarray(values[name])))


def _numpy(tensor: Tensor) -> Array:
    array: Array = tensor.detach().cpu().numpy().copy()
    return array


def _trained(learner: "ReferenceSharp") -> list[tuple[str, nn.Parameter, torch.optim.Adam, int]]:
    """Parameters that learn while awake: name, parameter, its optimizer, how many steps that has taken."""
    awake: list[tuple[str, nn.Parameter, torch.optim.Adam, int]] = []
    for name, parameter in learner.modules.named_parameters():
        kind, level = name.split(".")[0], int(name.split(".")[1])
        if kind == "pattern":
            steps = learner.ticks[level - 1] if learner.on_tick and level > 1 else learner.observed
            awake.append((name, parameter, learner.pattern_adam[level - 1], steps))
        elif level in trained_awake(learner.config):
            awake.append((name, parameter, learner.context_adam[level - 1], learner.updates[level - 1]))
    return awake


def state_dict(learner: "ReferenceSharp") -> State:
    """Copies of everything that decides what happens next."""
    state: State = {name: _numpy(parameter) for name, parameter in learner.modules.named_parameters()}
    for name, parameter, optimizer, _ in _trained(learner):
        kept = optimizer.state.get(parameter, {})
        state[f"adam.m.{name}"] = _numpy(kept.get("exp_avg", torch.zeros_like(parameter)))
        state[f"adam.v.{name}"] = _numpy(kept.get("exp_avg_sq", torch.zeros_like(parameter)))
    return state | in_table_order(learner.config, _held(learner))


def _held(learner: "ReferenceSharp") -> State:
    """What the table of fields asks for, from where the reference keeps it."""
    held: State = {}
    for i, level in enumerate(learner.levels):
        held[f"hidden.{level}"] = _numpy(learner.h[i])
        if level in trained_awake(learner.config):
            held[f"carried.{level}"] = _numpy(learner.carried[i])
            held[f"window.{level}"] = _window(learner, i)
    held |= {"ema": np.array(learner.ema), "recon.sum": np.array(learner.recon_sum)}
    held |= {"recon.count": np.array(learner.recon_count), "updates": np.array(learner.updates)}
    for name in ("observed", "clock", "sleeps", "tagged", "seed"):
        held[name] = np.array(vars(learner)[name], dtype=np.int64)
    held["since_sleep"] = np.array(learner.since_sleep[0], dtype=np.int64)
    held["floor"] = np.array(learner.floor[0])
    if learner.config.tags_by_prediction:
        held["expected"] = np.array(learner.expected)
    if learner.on_tick:
        held["credit.pending"] = _stacked(learner.pending[1:], learner.pending[0])
        held["credit.ticks"] = np.array(learner.ticks[1:], dtype=np.int64)
    hidden, context = zip(*learner.tags, strict=True) if learner.tags else ((), ())
    held["tags.hidden"] = _stacked(hidden, learner.h[0])
    held["tags.context"] = _stacked(context, learner.zeros(learner.config.width))
    return held


def _window(learner: "ReferenceSharp", i: int) -> Array:
    """The inputs in block ℓ's window, oldest first; tokens (n,) or vectors (n, D)."""
    window = learner.windows[i]
    if i == 0 and learner.vectors is None:
        return np.array([int(token) for token in window], dtype=np.int64)
    return _stacked(window, learner.zeros(learner.config.input_size if i == 0 else learner.config.width))


def _stacked(rows: "list[Tensor] | tuple[Tensor, ...]", like: Tensor) -> Array:
    """Vectors as the rows of one array, (0, n) when there are none."""
    return _numpy(torch.stack(list(rows)) if rows else like.new_zeros((0, like.shape[-1])))


def load_state_dict(learner: "ReferenceSharp", state: Mapping[str, Array]) -> None:
    """Continue from a state; names must be exactly the expected ones."""
    own = state_dict(learner)
    if own.keys() != state.keys():
        raise RunError(f"this state is not of this learner: the arrays {differing(own, state)} are missing or unknown")
    load_parameters(learner, state)
    learner.observed, learner.clock = int(state["observed"]), int(state["clock"])
    learner.sleeps, learner.tagged, learner.seed = int(state["sleeps"]), int(state["tagged"]), int(state["seed"])
    learner.since_sleep[0], learner.floor[0] = int(state["since_sleep"]), float(state["floor"])
    learner.ema, learner.recon_sum = state["ema"].tolist(), state["recon.sum"].tolist()
    learner.expected = float(state.get("expected", np.zeros(())))
    learner.updates, learner.recon_count = state["updates"].tolist(), state["recon.count"].tolist()
    for name, parameter, optimizer, steps in _trained(learner):
        optimizer.state[parameter] = {
            "step": torch.tensor(float(steps)),
            "exp_avg": torch.tensor(state[f"adam.m.{name}"]).to(parameter),
            "exp_avg_sq": torch.tensor(state[f"adam.v.{name}"]).to(parameter),
        }
    _load_memories(learner, state)


def _load_memories(learner: "ReferenceSharp", state: Mapping[str, Array]) -> None:
    def tensor(array: Any) -> Tensor:
        return torch.tensor(array, dtype=learner.dtype, device=learner.device)

    for i, level in enumerate(learner.levels):
        learner.h[i] = tensor(state[f"hidden.{level}"])
        if level in trained_awake(learner.config):
            learner.carried[i] = tensor(state[f"carried.{level}"])
            rows = state[f"window.{level}"]
            tokens = rows.ndim == 1
            learner.windows[i] = [
                torch.tensor(int(row), device=learner.device) if tokens else tensor(row) for row in rows
            ]
    if learner.on_tick:
        learner.pending[1:] = [tensor(row) for row in state["credit.pending"]]
        learner.ticks[1:] = state["credit.ticks"].tolist()
    pairs = zip(state["tags.hidden"], state["tags.context"], strict=True)
    learner.tags = [(tensor(hidden), tensor(context)) for hidden, context in pairs]
