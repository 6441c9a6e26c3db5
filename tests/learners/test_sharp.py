"""The fused learner under its contract: chunking, purity, resume, numerical safety."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sharpstream.config import AdamConfig, SharpConfig
from sharpstream.errors import ConfigError, NumericalError, RunError, StreamError
from sharpstream.learners.sharp import Sharp


def same(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_learn_in_any_chunking_equals_observe_bit_for_bit(small, tokens, dtype):
    config = replace(small, dtype=dtype)
    whole, single, chunks = (Sharp(config, 7, seed=1) for _ in range(3))
    bits = whole.learn(tokens[:600])
    assert np.array_equal(bits, [single.observe(int(token)) for token in tokens[:600]])
    cuts = [0, 1, 250, 251, 499, 600]
    parts = [chunks.learn(tokens[a:b]) for a, b in pairwise(cuts)]
    assert np.array_equal(bits, np.concatenate(parts))
    assert same(whole.state_dict(), single.state_dict())
    assert same(whole.state_dict(), chunks.state_dict())


@pytest.mark.parametrize("variant", [{}, {"train_upper_awake": True, "tau": 0.01}, {"decoder": "recall", "tau": 0.0}])
def test_a_state_taken_anywhere_continues_bit_for_bit(small, tokens, variant):
    config = replace(small, dtype="float32", **variant)
    steady = Sharp(config, 7, seed=1)
    for cut in (1, 3, 4, 77, 250, 251, 700):
        start = int(steady.mind.observed[0])
        steady.learn(tokens[start:cut])
        moved = Sharp(config, 7, seed=9)
        moved.load_state_dict(steady.state_dict())
        ahead = Sharp(config, 7, seed=1)
        ahead.learn(tokens[:cut])
        assert np.array_equal(moved.learn(tokens[cut : cut + 300]), ahead.learn(tokens[cut : cut + 300]))
        assert same(moved.state_dict(), ahead.state_dict())


def test_predict_and_evaluate_change_nothing(small, tokens):
    learner = Sharp(small, 7)
    learner.learn(tokens[:400])
    before = learner.state_dict()
    first = learner.evaluate(tokens[:300])
    assert learner.predict().sum() == pytest.approx(1.0)
    learner.evaluate_with_resets(tokens[:300], every=8)
    learner.hidden_states(tokens[:50], level=2)
    assert same(before, learner.state_dict())
    assert np.array_equal(first, learner.evaluate(tokens[:300]))
    twin = Sharp(small, 7)
    twin.learn(tokens[:400])
    assert np.array_equal(learner.learn(tokens[400:700]), twin.learn(tokens[400:700]))


def test_predict_is_what_observe_scores(small, tokens):
    learner = Sharp(small, 7)
    for token in tokens[:300]:
        p = learner.predict()[token]
        assert learner.observe(int(token)) == pytest.approx(-np.log2(p), rel=1e-9)


def test_a_score_does_not_depend_on_its_own_token_or_later_ones(small, tokens):
    other = tokens.copy()
    other[400:] = (other[400:] + 3) % 7
    a, b = Sharp(small, 7).learn(tokens[:500]), Sharp(small, 7).learn(other[:500])
    assert np.array_equal(a[:400], b[:400])
    assert not np.array_equal(a[400:], b[400:])


def test_forgetting_the_past_every_token_costs_bits(small):
    learner = Sharp(replace(small, adam=AdamConfig(lr=5e-3), dtype="float32"), 7)
    cycle = np.arange(3_000) % 7
    learner.learn(cycle)
    assert learner.evaluate(cycle[:700]).mean() + 0.3 < learner.evaluate_with_resets(cycle[:700], every=1).mean()


def test_same_seed_same_bytes_and_another_seed_another_run(small, tokens):
    a, b, c = (Sharp(small, 7, seed=seed) for seed in (1, 1, 2))
    for learner in (a, b, c):
        learner.learn(tokens[:600])
    assert same(a.state_dict(), b.state_dict())
    assert not same(a.state_dict(), c.state_dict())


def test_a_bad_token_is_refused_with_its_position_and_nothing_is_learned(small, tokens):
    learner = Sharp(small, 7)
    learner.learn(tokens[:100])
    before = learner.state_dict()
    bad = tokens[100:200].copy()
    bad[42] = 31
    with pytest.raises(StreamError, match=r"tokens\[142\] = 31, but the vocabulary has 7 symbols \(0\.\.6\)"):
        learner.learn(bad)
    with pytest.raises(StreamError, match=r"tokens\[100\] = -1"):
        learner.observe(-1)
    with pytest.raises(StreamError, match="integers"):
        learner.learn(np.array([0.5]))
    assert same(before, learner.state_dict())


def test_learning_that_leaves_the_finite_numbers_stops_with_the_position(small, tokens):
    learner = Sharp(replace(small, dtype="float32", adam=AdamConfig(lr=1e38)), 7)
    with pytest.raises(NumericalError, match=r"at token \d+"):
        learner.learn(tokens)


def test_a_weight_that_is_not_finite_is_noticed_at_the_next_token(small, tokens):
    for name in ("pattern.2.mlp.0.weight", "context.3.encoder.weight_hh", "context.1.readout.weight"):
        learner = Sharp(small, 7)
        learner.learn(tokens[:100])
        learner.layout.view(learner.model.p, name)[0, 0] = np.nan
        learner.desk.stale[0] = small.levels  # look ahead again, from the top
        with pytest.raises(NumericalError, match="at token 1"):
            learner.learn(tokens[100:140])


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("hidden.1"),
        lambda state: state.update(extra=np.zeros(1)),
        lambda state: state.update({"hidden.1": np.zeros(5)}),
        lambda state: state.update({"window.1": np.full(4, 99)}),
        lambda state: state.update({"window.1": np.zeros(9, dtype=np.int64)}),
        lambda state: state.update({"tags.hidden": np.zeros((3, 12))}),
        lambda state: state.update({"updates": np.zeros(3)}),
    ],
)
def test_a_state_that_is_not_this_learners_is_refused_and_changes_nothing(small, tokens, damage):
    learner = Sharp(small, 7)
    learner.learn(tokens[:100])
    before = learner.state_dict()
    state = learner.state_dict()
    damage(state)
    with pytest.raises(RunError):
        learner.load_state_dict(state)
    assert same(before, learner.state_dict())


def test_upper_blocks_change_only_asleep_and_pattern_blocks_only_awake(small, tokens):
    learner = Sharp(replace(small, sleep=replace(small.sleep, trigger="never")), 7)
    first = learner.state_dict()
    learner.learn(tokens[:200])
    awake = learner.state_dict()
    learner.sleep()
    asleep = learner.state_dict()

    def moved(a, b):
        return {
            ".".join(n.split(".")[:2])
            for n in a
            if n.startswith(("context", "pattern")) and not np.array_equal(a[n], b[n])
        }

    assert moved(first, awake) == {"context.1", "pattern.1", "pattern.2", "pattern.3"}
    assert moved(awake, asleep) == {"context.2", "context.3"}


def test_dense_inputs_need_vectors_of_the_right_shape():
    with pytest.raises(ConfigError, match=r"needs frozen vectors of shape \(5, 3\)"):
        Sharp(SharpConfig(width=8, embedding=4, input_size=3), 5)
    with pytest.raises(ConfigError, match="input_size = 0"):
        Sharp(SharpConfig(width=8, embedding=4), 5, vectors=np.zeros((5, 3)))
    with pytest.raises(ConfigError, match="at least 2 symbols"):
        Sharp(SharpConfig(), 1)


def test_parameter_counts_are_the_published_ones():
    big = SharpConfig(levels=5, width=512, embedding=100, depth=2)
    normed = replace(big, conditioning="film-normed")
    recall = replace(normed, decoder="recall")
    for config, total, active in (
        (big, 9_701_458, 5_086_914),
        (normed, 9_711_698, 5_097_154),
        (recall, 10_526_883, 4_861_715),
    ):
        learner = Sharp(config, 27)
        assert (learner.parameters(), learner.parameters(active=True)) == (total, active)
    assert Sharp(SharpConfig(conditioning="film-normed"), 7).parameters() == 241_184


def test_the_largest_vocabulary_learns_and_sleeps(small):
    config = replace(
        small,
        dtype="float32",
        width=8,
        tau=0.0,
        sleep=replace(small.sleep, every=20, tags=2, replay_length=20, top_k=50),
    )
    learner = Sharp(config, 50_257)
    bits = learner.learn(np.random.default_rng(0).integers(0, 50_257, 30))
    assert learner.sleeps == 1
    assert bits.mean() == pytest.approx(np.log2(50_257), abs=0.5)
    assert learner.predict().sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("states", "contexts", "draws"),
    [
        ((3, 12), (2, 12), (5, 3)),  # fewer contexts than tags
        ((3, 12), (3, 11), (5, 3)),
        ((3, 11), (3, 12), (5, 3)),
        ((3, 12), (3, 12), (5, 2)),  # fewer draws than tags
        ((3, 12), (3, 12), (5,)),
    ],
)
def test_replay_from_arrays_that_do_not_fit_is_refused_before_a_compiled_loop_reads_them(
    small, states, contexts, draws
):
    with pytest.raises(ConfigError, match="has the shape"):
        Sharp(small, 7).replayed_states(np.zeros(states), np.zeros(contexts), np.zeros(draws))


def test_reports_of_sleeps_that_nobody_reads_do_not_fill_the_memory(small):
    sleepy = replace(small, levels=2, tau=0.0, sleep=replace(small.sleep, every=5, tags=1, replay_length=16))
    learner = Sharp(sleepy, 7)
    learner.learn(np.arange(6_000) % 7)
    assert learner.sleeps > 1_100
    assert len(learner.sleep_reports) == 1_000
    assert learner.sleep_reports[-1]["tokens"] == 6_000, "the oldest are let go, not the newest"


def test_every_array_of_the_mind_reaches_the_state(small, tokens):
    """A field that somebody adds to the mind and forgets in the state would break resume without a word."""
    config = replace(small, tau=0.0, train_upper_awake=True, credit="on-tick", tag_by="prediction")
    vectors = np.random.default_rng(0).standard_normal((7, 3))
    reading = (Sharp(config, 7), Sharp(replace(config, input_size=3), 7, vectors=vectors))
    seen = set()
    for learner in reading:
        learner.learn(tokens[:300])
        before = learner.state_dict()
        for field, array in learner.mind._asdict().items():
            kept = array.copy()
            array[...] = np.where(np.isfinite(kept), kept - 1, 1.0)
            seen |= {field} if not same(before, learner.state_dict()) else set()
            array[...] = kept
    assert seen == set(learner.mind._fields)
