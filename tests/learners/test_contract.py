"""One suite over every learner: what `learners/contract.py` promises holds for each of them."""

import resource

import numpy as np
import pytest

from sharpstream.config import (
    AdamConfig,
    ClockworkConfig,
    CountsConfig,
    EpisodicConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    TransformerConfig,
)  # fmt: skip
from sharpstream.errors import RunError, StreamError
from sharpstream.factory import LEARNERS, make_learner
from sharpstream.learners.contract import Learner

V = 7
ADAM = AdamConfig(lr=3e-3)  # every neural learner the same
CONFIG = RunConfig(
    seed=3,
    sharp=SharpConfig(
        levels=2, width=8, embedding=4, depth=2, adam=ADAM, sleep=SleepConfig(every=300, tags=4, replay_length=32)
    ),
    recurrent=RecurrentConfig(layers=2, width=8, embedding=4, adam=ADAM),
    clockwork=ClockworkConfig(modules=3, width=4, embedding=4, adam=ADAM),
    transformer=TransformerConfig(layers=1, width=16, heads=2, d_ff=16, chunk=32, adam=ADAM),
    counts=CountsConfig(order=3, table_bits=10, accuracy=True),
    episodic=EpisodicConfig(memory="256kB", network=8, accuracy=True),
)
# A Transformer's matrix products round differently for one token than for many; everything else is exact.
ROUNDING = {"transformer": 1e-3}


@pytest.fixture(params=LEARNERS)
def name(request):
    return request.param


def make(name: str, seed: int = 3) -> Learner:
    return make_learner(CONFIG.replace(learner=name, seed=seed), V)


def stream(n: int = 900) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.where(rng.random(n) < 0.2, rng.integers(0, V, n), np.arange(n) % V)


def same(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key], equal_nan=a[key].dtype.kind == "f") for key in a)


def test_it_keeps_the_protocol(name):
    learner = make(name)
    assert isinstance(learner, Learner)
    assert learner.vocabulary == V
    assert 0 <= learner.parameters(active=True) <= learner.parameters()


def test_predict_is_a_distribution_changes_nothing_and_is_what_observe_scores(name):
    learner = make(name)
    for token in stream(150):
        before = learner.state_dict()
        p = learner.predict()
        assert p.shape == (V,)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1.0, abs=1e-6)
        assert same(before, learner.state_dict())
        assert learner.observe(int(token)) == pytest.approx(-np.log2(p[token]), rel=1e-4, abs=1e-5)


def test_learn_equals_observe_token_by_token(name):
    whole, single, halves = make(name), make(name), make(name)
    x = stream(400)
    bits = whole.learn(x)
    parts = np.concatenate([halves.learn(x[:333]), halves.learn(x[333:])])
    ones = np.array([single.observe(int(token)) for token in x])
    if name in ROUNDING:
        np.testing.assert_allclose(ones, bits, rtol=ROUNDING[name])
        np.testing.assert_allclose(parts, bits, rtol=ROUNDING[name])
    else:
        assert np.array_equal(ones, bits)
        assert np.array_equal(parts, bits)
        assert same(whole.state_dict(), single.state_dict())


def test_evaluate_changes_nothing_and_repeats(name):
    learner = make(name)
    learner.learn(stream(400))
    before = learner.state_dict()
    first = learner.evaluate(stream(200))
    assert first.shape == (200,)
    assert same(before, learner.state_dict())
    assert np.array_equal(first, learner.evaluate(stream(200)))
    assert np.all(np.isfinite(first))


def test_scores_are_causal_learning_and_frozen(name):
    x, y = stream(500), stream(500)
    y[300:] = (y[300:] + 3) % V
    a, b = make(name), make(name)
    first, second = a.learn(x), b.learn(y)
    if name in ROUNDING:
        np.testing.assert_allclose(first[:300], second[:300], rtol=ROUNDING[name])
    else:
        assert np.array_equal(first[:300], second[:300])
    assert name == "uniform" or not np.array_equal(first[300:], second[300:])
    frozen = make(name)
    frozen.learn(x)
    np.testing.assert_allclose(frozen.evaluate(x)[:300], frozen.evaluate(y)[:300], rtol=1e-6)


def test_a_state_moves_to_a_new_learner_and_goes_on_exactly(name):
    first, second = make(name), make(name, seed=8)
    x = stream()
    first.learn(x[:451])
    second.load_state_dict(first.state_dict())
    assert np.array_equal(first.learn(x[451:]), second.learn(x[451:]))
    assert same(first.state_dict(), second.state_dict())


def test_a_state_with_a_missing_or_misshapen_array_is_refused(name):
    learner = make(name)
    learner.learn(stream(100))
    state = learner.state_dict()
    for key in state:
        if name == "uniform":
            break
        broken = dict(state)
        del broken[key]
        with pytest.raises(RunError):
            learner.load_state_dict(broken)
    key = max(state, key=lambda k: state[k].size)
    with pytest.raises(RunError):
        learner.load_state_dict({**state, key: np.zeros((3, 3, 3, 3))})


def test_seeds_decide(name):
    a, b, c = make(name, 1), make(name, 1), make(name, 2)
    x = stream(300)
    first, again, other = a.learn(x), b.learn(x), c.learn(x)
    assert np.array_equal(first, again)
    deterministic = name in ("counts", "unigram", "uniform")
    assert np.array_equal(first, other) == deterministic


@pytest.mark.parametrize("bad", [-1, V, 10**9])
def test_a_bad_token_is_refused_with_its_position(name, bad):
    learner = make(name)
    learner.learn(stream(50))
    tokens = stream(20)
    tokens[7] = bad
    with pytest.raises(StreamError, match=rf"tokens\[57\] = {bad}"):
        learner.learn(tokens)
    with pytest.raises(StreamError, match=r"tokens\[7\]"):
        learner.evaluate(tokens)


def test_it_learns_what_can_be_learned(name):
    learner = make(name)
    bits = learner.learn(stream(6_000 if name == "transformer" else 3_000))
    floor = {"uniform": 0.0, "unigram": -0.02, "transformer": 0.05}.get(name, 0.15)
    assert bits[:200].mean() - bits[-500:].mean() >= floor - 1e-9


def test_memory_is_bounded(name):
    """The second half of a long stream takes no more memory than a small allowance over the first."""
    learner = make(name)
    n = 6_000 if name == "transformer" else 60_000
    x = stream(n)
    for chunk in np.split(x, 20):
        learner.learn(chunk)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = sum(array.nbytes for array in learner.state_dict().values())
    for chunk in np.split(x, 20):
        learner.learn(chunk)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 16_384  # kilobytes
    assert sum(array.nbytes for array in learner.state_dict().values()) <= size + 1_000_000
