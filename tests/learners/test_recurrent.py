"""What the fused RNN, LSTM and GRU promise: sizes, order of events, chunks, frozen looks, states that continue."""

import numpy as np
import pytest

from sharpstream.config import AdamConfig, RecurrentConfig
from sharpstream.errors import ConfigError, NumericalError, RunError, StreamError
from sharpstream.learners.contract import Learner
from sharpstream.learners.recurrent import Recurrent

CELLS = ("rnn", "lstm", "gru")
FAST = AdamConfig(lr=3e-3)


def make(cell: str = "gru", *, seed: int = 0, **changes) -> Recurrent:
    settings = {"layers": 2, "width": 8, "embedding": 5, "adam": FAST} | changes
    return Recurrent(RecurrentConfig(cell=cell, **settings), 4, seed=seed)


def random_tokens(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, count)


def same(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(("cell", "count"), [("rnn", 2_432_167), ("lstm", 9_679_015), ("gru", 7_263_399)])
def test_sizes_are_the_published_ones(cell, count):
    learner = Recurrent(RecurrentConfig(cell=cell, layers=5, width=512, embedding=100), 27)
    assert learner.parameters() == learner.parameters(active=True) == count


def test_it_keeps_the_learner_contract():
    learner = make("lstm")
    assert isinstance(learner, Learner)
    assert (learner.name, learner.vocabulary, learner.regime["carry"]) == ("lstm", 4, "aligned")


@pytest.mark.parametrize("cell", CELLS)
def test_it_learns_a_cycle(cell):
    learner = make(cell)
    bits = learner.learn(np.arange(2000) % 4)
    assert bits[-100:].mean() < 0.1 < bits[:4].mean()
    assert learner.correct[-100:].all()


@pytest.mark.parametrize("carry", ["aligned", "overlap"])
@pytest.mark.parametrize("cell", CELLS)
def test_chunks_change_nothing(cell, carry):
    tokens = random_tokens(120)
    whole, parts, single = (make(cell, carry=carry) for _ in range(3))
    bits = whole.learn(tokens)
    chunked = np.concatenate([parts.learn(chunk) for chunk in np.split(tokens, [1, 3, 50, 51])])
    one_by_one = np.array([single.observe(int(token)) for token in tokens])
    assert np.array_equal(bits, chunked)
    assert np.array_equal(bits, one_by_one)
    assert same(whole.state_dict(), parts.state_dict())
    assert same(whole.state_dict(), single.state_dict())


@pytest.mark.parametrize("seen", [0, 2, 60])
@pytest.mark.parametrize("cell", CELLS)
def test_a_saved_state_continues_bit_for_bit(cell, seen):
    tokens = random_tokens(140)
    first, second = make(cell, carry="aligned"), make(cell, seed=9)
    first.learn(tokens[:seen])
    second.load_state_dict(first.state_dict())
    assert np.array_equal(first.predict(), second.predict())
    assert np.array_equal(first.learn(tokens[seen:]), second.learn(tokens[seen:]))
    assert same(first.state_dict(), second.state_dict())


@pytest.mark.parametrize("carry", ["aligned", "overlap"])
def test_looking_on_changes_nothing(carry):
    learner, untouched = make(carry=carry), make(carry=carry)
    tokens = random_tokens(60)
    learner.learn(tokens), untouched.learn(tokens)
    before = learner.state_dict()
    learner.predict()
    assert np.array_equal(learner.evaluate(tokens), learner.evaluate(tokens))
    learner.evaluate_with_resets(tokens, 5)
    learner.hidden_states(tokens, level=2)
    assert same(before, learner.state_dict())
    assert np.array_equal(learner.learn(tokens), untouched.learn(tokens))


def test_bits_are_those_of_the_prediction_made_before():
    learner = make("lstm", dtype="float64")
    for token in random_tokens(30):
        p = learner.predict()
        assert p.sum() == pytest.approx(1.0)
        assert learner.observe(int(token)) == pytest.approx(-np.log2(p[token]), abs=1e-12)


@pytest.mark.parametrize("carry", ["aligned", "overlap"])
def test_the_future_changes_nothing_before_it(carry):
    tokens = random_tokens(80)
    other = tokens.copy()
    other[50:] = (other[50:] + 1) % 4
    for act in ("learn", "evaluate"):
        a, b = (getattr(make(carry=carry), act)(stream) for stream in (tokens, other))
        assert np.array_equal(a[:50], b[:50])
        assert not np.array_equal(a[50:], b[50:])


def test_nothing_is_learnt_before_the_window_is_full():
    learner = make(window=4)
    start = learner.state_dict()
    learner.learn(random_tokens(4))
    assert np.array_equal(learner.state_dict()["cell.1.weight_hh"], start["cell.1.weight_hh"])
    assert int(learner.state_dict()["updates"]) == 0
    learner.learn(random_tokens(1))
    assert int(learner.state_dict()["updates"]) == 1
    assert not np.array_equal(learner.state_dict()["cell.1.weight_hh"], start["cell.1.weight_hh"])


def test_aligned_reads_each_token_once_and_overlap_reads_it_t_times():
    aligned, overlap = make(carry="aligned"), make(carry="overlap")
    for learner in (aligned, overlap):
        learner.learn(random_tokens(20))  # 4 to fill the window, then 16 windows
    assert int(aligned.state_dict()["clock"]) == 16
    assert int(overlap.state_dict()["clock"]) == 16 * 4


def test_with_frozen_weights_the_learning_path_scores_as_evaluation_does():
    frozen = make("lstm", dtype="float64", adam=AdamConfig(lr=0.0))
    tokens = random_tokens(50)
    np.testing.assert_allclose(frozen.evaluate(tokens), frozen.learn(tokens), rtol=1e-12)


def test_a_reset_forgets_everything_before_it():
    learner, fresh = make(), make()
    learner.learn(random_tokens(50))
    weights = {name: value for name, value in learner.state_dict().items() if "." in name}
    fresh.load_state_dict(fresh.state_dict() | weights)  # the same weights, nothing seen
    tokens = random_tokens(12, seed=3)
    resets = learner.evaluate_with_resets(tokens, 6)
    np.testing.assert_array_equal(resets[:6], fresh.evaluate(tokens[:6]))
    np.testing.assert_array_equal(resets[6:], fresh.evaluate(tokens[6:]))


def test_a_loss_that_is_not_finite_names_the_token():
    learner = make()
    learner.learn(random_tokens(10))
    state = learner.state_dict()
    state["read.bias"] = np.full_like(state["read.bias"], np.nan)
    learner.load_state_dict(state)
    with pytest.raises(NumericalError, match="token 10"):
        learner.learn(random_tokens(5))


def test_bad_input_is_refused_by_name():
    learner = make()
    learner.learn(random_tokens(3))
    with pytest.raises(StreamError, match=r"tokens\[4\] = 4"):
        learner.learn(np.array([0, 4]))
    with pytest.raises(ConfigError, match=r"levels 1\.\.2"):
        learner.hidden_states(random_tokens(3), level=3)
    with pytest.raises(ConfigError, match="vectors"):
        Recurrent(RecurrentConfig(input_size=3), 4)
    with pytest.raises(ConfigError, match="cell"):
        RecurrentConfig(cell="qrnn")


def test_a_state_of_another_learner_is_refused():
    learner = make("gru")
    with pytest.raises(RunError, match="carried_memory"):
        learner.load_state_dict(make("lstm").state_dict())
    with pytest.raises(RunError, match="weight_ih"):
        learner.load_state_dict(make("rnn").state_dict())
    good = learner.state_dict()
    with pytest.raises(RunError, match="window"):
        learner.load_state_dict(good | {"window": np.zeros(9, dtype=np.int64)})
    with pytest.raises(RunError, match="outside the vocabulary"):
        learner.load_state_dict(good | {"window": np.array([7])})
    assert same(good, learner.state_dict())


def test_every_array_of_the_mind_reaches_the_state():
    """A field that somebody adds to the mind and forgets in the state would break resume without a word."""
    learner = Recurrent(RecurrentConfig(cell="lstm", layers=2, width=6, embedding=4), 5)
    learner.learn(np.arange(60) % 5)
    before, seen = learner.state_dict(), set()
    for field, array in learner.mind._asdict().items():
        kept = array.copy()
        array[...] = kept - 1
        after = learner.state_dict()
        if before.keys() != after.keys() or any(not np.array_equal(before[name], after[name]) for name in before):
            seen.add(field)
        array[...] = kept
    assert seen == set(learner.mind._fields)
