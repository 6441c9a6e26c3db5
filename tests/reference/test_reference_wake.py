"""The reference is the oracle, so what it does is tested against DESIGN section 3 itself."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from sharpstream.config import AdamConfig, SharpConfig
from sharpstream.reference.sharp import ReferenceSharp

torch.set_num_threads(1)


def parameters(learner: ReferenceSharp, prefix: str) -> dict[str, np.ndarray]:
    return {
        name: p.detach().numpy().copy() for name, p in learner.modules.named_parameters() if name.startswith(prefix)
    }


def changed(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> set[str]:
    return {".".join(name.split(".")[:2]) for name in before if not np.array_equal(before[name], after[name])}


BIG = SharpConfig(levels=5, width=512, embedding=100, depth=2)


@pytest.mark.parametrize(
    ("config", "vocabulary", "total", "active"),
    [
        (BIG, 27, 9_701_458, 5_086_914),
        (replace(BIG, conditioning="film-normed"), 27, 9_711_698, 5_097_154),
        (replace(BIG, conditioning="film-normed", decoder="recall"), 27, 10_526_883, 4_861_715),
        (SharpConfig(levels=3, width=100, embedding=30, depth=3, conditioning="film-normed"), 7, 241_184, None),
    ],
)
def test_parameter_counts_are_the_published_ones(config, vocabulary, total, active):
    learner = ReferenceSharp(config, vocabulary)
    assert learner.parameters() == total
    assert active is None or learner.parameters(active=True) == active


def test_a_wake_step_happens_in_the_order_of_the_design(small, tokens, monkeypatch):
    learner = ReferenceSharp(replace(small, tau=0.0), 7)
    learner.learn(tokens[:20])
    order = []
    for name in ("_score", "_credit", "_reconstruct", "_remember", "look_ahead", "_tag"):
        original = getattr(learner, name)
        monkeypatch.setattr(learner, name, lambda *a, _o=original, _n=name, **k: (order.append(_n), _o(*a, **k))[1])
    learner.observe(int(tokens[20]))
    assert order == ["_score", "_credit", "_reconstruct", "_remember", "look_ahead", "_tag"]


def test_the_score_is_the_prediction_made_before_the_token(small, tokens):
    learner = ReferenceSharp(small, 7)
    for token in tokens[:60]:
        predicted = learner.predict()[token]
        assert learner.observe(int(token)) == pytest.approx(-math.log2(predicted), rel=1e-12)


def test_memory_advances_with_the_weights_the_step_has_just_learned(small, tokens):
    learner = ReferenceSharp(replace(small, tau=0.0), 7)
    learner.learn(tokens[:50])
    before = learner.h[0].clone()
    learner.observe(int(tokens[50]))
    with torch.no_grad():
        expected = learner.m[0].encode(torch.tensor(int(tokens[50])), before)  # block 1 as it is after the update
    assert torch.equal(learner.h[0], expected)


def test_no_gradient_from_prediction_reaches_a_context_block(small, tokens):
    learner = ReferenceSharp(replace(small, tau=1e9), 7)  # the gate never opens, so only prediction could move them
    before = parameters(learner, "context.")
    learner.learn(tokens[:100])
    assert changed(before, parameters(learner, "context.")) == set()
    assert all(p.grad is None for block in learner.m for p in block.parameters())


def test_upper_context_blocks_never_change_while_awake(small, tokens):
    learner = ReferenceSharp(replace(small, tau=0.0), 7)
    before = parameters(learner, "context.")
    learner.learn(tokens[:100])
    assert changed(before, parameters(learner, "context.")) == {"context.1"}


def test_each_stage_of_sleep_changes_only_its_own_block(small, tokens, monkeypatch):
    from sharpstream.reference import sleep

    learner = ReferenceSharp(small, 7)
    learner.learn(tokens[:100])
    stages = []
    original = sleep.consolidate

    def watched(who, level, streams):
        before = parameters(who, "")
        report = original(who, level, streams)
        stages.append(changed(before, parameters(who, "")))
        return report

    monkeypatch.setattr(sleep, "consolidate", watched)
    assert learner.sleep() is not None
    assert stages == [{"context.2"}, {"context.3"}]


def test_levels_tick_at_powers_of_alpha(small, tokens):
    learner = ReferenceSharp(replace(small, alpha=3, levels=4), 7)
    ticks = {level: [] for level in learner.levels}
    for t, token in enumerate(tokens[:60], start=1):
        before = [h.clone() for h in learner.h]
        learner.observe(int(token))
        for level in learner.levels:
            if not torch.equal(before[level - 1], learner.h[level - 1]):
                ticks[level].append(t)
    assert ticks == {level: list(range(3 ** (level - 1), 61, 3 ** (level - 1))) for level in learner.levels}


def test_tags_are_exactly_the_gated_steps_with_the_states_of_that_step(small, tokens):
    learner = ReferenceSharp(replace(small, sleep=replace(small.sleep, trigger="never", tags=1000)), 7)
    expected = []
    for token in tokens[:150]:
        updates = learner.updates[0]
        learner.observe(int(token))
        if learner.updates[0] > updates:
            expected.append((learner.h[0].clone(), learner.made[1].detach().clone()))
    assert 0 < len(expected) == len(learner.tags)
    assert all(
        torch.equal(a, b)
        for pair, kept in zip(expected, learner.tags, strict=True)
        for a, b in zip(pair, kept, strict=True)
    )


def test_the_gate_closes_when_the_smoothed_error_falls_below_tau(small):
    learner = ReferenceSharp(replace(small, tau=0.3, adam=AdamConfig(lr=5e-3)), 7)
    learner.learn(np.arange(1_200) % 7)
    assert 0 < learner.updates[0] < 1_150
    assert learner.ema[0] <= 0.3


def test_probabilities_sum_to_one(small, tokens):
    learner = ReferenceSharp(small, 7)
    for token in tokens[:30]:
        assert learner.predict().sum() == pytest.approx(1.0, abs=1e-12)
        learner.observe(int(token))


def test_a_score_does_not_depend_on_its_own_token_or_later_ones(small, tokens):
    other = tokens.copy()
    other[300:] = (other[300:] + 3) % 7
    first, second = ReferenceSharp(small, 7), ReferenceSharp(small, 7)
    a, b = first.learn(tokens[:320]), second.learn(other[:320])
    assert np.array_equal(a[:300], b[:300])
    assert not np.array_equal(a[300:], b[300:])


def test_sleep_restores_states_and_clocks_and_reset_zeroes_them(small, tokens):
    for reset in (False, True):
        learner = ReferenceSharp(replace(small, sleep=replace(small.sleep, trigger="never", reset_on_sleep=reset)), 7)
        learner.learn(tokens[:101])
        hidden, clock = [h.clone() for h in learner.h], learner.clock
        assert learner.sleep() is not None
        if reset:
            assert learner.clock == 0
            assert all(not h.any() for h in learner.h)
        else:
            assert learner.clock == clock
            assert all(torch.equal(a, b) for a, b in zip(hidden, learner.h, strict=True))


def test_sleep_with_nothing_tagged_does_nothing(small):
    learner = ReferenceSharp(replace(small, tau=1e9), 7)
    learner.learn(np.arange(100) % 7)
    before = learner.state_dict()
    assert learner.sleep() is None
    after = learner.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before if name != "since_sleep")


def test_novelty_puts_the_learner_to_sleep_when_the_world_changes(small):
    sleep = replace(small.sleep, trigger="novelty", novelty_rest=300, novelty_ratio=2.0)
    learner = ReferenceSharp(replace(small, tau=0.05, adam=AdamConfig(lr=5e-3), sleep=sleep), 7)
    learner.learn(np.arange(700) % 7)
    calm = len(learner.sleep_reports)
    learner.learn(np.random.default_rng(0).integers(0, 7, 100))
    assert calm == 0
    assert len(learner.sleep_reports) >= 1


def test_replay_noise_reaches_the_inputs_and_not_the_targets(small, tokens):
    losses = {}
    for noise in (0.0, 3.0):
        learner = ReferenceSharp(replace(small, sleep=replace(small.sleep, trigger="never", replay_noise=noise)), 7)
        learner.learn(tokens[:100])
        losses[noise] = learner.sleep()["levels"]["2"]["loss"]
    assert losses[0.0] < losses[3.0] < losses[0.0] + 1.0  # noisy targets of variance 9 would cost far more
