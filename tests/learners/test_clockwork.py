"""The Clockwork RNN: its size, its ticks, its wiring, and equality with the PyTorch twin."""

import numpy as np
import pytest

from sharpstream.config import AdamConfig, ClockworkConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.clockwork import Clockwork
from sharpstream.learners.contract import Learner

FAST = AdamConfig(lr=3e-3, weight_decay=1e-4)
PROTOCOLS = [("original", "aligned"), ("original", "overlap"), ("reversed", "overlap")]


def make(*, seed: int = 0, **changes) -> Clockwork:
    settings = {"modules": 3, "width": 5, "embedding": 4, "dtype": "float64", "adam": FAST} | changes
    return Clockwork(ClockworkConfig(**settings), 5, seed=seed)


def random_tokens(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 5, count)


def test_the_size_is_the_published_one():
    learner = Clockwork(ClockworkConfig(modules=5, width=512, embedding=100), 27)
    assert learner.parameters() == 4_262_567
    assert learner.config.periods == (1, 2, 4, 8, 16)


def test_it_keeps_the_learner_contract():
    learner = make()
    assert isinstance(learner, Learner)
    assert learner.regime["wiring"] == "original"


def test_each_module_changes_only_when_its_period_divides_the_tokens_number():
    learner, tokens = make(), random_tokens(40)
    for level, period in enumerate(learner.config.periods, start=1):
        states = learner.hidden_states(tokens, level=level)
        before = np.concatenate([np.zeros((1, 5)), states[:-1]])
        changed = (states != before).any(axis=1)
        assert np.array_equal(np.flatnonzero(changed) + 1, np.arange(period, 41, period))


def test_the_clock_goes_on_between_calls():
    learner, tokens = make(adam=AdamConfig(lr=0.0)), random_tokens(43)
    whole = learner.hidden_states(tokens, level=3)
    learner.learn(tokens[:13])
    np.testing.assert_allclose(learner.hidden_states(tokens[13:], level=3), whole[13:], atol=1e-14)


@pytest.mark.parametrize(("wiring", "carry", "listener", "speaker"), [
    ("original", "aligned", 1, 3), ("reversed", "overlap", 3, 1),
])  # fmt: skip
def test_only_the_allowed_direction_is_wired(wiring, carry, listener, speaker):
    def states(level: int, disturbed: int = 0) -> np.ndarray:
        learner = make(wiring=wiring, carry=carry, window=1)
        state = learner.state_dict()
        if disturbed:
            state[f"module.{disturbed}.bias"] += 1.0
        learner.load_state_dict(state)
        return learner.hidden_states(random_tokens(30), level=level)

    assert not np.array_equal(states(listener, disturbed=speaker), states(listener))
    assert np.array_equal(states(speaker, disturbed=listener), states(speaker))


def test_reversed_wiring_belongs_to_the_published_protocol_only():
    with pytest.raises(ConfigError, match="wiring"):
        ClockworkConfig(wiring="reversed", carry="aligned")


@pytest.mark.parametrize(("wiring", "carry"), PROTOCOLS)
def test_fused_and_twin_agree_after_a_thousand_steps(wiring, carry):
    pytest.importorskip("torch")
    from sharpstream.reference.clockwork import ReferenceClockwork

    fused = make(wiring=wiring, carry=carry, modules=4)
    twin = ReferenceClockwork(fused.config, 5)
    tokens = np.where(np.arange(1010) % 3, np.arange(1010) % 5, random_tokens(1010))
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-8)
    ours, theirs = fused.state_dict(), twin.state_dict()
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        scale = max(float(np.abs(value).max(initial=0.0)), 1e-12)
        assert ours[name].shape == value.shape, name
        assert np.abs(ours[name] - value).max(initial=0.0) <= 1e-8 * scale, name
    ahead = random_tokens(40, seed=1)
    np.testing.assert_allclose(fused.evaluate(ahead), twin.evaluate(ahead), rtol=1e-8)
    np.testing.assert_allclose(fused.evaluate_with_resets(ahead, 6), twin.evaluate_with_resets(ahead, 6), rtol=1e-8)
    np.testing.assert_allclose(fused.hidden_states(ahead, 2), twin.hidden_states(ahead, 2), rtol=1e-8, atol=1e-12)


def test_float32_stays_close_to_the_twin():
    pytest.importorskip("torch")
    from sharpstream.reference.clockwork import ReferenceClockwork

    fused = make(dtype="float32", width=16, adam=AdamConfig(lr=1e-3))
    tokens = random_tokens(200)
    twin = ReferenceClockwork(fused.config, 5)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("wiring", "carry"), PROTOCOLS)
def test_chunks_and_saved_states_change_nothing(wiring, carry):
    tokens = random_tokens(100)
    whole, parts, resumed = (make(wiring=wiring, carry=carry, seed=seed) for seed in (0, 0, 1))
    bits = whole.learn(tokens)
    first = parts.learn(tokens[:37])
    resumed.load_state_dict(parts.state_dict())
    assert np.array_equal(bits, np.concatenate([first, parts.learn(tokens[37:])]))
    assert np.array_equal(bits[37:], resumed.learn(tokens[37:]))
    for other in (parts.state_dict(), resumed.state_dict()):
        assert all(np.array_equal(value, other[name]) for name, value in whole.state_dict().items())


def test_the_future_changes_nothing_before_it():
    tokens = random_tokens(60)
    other = tokens.copy()
    other[40:] = (other[40:] + 1) % 5
    a, b = make().learn(tokens), make().learn(other)
    assert np.array_equal(a[:40], b[:40])
    assert not np.array_equal(a[40:], b[40:])
