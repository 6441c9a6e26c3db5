"""The sleep phase of Algorithm 1 in PyTorch: replay every tag, then train the upper context blocks one by one."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sharpstream.memory.context_block import KEEP
from sharpstream.sleep.draws import replay_draws, window_noise, windows_per_tag

if TYPE_CHECKING:
    from sharpstream.reference.sharp import ReferenceSharp


def sleep(learner: "ReferenceSharp") -> Mapping[str, Any] | None:
    """Replay and consolidate; hidden states and clocks are untouched unless `reset_on_sleep` zeroes them."""
    began = time.perf_counter()
    learner.since_sleep[0], learner.floor[0] = 0, np.inf
    if not learner.tags or not learner.config.learns_asleep:
        return None
    config, tags = learner.config, len(learner.tags)
    tokens = generate(learner)  # (tags, R)
    levels = {str(level): consolidate(learner, level, tokens) for level in range(2, config.levels + 1)}
    learner.tags.clear()
    learner.sleeps += 1
    if config.sleep.reset_on_sleep:
        learner.zero_states()
    learner.look_ahead()
    report = {
        "tokens": learner.observed,
        "tags": tags,
        "replayed": tags * config.sleep.replay_length,
        "levels": levels,
        "seconds": time.perf_counter() - began,
    }
    learner.sleep_reports.append(report)
    return report


@torch.no_grad()
def generate(learner: "ReferenceSharp") -> Tensor:
    """Token streams that start from each tag's h¹ with its c² held fixed, all tags as one batch, (tags, R)."""
    config, m, f = learner.config, learner.m[0], learner.f[0]
    h = torch.stack([tag[0] for tag in learner.tags])  # (tags, S)
    c2 = torch.stack([tag[1] for tag in learner.tags]) if config.levels > 1 else None
    draws = replay_draws(learner.seed, learner.sleeps, config.sleep.replay_length, len(learner.tags))
    tokens = []
    for step in draws:
        p = torch.softmax(f(m.output(h), c2).double(), -1)  # (tags, V)
        chosen = sample(p, torch.tensor(step, device=p.device), config.sleep.top_k)
        h = m.encode(chosen if learner.vectors is None else learner.vectors[chosen], h)
        tokens.append(chosen)
    return torch.stack(tokens, dim=1)


def sample(p: Tensor, uniform: Tensor, top_k: int) -> Tensor:
    """One token per row by inverting the cumulative distribution of p, (tags, V), at uniform, (tags,)."""
    if 0 < top_k < p.shape[-1]:
        kth = p.topk(top_k, dim=-1).values[:, -1:]
        p = torch.where(p >= kth, p, 0.0)
    cumulative = p.cumsum(-1)
    thresholds = uniform[:, None] * cumulative[:, -1:]
    return (cumulative <= thresholds).sum(-1).clamp(max=p.shape[-1] - 1)


def consolidate(learner: "ReferenceSharp", level: int, tokens: Tensor) -> Mapping[str, Any]:
    """Train block k on the replayed states of level k−1, everything else frozen; fresh Adam, error smoothed from 0."""
    config, block = learner.config, learner.m[level - 1]
    optimizer = learner.adam([{"params": list(block.parameters()), "lr": config.adam.lr}])
    ema, total, windows, updates = 0.0, 0.0, 0, 0
    for tag, stream in enumerate(tokens):
        carried = learner.zeros(block.state_size)
        states = replay_states(learner, level - 1, stream)
        expected = windows_per_tag(len(stream), config.acceleration, level, config.window)
        noise = None
        if config.sleep.replay_noise and expected:
            draws = window_noise(learner.seed, learner.sleeps, level, tag, expected, config.window, states.shape[-1])
            noise = config.sleep.replay_noise * torch.tensor(draws, dtype=learner.dtype, device=learner.device)
        for i, clean in enumerate(states.unfold(0, config.window, 1).transpose(1, 2) if expected else ()):  # (T, H)
            noisy = clean if noise is None else clean + noise[i]
            loss, carried = block.reconstruct(noisy, carried, clean)
            ema = KEEP * ema + (1 - KEEP) * loss.item()
            total += loss.item()
            windows += 1
            if ema > config.sleep_tau:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                updates += 1
    return {"windows": windows, "updates": updates, "loss": total / windows if windows else None}


@torch.no_grad()
def replay_states(learner: "ReferenceSharp", level: int, stream: Tensor) -> Tensor:
    """Level ℓ's state every α^ℓ steps of one replayed stream, all levels starting from zero, (pushes, H)."""
    config = learner.config
    h = [learner.zeros(m.state_size) for m in learner.m[:level]]
    pushed = []
    for step, token in enumerate(stream.tolist(), start=1):
        x = learner.input_of(token)
        for below in range(level):
            if step % config.acceleration**below:
                break
            x = x if below == 0 else learner.m[below - 1].output(h[below - 1])
            h[below] = learner.m[below].encode(x, h[below])
        if step % config.acceleration**level == 0:
            pushed.append(learner.m[level - 1].output(h[level - 1]))
    return torch.stack(pushed) if pushed else learner.zeros(0).reshape(0, config.width)
