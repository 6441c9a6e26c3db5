"""The fused engine equals the reference in float64, over every option the design names."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sharpstream.config import AdamConfig, SharpConfig, SleepConfig
from sharpstream.experiments.recipes import pg19_subword
from sharpstream.learners.sharp import Sharp
from sharpstream.reference.exchange import from_reference, to_reference
from sharpstream.reference.sharp import ReferenceSharp

torch.set_num_threads(1)
STEPS = 2_000
BASE = SharpConfig(
    levels=3,
    width=12,
    embedding=5,
    depth=2,
    tau=0.5,
    dtype="float64",
    adam=AdamConfig(lr=1e-3),
    sleep=SleepConfig(every=950, tags=4, replay_length=70, tau=0.01),
)
NORMED = replace(BASE, conditioning="film-normed")
TICK = replace(BASE, credit="on-tick", gamma=0.4)
GRID = {
    "film, rnn": BASE,
    "film-normed, pre": NORMED,
    "recall": replace(BASE, decoder="recall"),
    "concat": replace(BASE, conditioning="concat", depth=3),
    "film-normed, between, depth 3": replace(NORMED, activation="between", depth=3),
    "film-normed, every": replace(NORMED, activation="every"),
    "film, between, depth 3": replace(BASE, activation="between", depth=3),
    "film, pre": replace(BASE, activation="pre"),
    "depth 1": replace(BASE, depth=1),
    "depth 4": replace(BASE, depth=4, activation="between", conditioning="concat"),
    "uniform cells": replace(BASE, cells="uniform"),
    "on-tick": TICK,
    "on-tick, film-normed": replace(TICK, conditioning="film-normed"),
    "on-tick, concat, depth 3": replace(TICK, conditioning="concat", depth=3),
    "on-tick, five levels, alpha 2": replace(TICK, levels=5, alpha=2, gamma=1.0),
    "on-tick, one level": replace(TICK, levels=1),
    "on-tick, alpha 1": replace(TICK, alpha=1, sleep=replace(BASE.sleep, replay_length=30)),
    "on-tick, reset by sleep": replace(TICK, sleep=replace(BASE.sleep, reset_on_sleep=True, every=949)),
    "on-tick, decay": replace(TICK, adam=AdamConfig(lr=1e-3, beta1=0.5, beta2=0.9, weight_decay=1e-4)),
    "on-tick, upper trained awake": replace(TICK, train_upper_awake=True, tau=0.01),
    "one level": replace(BASE, levels=1),
    "five levels, alpha 2, T 3": replace(BASE, levels=5, alpha=2, window=3),
    "alpha 1, T 2": replace(BASE, alpha=1, window=2, sleep=replace(BASE.sleep, replay_length=30)),
    "T 6, gamma 1": replace(BASE, window=6, alpha=3, gamma=1.0),
    "always gated, tau 0": replace(BASE, tau=0.0),
    "never gated": replace(BASE, tau=100.0),
    "betas and decay": replace(BASE, adam=AdamConfig(lr=1e-3, beta1=0.5, beta2=0.9, weight_decay=1e-4), gamma=0.7),
    "upper trained awake": replace(BASE, train_upper_awake=True, tau=0.01),
    "dead upper levels": replace(BASE, dead_upper_levels=True),
    "noise, reset, top 3": replace(BASE, sleep=replace(BASE.sleep, replay_noise=0.1, reset_on_sleep=True, top_k=3)),
    "novelty": replace(BASE, sleep=replace(BASE.sleep, trigger="novelty", novelty_rest=400, novelty_ratio=1.1)),
    "output without momentum": replace(BASE, output_adam="no-momentum"),
    "output factored": replace(BASE, output_adam="factored", depth=1),
    "output factored without momentum, concat": replace(
        BASE, output_adam="factored-no-momentum", conditioning="concat", adam=AdamConfig(lr=1e-3, weight_decay=1e-4)
    ),
    "the wake gate asleep": replace(BASE, sleep=replace(BASE.sleep, tau=None)),
}


def stream(vocabulary: int, length: int = STEPS) -> np.ndarray:
    rng = np.random.default_rng(5)
    cycle = np.arange(length) % min(vocabulary, 7)
    return np.where(rng.random(length) < 0.3, rng.integers(0, vocabulary, length), cycle)


def assert_same_state(fused: Sharp, reference: ReferenceSharp, relative: float = 1e-8) -> None:
    ours, theirs = fused.state_dict(), reference.state_dict()
    assert ours.keys() == theirs.keys()
    for name, mine in ours.items():
        scale = np.abs(theirs[name][np.isfinite(theirs[name])]).max(initial=1e-6)
        np.testing.assert_allclose(mine, theirs[name], rtol=relative, atol=relative * scale, err_msg=name)


@pytest.mark.parametrize("name", GRID)
def test_fused_equals_reference_after_2000_steps_and_two_sleeps(name):
    config = GRID[name]
    fused, reference = Sharp(config, 7, seed=3), ReferenceSharp(config, 7, seed=3)
    x = stream(7)
    np.testing.assert_allclose(fused.learn(x), reference.learn(x), rtol=1e-8, atol=1e-10)
    assert_same_state(fused, reference)
    expected = 0 if config.train_upper_awake or name == "never gated" else 2
    assert fused.sleeps >= expected if name == "novelty" else fused.sleeps == expected
    np.testing.assert_allclose(fused.evaluate(x[:200]), reference.evaluate(x[:200]), rtol=1e-8)


@pytest.mark.parametrize("decoder", ["rnn", "recall"])
def test_frozen_vectors_as_inputs(decoder):
    config = replace(BASE, input_size=6, decoder=decoder, tau=0.2)
    vectors = np.random.default_rng(0).normal(size=(11, 6))
    fused, reference = Sharp(config, 11, seed=3, vectors=vectors), ReferenceSharp(config, 11, seed=3, vectors=vectors)
    x = stream(11)
    np.testing.assert_allclose(fused.learn(x), reference.learn(x), rtol=1e-8, atol=1e-10)
    assert_same_state(fused, reference)
    assert fused.sleeps == 2


@pytest.mark.parametrize("output", ["full", "factored-no-momentum"])
def test_subwords_as_published_only_smaller(output):
    """Four levels, depth 4, `recall` on frozen vectors, γ 0.5, sampling from the top: the recipe's own settings."""
    published = pg19_subword().sharp
    sleep = replace(published.sleep, every=140, tags=3, replay_length=80, top_k=9)
    config = replace(
        published, width=6, embedding=4, input_size=5, tau=0.2, dtype="float64", sleep=sleep, output_adam=output
    )
    vectors = np.random.default_rng(0).normal(size=(400, 5))
    fused, reference = Sharp(config, 400, seed=3, vectors=vectors), ReferenceSharp(config, 400, seed=3, vectors=vectors)
    x = stream(400, 300)
    np.testing.assert_allclose(fused.learn(x), reference.learn(x), rtol=1e-8, atol=1e-10)
    assert_same_state(fused, reference)
    assert fused.sleeps == 2
    back, expected = from_reference(to_reference(fused)), fused.learn(x[:50])
    assert np.array_equal(back.learn(x[:50]), expected)


@pytest.mark.parametrize("vocabulary", [2, 300])
def test_small_and_large_vocabularies(vocabulary):
    config = replace(BASE, tau=0.1, sleep=replace(BASE.sleep, every=120, top_k=2 if vocabulary == 2 else 50))
    fused, reference = Sharp(config, vocabulary, seed=3), ReferenceSharp(config, vocabulary, seed=3)
    x = stream(vocabulary, 300)
    np.testing.assert_allclose(fused.learn(x), reference.learn(x), rtol=1e-8, atol=1e-10)
    assert_same_state(fused, reference)


def test_float32_bits_agree_to_a_thousandth():
    config = replace(BASE, dtype="float32")
    x = stream(7)
    fused, reference = Sharp(config, 7, seed=3).learn(x), ReferenceSharp(config, 7, seed=3).learn(x)
    assert np.abs(fused - reference).max() < 1e-3


def test_one_engine_goes_on_where_the_other_was():
    x = stream(7, 1_200)
    fused = Sharp(BASE, 7, seed=3)
    fused.learn(x[:600])
    reference = to_reference(fused)
    back = from_reference(reference)
    expected = fused.learn(x[600:])
    np.testing.assert_allclose(reference.learn(x[600:]), expected, rtol=1e-8)
    assert np.array_equal(back.learn(x[600:]), expected)


@pytest.mark.parametrize("credit", ["every-step", "on-tick"])
def test_both_engines_forget_alike(credit):
    config = replace(BASE, credit=credit)
    fused, reference = Sharp(config, 7), ReferenceSharp(config, 7)
    tokens = stream(7, 300)
    for part in (tokens[:130], tokens[130:]):
        np.testing.assert_allclose(fused.learn(part), reference.learn(part), rtol=1e-8)
        fused.forget()
        reference.forget()
        assert_same_state(fused, reference)
