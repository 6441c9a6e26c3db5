"""Every kind of memory: equal in both engines, exactly resumed, and what its name says."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sharpstream.config import NEVER_LEARN, AdamConfig, SharpConfig, SleepConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.sharp import Sharp
from sharpstream.memory.kinds import KINDS, state_size
from sharpstream.memory.legendre_system import transition
from sharpstream.reference.exchange import from_reference, to_reference
from sharpstream.reference.sharp import ReferenceSharp

torch.set_num_threads(1)
BASE = SharpConfig(
    levels=3,
    width=12,
    embedding=5,
    depth=2,
    tau=0.5,
    dtype="float64",
    adam=AdamConfig(lr=1e-3),
    sleep=SleepConfig(every=290, tags=4, replay_length=70, tau=0.001),
)
LEARNING = tuple(kind for kind in KINDS if kind not in NEVER_LEARN)
GRID = {
    **{kind: replace(BASE, memory=kind) for kind in KINDS},
    **{f"{kind}, recall": replace(BASE, memory=kind, decoder="recall", window=3) for kind in LEARNING},
    **{f"{kind}, upper awake": replace(BASE, memory=kind, train_upper_awake=True, tau=0.001) for kind in LEARNING},
    **{f"{kind}, on-tick, rests": replace(BASE, memory=kind, credit="on-tick", tau=1.9) for kind in LEARNING},
    **{f"{kind}, rnn above": replace(BASE, memory=kind, upper_memory="rnn") for kind in NEVER_LEARN},
    "rnn, lstm above": replace(BASE, upper_memory="lstm"),
    "lstm, delay above": replace(BASE, memory="lstm", upper_memory="delay"),
    "rnn, tagged by prediction": replace(BASE, tag_by="prediction"),
    "lstm, noise and reset": replace(
        BASE, memory="lstm", sleep=replace(BASE.sleep, replay_noise=0.1, reset_on_sleep=True)
    ),
    "orthogonal, novelty": replace(
        BASE,
        memory="orthogonal",
        upper_memory="gru",
        sleep=replace(BASE.sleep, trigger="novelty", novelty_rest=20, novelty_ratio=1.05),
    ),
}


def stream(length: int, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(length) < 0.3, rng.integers(0, 7, length), np.arange(length) % 7)


def assert_alike(fused: Sharp, reference: ReferenceSharp) -> None:
    ours, theirs = fused.state_dict(), reference.state_dict()
    assert ours.keys() == theirs.keys()
    for name, mine in ours.items():
        scale = np.abs(theirs[name][np.isfinite(theirs[name])]).max(initial=1e-6)
        np.testing.assert_allclose(mine, theirs[name], rtol=1e-8, atol=1e-8 * scale, err_msg=name)


@pytest.mark.parametrize("name", GRID)
def test_both_engines_are_equal_awake_and_asleep(name: str) -> None:
    config, tokens = GRID[name], stream(600)
    fused, reference = Sharp(config, 7, seed=3), ReferenceSharp(config, 7, seed=3)
    np.testing.assert_allclose(fused.learn(tokens), reference.learn(tokens), rtol=1e-8, atol=1e-10)
    assert_alike(fused, reference)
    assert fused.parameters() == reference.parameters()
    assert fused.parameters(active=True) == reference.parameters(active=True)
    if config.learns_asleep:
        assert fused.sleeps >= (1 if config.sleep.trigger == "novelty" else 2)
        assert fused.sleep_reports[0]["levels"]["2"]["updates"] > 0
    else:
        assert fused.sleeps == 0
    np.testing.assert_allclose(fused.evaluate(tokens[:100]), reference.evaluate(tokens[:100]), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_frozen_vectors_reach_every_kind(kind: str) -> None:
    config, vectors = replace(BASE, memory=kind, input_size=6), np.random.default_rng(0).normal(size=(7, 6))
    fused, reference = (engine(config, 7, seed=3, vectors=vectors) for engine in (Sharp, ReferenceSharp))
    np.testing.assert_allclose(fused.learn(stream(320)), reference.learn(stream(320)), rtol=1e-8, atol=1e-10)
    assert_alike(fused, reference)


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_taken_anywhere_continues_bit_for_bit(kind: str) -> None:
    config, tokens = replace(BASE, memory=kind, dtype="float32", upper_memory="gru", tau=1.8), stream(700)
    for cut in (1, 4, 77, 290, 291):
        ahead, moved = Sharp(config, 7, seed=1), Sharp(config, 7, seed=9)
        ahead.learn(tokens[:cut])
        moved.load_state_dict(ahead.state_dict())
        assert np.array_equal(moved.learn(tokens[cut : cut + 320]), ahead.learn(tokens[cut : cut + 320]))
        mine, theirs = moved.state_dict(), ahead.state_dict()
        assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_one_engine_goes_on_where_the_other_was(kind: str) -> None:
    fused, tokens = Sharp(replace(BASE, memory=kind), 7, seed=3), stream(500)
    fused.learn(tokens[:300])
    reference = to_reference(fused)
    back, expected = from_reference(reference), fused.learn(tokens[300:])
    np.testing.assert_allclose(reference.learn(tokens[300:]), expected, rtol=1e-8)
    assert np.array_equal(back.learn(tokens[300:]), expected)


@pytest.mark.parametrize("kind", NEVER_LEARN)
def test_a_memory_that_never_learns_stays_as_it_began(kind: str) -> None:
    learner = Sharp(replace(BASE, memory=kind), 7, seed=3)
    before = learner.state_dict()
    learner.learn(stream(400))
    after = learner.state_dict()
    fixed = [name for name in before if name.startswith("context.")]
    assert fixed
    assert all(np.array_equal(before[name], after[name]) for name in fixed)
    assert not [name for name in after if name.startswith("adam.m.context.")], "Adam keeps nothing of it"
    assert not np.array_equal(before["pattern.1.mlp.0.weight"], after["pattern.1.mlp.0.weight"])


def test_orthogonal_is_the_rnn_before_it_learned() -> None:
    tokens = stream(50)
    fixed, trained = Sharp(replace(BASE, memory="orthogonal"), 7, seed=3), Sharp(BASE, 7, seed=3)
    np.testing.assert_array_equal(fixed.hidden_states(tokens, 2), trained.hidden_states(tokens, 2))


def test_a_delay_line_holds_the_last_inputs_exactly_and_no_more() -> None:
    learner, tokens = Sharp(replace(BASE, memory="delay", width=17), 7, seed=3), stream(30)
    table = learner.state_dict()["context.1.embed.weight"]
    states = learner.hidden_states(tokens)
    np.testing.assert_array_equal(states[-1], [*table[tokens[-1]], *table[tokens[-2]], *table[tokens[-3]], 0, 0])


def test_a_legendre_memory_gives_a_smooth_past_back() -> None:
    """Its coefficients, put on the Legendre polynomials of the window, are the signal that was heard."""
    orders, steps = 12, 200
    turn, enter = transition(orders)
    heard, state = np.sin(np.arange(steps) / 4.0), np.zeros(orders)
    for value in heard:
        state = turn @ state + enter * value
    delays = np.arange(1, orders - 1)  # in ticks; an input is held for one, so its middle lies half a tick on
    polynomials = np.polynomial.legendre.legvander(2.0 * (delays + 0.5) / orders - 1.0, orders - 1)
    recalled = polynomials @ state
    assert np.abs(recalled - heard[steps - 1 - delays]).max() < 0.1


def test_an_lstm_is_read_without_its_cells() -> None:
    learner = Sharp(replace(BASE, memory="lstm"), 7, seed=3)
    learner.learn(stream(100))
    assert state_size(learner.config, 1) == 24
    assert learner.state_dict()["hidden.1"].shape == learner.state_dict()["tags.hidden"].shape[1:] == (24,)
    assert learner.hidden_states(stream(5)).shape == (5, 12)


def test_the_unexpected_is_tagged_and_the_expected_is_not() -> None:
    config = replace(BASE, memory="orthogonal", adam=AdamConfig(lr=1e-2), tau=0.3)
    learner, cycle = Sharp(config, 7), np.arange(1_000) % 7
    learner.learn(cycle)
    before = int(learner.mind.tagged[0])
    learner.learn(cycle[1_000 % 7 : 1_000 % 7 + 200])
    assert int(learner.mind.tagged[0]) == before, "nothing new was seen"
    learner.learn(np.array([(200 + 1_000 % 7 + 3) % 7]))
    assert int(learner.mind.tagged[0]) == before + 1


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"memory": "delay", "embedding": 13}, "embedding = 13.*at most width = 12"),
        ({"memory": "orthogonal", "tag_by": "reconstruction"}, "tag_by.*reconstructs nothing"),
        ({"upper_memory": "legendre", "train_upper_awake": True}, "train_upper_awake.*never learn"),
        ({"memory": "gru", "dead_upper_levels": True}, "dead_upper_levels.*unless the upper memories are 'rnn'"),
        ({"memory": "tape"}, "memory = 'tape'.*one of 'rnn'"),
    ],
)
def test_memories_that_cannot_be_are_refused_by_name(settings: dict, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        replace(BASE, **settings)
