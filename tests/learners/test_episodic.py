"""The episodic learner: normalised for every vocabulary, resumable to the bit, frozen without copies, safe to load."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.checks import CHECKS
from sharpstream.config import EpisodicConfig, RecurrentConfig, RunConfig, SharpConfig, SleepConfig
from sharpstream.config_checks import parse_bytes
from sharpstream.errors import ConfigError, RunError
from sharpstream.factory import make_learner
from sharpstream.learners.contract import State
from sharpstream.learners.episodic import Episodic
from sharpstream.learners.episodic_arrays import contexts_of
from sharpstream.memory.episodic_slots import TOTAL, WAYS
from sharpstream.pattern.episodic_mean import LATER, MEANS

SMALL = EpisodicConfig(memory="256kB", network=4)
CROWDED = replace(SMALL, memory="64kB")
SLEEPY = replace(SMALL, replay="uniform", replay_every=50, replays=20, replay_tags=40)
OPTIONS = {
    "replay of any": SLEEPY,
    "replay of the last": replace(SLEEPY, replay="recent"),
    "replay of surprises": replace(SLEEPY, replay="surprising", replay_into="mixers"),
    "twice awake": replace(SLEEPY, replay="again"),
    "slow level": replace(SMALL, slow=3),
    "no residual": replace(SMALL, residual=False),
    "means": replace(SMALL, mean_every=70),
    "the stale give way": replace(CROWDED, keeping="aged"),
    "newcomers by chance": replace(CROWDED, keeping="challenged"),
    "what parents say": replace(CROWDED, keeping="said"),
    "swept": replace(CROWDED, keeping="swept", sweep_every=100),
    "all of it": replace(SLEEPY, slow=2),
}
VOCABULARIES = [2, 3, 27, 60, 64, 65, 256, 257, 4_000, 65_536]


def stream(vocabulary: int, n: int, seed: int = 0) -> np.ndarray:
    """Phrases that come back between symbols that do not."""
    rng = np.random.default_rng([vocabulary, seed])
    phrases = [np.minimum(rng.zipf(1.3, rng.integers(3, 30)) - 1, vocabulary - 1) for _ in range(25)]
    parts = [phrases[i] if rng.random() < 0.7 else rng.integers(0, vocabulary, 4) for i in rng.integers(0, 25, n)]
    return np.concatenate(parts)[:n]


# ---- predictions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_probabilities_sum_to_one_whatever_the_vocabulary(vocabulary):
    learner = Episodic(SMALL, vocabulary)
    for chunk in np.split(stream(vocabulary, 1_000), 20):
        row = learner.predict()
        assert abs(row.sum() - 1.0) < 1e-6
        assert row.min() > 0.0
        bits = learner.learn(chunk)
        assert bits[0] == pytest.approx(-np.log2(row[chunk[0]]), rel=1e-6)


@pytest.mark.parametrize("vocabulary", [27, 256, 4_000])
def test_it_learns_phrases_that_come_back(vocabulary):
    bits = Episodic(SMALL, vocabulary).learn(stream(vocabulary, 6_000))
    assert bits[-1_000:].mean() < 0.8 * bits[:500].mean()


def test_the_residual_learns_what_the_others_get_wrong_and_keeps_the_sum_at_one():
    x = stream(27, 20_000)
    with_, without = (Episodic(replace(SMALL, residual=on), 27) for on in (True, False))
    assert with_.learn(x)[2_000:].mean() < without.learn(x)[2_000:].mean() - 0.002
    assert abs(with_.predict().sum() - 1.0) < 1e-6
    assert with_.pattern.residual_rows.any()
    assert not without.pattern.residual_rows.size


def test_a_repeat_is_recalled_verbatim():
    once = np.random.default_rng(1).integers(0, 27, 3_000)
    learner = Episodic(replace(SMALL, memory="4MB"), 27)
    learner.learn(once)
    assert learner.evaluate(once)[100:].mean() < 2.0  # of 4.75: nothing but the repeat predicts it


def test_more_memory_predicts_better_where_it_is_scarce():
    x = stream(27, 20_000)
    scarce, plenty = (Episodic(replace(SMALL, memory=size, network=0), 27).learn(x).mean() for size in ("64kB", "8MB"))
    assert plenty < scarce


@pytest.mark.parametrize("vocabulary", [27, 4_000])
def test_memory_stays_within_its_budget(vocabulary):
    for size in ("256kB", "1MB", "16MB"):
        learner = Episodic(replace(SMALL, memory=size), vocabulary)
        memory = learner.memory
        tail = memory.tail.contexts.nbytes + memory.tail.cells.nbytes
        bound = parse_bytes(size) or 0
        rows = learner.pattern.residual_rows.nbytes
        assert memory.slots.nbytes + memory.ring.nbytes + memory.places.nbytes + tail + rows <= bound + 27_000


@pytest.mark.parametrize("config", [SMALL, *OPTIONS.values()], ids=["small", *OPTIONS])
@pytest.mark.parametrize("vocabulary", [27, 300])
def test_a_frozen_pass_writes_nothing(config, vocabulary):
    learner = Episodic(config, vocabulary)
    learner.learn(stream(vocabulary, 2_000))
    arrays = [*learner.memory[:-1], *learner.memory.tail, *learner.pattern, *learner.cursor, *learner.tags]
    before = [array.tobytes() for array in arrays]
    learner.evaluate(stream(vocabulary, 500, seed=1))
    assert before == [array.tobytes() for array in arrays]


def test_correct_marks_the_most_probable_of_a_large_vocabulary():
    """Also where an escaped symbol, which no slot proposes, is the most probable."""
    tokens = np.random.default_rng(0).zipf(1.3, 3_000) % 1_000
    config = replace(SMALL, memory="1MB", accuracy=True)
    at_once, learner = Episodic(config, 1_000), Episodic(config, 1_000)
    at_once.learn(tokens)
    marks = []
    for token in tokens[:600]:
        p = learner.predict()
        marks.append(bool(p.argmax() == token))
        learner.learn(np.array([token]))
        assert bool(learner.correct[0]) == marks[-1]
    assert at_once.correct[:600].tolist() == marks
    assert any(marks)


def test_counts_behind_a_large_vocabulary_predict_what_slots_have_no_room_for():
    """Each of four symbols is followed by any of its own 500: a slot holds a few of them, the tail all."""
    rng = np.random.default_rng(5)
    leader = rng.integers(0, 4, 10_000)
    x = np.stack([leader, 4 + 500 * leader + rng.integers(0, 500, 10_000)], axis=1).reshape(-1)
    with_tail, without = (Episodic(replace(SMALL, memory="4MB", tail=order), 4_000).learn(x) for order in (1, 0))
    assert with_tail[10_001::2].mean() < without[10_001::2].mean() - 0.5


def test_a_frozen_pass_goes_on_from_the_present_past():
    learner = Episodic(SMALL, 27)
    x = stream(27, 2_000)
    learner.learn(x)
    assert learner.evaluate(x[:1])[0] == pytest.approx(-np.log2(learner.predict()[x[0]]), rel=1e-6)


def test_a_frozen_pass_reads_mixers_and_network_in_their_mean():
    x = stream(27, 2_000)
    averaged, plain = (Episodic(replace(SMALL, mean_every=every), 27) for every in (400, 0))
    assert averaged.learn(x).tolist() == plain.learn(x).tolist(), "awake the mean decides nothing"
    assert averaged.pattern.mean_looks[0] == 5
    assert averaged.predict().tolist() == plain.predict().tolist()
    for name in MEANS:  # put where the plain one reads: the same bits
        getattr(plain.pattern, name)[...] = getattr(averaged.pattern, f"mean_{name}")
    frozen = averaged.evaluate(x[:300])
    assert frozen.tolist() == plain.evaluate(x[:300]).tolist()
    again = Episodic(replace(SMALL, mean_every=0), 27)
    again.learn(x)
    assert frozen.tolist() != again.evaluate(x[:300]).tolist()


def test_a_mean_of_one_look_is_that_look_and_the_later_looks_weigh_more():
    x = stream(27, 1_000)
    learner = Episodic(replace(SMALL, mean_every=500), 27)
    learner.learn(x[:500])
    first = learner.pattern.weights.copy()
    np.testing.assert_allclose(learner.pattern.mean_weights, first, rtol=1e-6)
    learner.learn(x[500:])
    expected = first + (1 + LATER) / (2 + LATER) * (learner.pattern.weights - first)
    np.testing.assert_allclose(learner.pattern.mean_weights, expected, rtol=1e-5, atol=1e-7)


def test_contexts_are_named_once_and_parents_come_first():
    for vocabulary in (27, 256, 1_000):
        names = [context.name for context in contexts_of(SMALL, vocabulary)]
        assert len(set(names)) == len(names)
        for place, context in enumerate(contexts_of(SMALL, vocabulary)):
            assert not context.parent or names.index(context.parent) < place


# ---- state ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [SMALL, CROWDED, replace(SMALL, network=0, match=False), *OPTIONS.values()])
@pytest.mark.parametrize("vocabulary", [27, 300])
def test_resumes_bit_for_bit(config, vocabulary):
    x = stream(vocabulary, 4_000)
    learner, resumed = Episodic(config, vocabulary), Episodic(config, vocabulary, seed=9)
    learner.learn(x[:2_500])
    resumed.load_state_dict(learner.state_dict())
    np.testing.assert_array_equal(resumed.learn(x[2_500:]), learner.learn(x[2_500:]))
    for name, array in learner.state_dict().items():
        assert resumed.state_dict()[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("vocabulary", [27, 300])
def test_options_learn_token_by_token_as_in_chunks(option, vocabulary):
    x = stream(vocabulary, 700)
    whole, single = Episodic(OPTIONS[option], vocabulary), Episodic(OPTIONS[option], vocabulary)
    bits = whole.learn(x)
    assert np.array_equal(bits, [single.observe(int(token)) for token in x])
    without = Episodic(replace(SMALL, memory=OPTIONS[option].memory), vocabulary)
    same_awake = np.array_equal(bits, without.learn(x))
    assert not (same_awake and np.array_equal(whole.evaluate(x[:50]), without.evaluate(x[:50])))  # it does something


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("option", OPTIONS)
def test_options_keep_the_contract(option, check):
    check(lambda seed: Episodic(OPTIONS[option], 7, seed=seed), 0.0)


def test_a_state_without_options_holds_nothing_of_them():
    names = Episodic(SMALL, 27).state_dict()
    assert not [name for name in names if "slow" in name or name.startswith("tags.")]
    plain = Episodic(replace(SMALL, mean_every=0, residual=False), 27).state_dict()
    assert not [name for name in plain if "mean" in name or "residual" in name]


def test_a_slow_level_forgets_with_the_past():
    learner = Episodic(OPTIONS["slow level"], 27)
    learner.learn(stream(27, 1_000))
    assert np.abs(learner.cursor.slow_film).max() > 0.0
    learner.forget()
    assert not learner.cursor.slow_film.any()
    assert not learner.pattern.slow_pending.any()


def test_state_is_as_small_as_what_was_seen():
    learner = Episodic(EpisodicConfig(memory="64MB", network=0), 27)
    learner.learn(stream(27, 50))
    state = learner.state_dict()
    assert state["slots"].nbytes < 200_000
    assert state["ring"].nbytes == 50


def trained() -> Episodic:
    learner = Episodic(replace(CROWDED, memory="70kB"), 27)
    learner.learn(stream(27, 2_000))
    assert (learner.memory.buckets * WAYS).sum() % 8, "the marks' last byte has bits to spare"
    return learner


def put(name: str, index: object, value: float) -> Callable[[State], None]:
    def change(state: State) -> None:
        state[name][index] = value

    return change


HOSTILE = {
    "missing array": lambda state: state.pop("slots"),
    "unknown array": lambda state: state.update(more=np.zeros(1)),
    "an expert it does not have": lambda state: state.update({"expert.p": np.zeros(1)}),
    "wrong kind": lambda state: state.update(slots=state["slots"].astype(np.int64)),
    "fewer slots than marked": lambda state: state.update(slots=state["slots"][:-16].copy()),
    "slots marked beyond the last": put("slots.used", -1, 255),
    "a symbol outside the vocabulary": put("slots", slice(5, None, 16), 200 << 8 | 1),
    "a total that is not the sum": put("slots", TOTAL, 999),
    "a total of nothing": put("slots", TOTAL, 0),
    "ring shorter than the clock": lambda state: state.update(ring=state["ring"][:-1].copy()),
    "ring symbols outside the vocabulary": put("ring", 0, 27),
    "recent symbols outside the vocabulary": put("cursor.recent", 0, 27),
    "negative recent symbol": put("cursor.recent", 3, -1),
    "negative clock": put("cursor.clock", 0, -5),
    "more in the ring than was read": put("cursor.clock", 1, 10**9),
    "a match in the future": put("cursor.matches", (0, 0), 10**6),
    "a match of impossible length": put("cursor.matches", (0, 1), 10**6),
    "misses beyond eight bits": put("cursor.matches", (0, 2), 256),
    "a word longer than any": put("cursor.features", -1, 2**63),
    "weights not finite": put("pattern.weights", 0, np.nan),
    "weights beyond measure": put("pattern.weights", 0, 1e30),
    "squares of 0": put("pattern.states", 1, 0.0),
    "negative squares": put("pattern.squares", 0, -1.0),
    "counts that contradict their sum": put("pattern.sums", 0, 7.0),
    "a share above 1": put("pattern.parts", 0, 2.0),
    "a probability of 0": put("pattern.cells", 0, 0.0),
    "a row's sum of squares below 0": put("pattern.residual_rows", 31, -1.0),
    "a weight that is no number": put("pattern.residual_rows", 0, np.nan),
    "a state's squares of 0": put("pattern.residual_states", 1, 0.0),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_hostile_state_is_refused_and_changes_nothing(attack):
    learner = trained()
    state = learner.state_dict()
    HOSTILE[attack](state)
    before = learner.predict()
    with pytest.raises(RunError):
        learner.load_state_dict(state)
    np.testing.assert_array_equal(learner.predict(), before)
    assert np.isfinite(learner.learn(stream(27, 500))).all()


HOSTILE_TAGS = {
    "a tag without candidates": put("tags.whole", (0, 0), 0),
    "more candidates than there can be": put("tags.whole", (0, 0), 28),
    "a target that is none of them": put("tags.whole", (1, 1), 27),
    "a correction beyond the last": put("tags.whole", (2, 2), 10**6),
    "another candidate in its place": put("tags.whole", (0, 4), 200),
    "pairs beyond the last": put("tags.whole", (0, slice(30, 50)), 10**6),
    "rows beyond the last": put("tags.whole", (0, slice(-40, None)), 2**30),
    "numbers that are none": put("tags.real", (0, 0), np.nan),
    "fewer tags than were stored": lambda state: state.update({"tags.real": state["tags.real"][:-1].copy()}),
    "more stored than asked for": put("tags.counts", 1, 10**9),
    "tags of a negative mean": put("tags.mean", 0, -1.0),
    "an average that is no number": put("cursor.slow_averages", 0, np.nan),
    "a variance below 0": put("pattern.slow_usual", -1, -1.0),
    "tokens read before the first": put("cursor.slow_ticks", 0, -3),
}


@pytest.mark.parametrize("attack", HOSTILE_TAGS)
def test_hostile_tags_and_averages_are_refused(attack):
    learner = Episodic(OPTIONS["all of it"], 27)
    learner.learn(stream(27, 500))
    state = learner.state_dict()
    HOSTILE_TAGS[attack](state)
    before = learner.predict()
    with pytest.raises(RunError):
        learner.load_state_dict(state)
    np.testing.assert_array_equal(learner.predict(), before)


HOSTILE_TAILS = {
    "no tail": lambda state: [state.pop(name) for name in list(state) if name.startswith("tail.")],
    "a cell of nobody": put("tail.cells", (0, 1), 2**31),
    "a symbol outside the vocabulary": put("tail.cells", (0, 2), 300),
    "totals that are not sums": put("tail.contexts", (0, 3), 77),
    "places twice": put("tail.cells.place", 1, 0),
    "shares that do not sum to 1": put("pattern.parts", 0, 0.9),
    "seen lately less than never": put("pattern.lately", 0, -1.0),
    "a weight of nothing": put("pattern.sums", 3, 0.0),
    "a past longer than is kept": put("cursor.fill", 0, 33),
}


@pytest.mark.parametrize("attack", HOSTILE_TAILS)
def test_a_hostile_tail_is_refused_and_changes_nothing(attack):
    learner = Episodic(SMALL, 300)
    learner.learn(stream(300, 1_000))
    state = learner.state_dict()
    HOSTILE_TAILS[attack](state)
    before = learner.predict()
    with pytest.raises(RunError):
        learner.load_state_dict(state)
    np.testing.assert_array_equal(learner.predict(), before)


def test_no_slot_of_a_bucket_is_lost_in_a_round_trip():
    learner = trained()
    used = np.unpackbits(learner.state_dict()["slots.used"])
    memory = learner.memory
    total = sum(
        int((memory.slots[f : f + n * WAYS * w].reshape(-1, w)[:, TOTAL] > 0).sum())
        for f, n, w in zip(memory.first, memory.buckets, memory.width, strict=True)
    )
    assert used.sum() == total > 100


# ---- experts --------------------------------------------------------------------------------------------------------

RUN = RunConfig(
    learner="episodic",
    sharp=SharpConfig(levels=2, width=8, embedding=4, depth=2, sleep=SleepConfig(every=150, tags=4, replay_length=32)),
    recurrent=RecurrentConfig(layers=1, width=8, embedding=4),
)


@pytest.mark.parametrize("kind", ["sharp", "gru"])
def test_an_expert_is_part_of_the_learner(kind):
    config = RUN.replace(episodic=replace(SMALL, expert=kind, accuracy=True))
    x = stream(7, 500)
    whole, single, resumed = (make_learner(config, 7) for _ in range(3))
    bits = whole.learn(x[:300])
    assert np.array_equal(bits, [single.observe(int(token)) for token in x[:300]])
    p = whole.predict()
    assert abs(p.sum() - 1.0) < 1e-6
    before = {name: array.copy() for name, array in whole.state_dict().items()}
    frozen = whole.evaluate(x[300:400])
    assert frozen[0] == pytest.approx(-np.log2(p[x[300]]), rel=1e-4)
    assert all(np.array_equal(before[name], array) for name, array in whole.state_dict().items())
    resumed.load_state_dict(whole.state_dict())
    assert np.array_equal(resumed.learn(x[300:]), whole.learn(x[300:]))
    assert any(name.startswith("expert.") for name in before)


def test_an_expert_that_was_not_asked_for_is_refused():
    with pytest.raises(ConfigError, match="expert"):
        Episodic(replace(SMALL, expert="sharp"), 7)


# ---- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"memory": "plenty"},
        {"memory": "1kB"},
        {"memory": "9999GB"},
        {"orders": 0},
        {"network": -1},
        {"expert": "x"},
        {"slow": 9},
        {"replay": "dreams"},
        {"replays": 0},
        {"replay_step": -1.0},
        {"keeping": "x"},
        {"sweep_every": 0},
        {"tail": 9},
        {"mean_every": -1},
        {"mean_every": 10**30},
        {"mean_every": 0.5},
    ],
)
def test_bad_settings_are_refused_by_name(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        EpisodicConfig(**bad)


@pytest.mark.parametrize("vocabulary", [1, 65_537])
def test_vocabularies_it_cannot_hold_are_refused(vocabulary):
    with pytest.raises(ConfigError, match="vocabulary"):
        Episodic(SMALL, vocabulary)


@pytest.mark.parametrize(
    ("text", "size"), [("64kB", 65_536), ("1 GB", 2**30), ("12345", 12_345), ("1.5MiB", 1_572_864)]
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert parse_bytes(text) == size
