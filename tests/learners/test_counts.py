"""The count model: by hand, by a slow exact twin, under the contract, with tables too small for what they see."""

import os
from collections import Counter, defaultdict

import numpy as np
import pytest

from sharpstream.config import CountsConfig, StreamConfig
from sharpstream.errors import ConfigError, StreamError
from sharpstream.learners.contract import Learner
from sharpstream.learners.counts import Counts
from sharpstream.learners.counts_state import unsound
from sharpstream.learners.counts_tables import EVICTED
from sharpstream.streams import open_stream

REAL_DATA = os.environ.get("SHARP_DATA", "")
SMALL = {"table_bits": 14}
ARMS = {
    "uniform": CountsConfig(order=-1),
    "unigram": CountsConfig(order=0),
    "fixed": CountsConfig(order=3, discount=0.6, lower_orders="all", **SMALL),
    "learned": CountsConfig(order=3, **SMALL),
    "order 8": CountsConfig(order=8, accuracy=True, **SMALL),
    "crowded": CountsConfig(order=5, table_bits=6),
}


def text(length: int, vocabulary: int = 5, seed: int = 0) -> np.ndarray:
    """A stream with structure: a token often repeats the one three back."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, vocabulary, length)
    for t in range(3, length):
        if rng.random() < 0.7:
            tokens[t] = (tokens[t - 3] + tokens[t - 1]) % vocabulary
    return tokens


def twin_bits(tokens: np.ndarray, vocabulary: int, order: int, discount: float, novel: bool) -> np.ndarray:
    """Interpolated absolute discounting with dictionaries, written from the formula."""
    seen: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    bits = []
    for t, symbol in enumerate(tokens.tolist()):
        contexts = [tuple(tokens[t - o : t].tolist()) for o in range(min(order, t) + 1)]
        p = 1.0 / vocabulary
        for context in contexts:
            counts = seen[context]
            if counts:
                n = counts.total()
                p = (max(counts[symbol] - discount, 0.0) + discount * len(+counts) * p) / n
        bits.append(-np.log2(p))
        for context in reversed(contexts):
            seen[context][symbol] += 1
            if novel and seen[context][symbol] > 1:
                break
    return np.array(bits)


def test_unigram_by_hand() -> None:
    learner = Counts(CountsConfig(order=0, discount=0.5), vocabulary=2)
    # 1/2; then one 0 seen: (1 - .5 + .5·½)/1 = 3/4 for 0, 1/4 for 1; then 0,1 seen: (.5 + 2·.5·½)/2 = 1/2
    np.testing.assert_allclose(2.0 ** -learner.learn(np.array([0, 1, 1])), [0.5, 0.25, 0.5])
    # 0 once, 1 twice: ((1-.5) + 1·½)/3 = 1/3
    np.testing.assert_allclose(learner.predict(), [1 / 3, 2 / 3])


def test_first_order_by_hand() -> None:
    learner = Counts(CountsConfig(order=1, discount=0.5, lower_orders="all", **SMALL), vocabulary=2)
    learner.learn(np.array([0, 0, 1, 0]))
    # Order 0: 0 ×3, 1 ×1 → P(0) = (2.5 + 1·½)/4 = 3/4. After 0: 0 ×1, 1 ×1 → P(0|0) = (.5 + 1·¾)/2 = 5/8.
    np.testing.assert_allclose(learner.predict(), [5 / 8, 3 / 8])


def test_lower_orders_count_only_what_was_new_above_by_hand() -> None:
    learner = Counts(CountsConfig(order=1, discount=0.5, lower_orders="novel", **SMALL), vocabulary=2)
    learner.learn(np.array([0, 0, 0, 0, 1]))
    # Order 0 counts 0 twice (at the start, and new after 0), 1 once → P(0) = (1.5 + 1·½)/3 = 2/3; 1 has no followers.
    np.testing.assert_allclose(learner.predict(), [2 / 3, 1 / 3])


@pytest.mark.parametrize("novel", [False, True])
@pytest.mark.parametrize(("order", "vocabulary"), [(0, 3), (1, 2), (3, 5), (5, 27), (8, 4), (2, 50_257)])
def test_equals_the_dictionary_twin(order: int, vocabulary: int, novel: bool) -> None:
    tokens = text(1500, vocabulary)
    lower = "novel" if novel else "all"
    learner = Counts(CountsConfig(order=order, discount=0.7, lower_orders=lower, table_bits=18), vocabulary)
    bits = learner.learn(tokens)
    assert learner.tables.counters[EVICTED] == 0
    np.testing.assert_allclose(bits, twin_bits(tokens, vocabulary, order, 0.7, novel), rtol=1e-9)


def test_uniform_is_log2_v() -> None:
    np.testing.assert_allclose(Counts(CountsConfig(order=-1), 27).learn(text(9, 27)), np.log2(27))


@pytest.mark.parametrize("arm", ARMS)
def test_prediction_sums_to_one_and_is_what_observe_scores(arm: str) -> None:
    learner = Counts(ARMS[arm], 5)
    assert isinstance(learner, Learner)
    for token in text(400):
        p = learner.predict()
        assert abs(p.sum() - 1.0) < 1e-12
        assert abs(-np.log2(p[token]) - learner.observe(int(token))) < 1e-9
    assert unsound(learner.tables) == 0


@pytest.mark.parametrize("arm", ARMS)
def test_chunking_changes_nothing_bit_for_bit(arm: str) -> None:
    tokens = text(2000)
    whole, parts = Counts(ARMS[arm], 5), Counts(ARMS[arm], 5)
    expected = whole.learn(tokens)
    pieces = [parts.learn(piece) for piece in np.split(tokens, [1, 2, 700, 700, 1999])]
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
    for name, array in whole.state_dict().items():
        np.testing.assert_array_equal(parts.state_dict()[name], array, err_msg=name)


@pytest.mark.parametrize("arm", ARMS)
def test_evaluate_and_predict_change_nothing(arm: str) -> None:
    learner = Counts(ARMS[arm], 5)
    learner.learn(text(1000))
    before = learner.state_dict()
    first = learner.evaluate(text(300, seed=1))
    learner.predict()
    np.testing.assert_array_equal(learner.evaluate(text(300, seed=1)), first)
    for name, array in learner.state_dict().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def test_evaluate_continues_from_the_present_history() -> None:
    learner = Counts(ARMS["fixed"], 5)
    learner.learn(text(1000))
    np.testing.assert_allclose(learner.evaluate(np.array([2]))[0], -np.log2(learner.predict()[2]), rtol=1e-12)


def test_bits_do_not_depend_on_the_future() -> None:
    tokens, other = text(500), text(500)
    other[300:] = (other[300:] + 1) % 5
    np.testing.assert_array_equal(
        Counts(ARMS["learned"], 5).learn(tokens)[:300], Counts(ARMS["learned"], 5).learn(other)[:300]
    )
    learner = Counts(ARMS["learned"], 5)
    learner.learn(text(500, seed=2))
    np.testing.assert_array_equal(learner.evaluate(tokens)[:300], learner.evaluate(other)[:300])


def test_resets_forget_the_history_and_not_the_counts() -> None:
    learner = Counts(ARMS["fixed"], 5)
    learner.learn(text(3000))
    tokens = text(200, seed=1)
    every_token = learner.evaluate_with_resets(tokens, 1)
    for symbol in range(5):  # with no history at all, a token's bits depend on the token alone
        assert np.ptp(every_token[tokens == symbol]) == 0.0
    np.testing.assert_array_equal(learner.evaluate_with_resets(tokens, 50)[60:100], learner.evaluate(tokens)[60:100])
    assert every_token.mean() > learner.evaluate(tokens).mean() + 0.2


def test_a_crowded_table_forgets_but_stays_a_distribution_of_bounded_size() -> None:
    learner = Counts(CountsConfig(order=6, table_bits=5), 40)
    size = sum(array.nbytes for array in learner.tables)
    for chunk in np.split(text(20_000, 40), 10):
        learner.learn(chunk)
        assert abs(learner.predict().sum() - 1.0) < 1e-12
        assert unsound(learner.tables) == 0
    assert learner.tables.counters[EVICTED] > 10_000
    assert sum(array.nbytes for array in learner.tables) == size
    assert 0 < learner.parameters() <= 2**5 + 40


def test_learned_discounts_beat_fixed_ones() -> None:
    tokens = text(30_000, 8)
    learned = Counts(CountsConfig(order=4, table_bits=16), 8).learn(tokens).mean()
    assert learned < Counts(CountsConfig(order=4, discount=0.75, table_bits=16), 8).learn(tokens).mean()


def test_correct_marks_the_most_probable_symbol() -> None:
    learner = Counts(CountsConfig(order=2, accuracy=True, **SMALL), 3)
    learner.learn(np.array([0, 1, 2] * 50))
    assert learner.correct[-50:].all()
    learner.evaluate(np.array([0, 2, 2]))
    assert learner.correct.tolist()[:2] == [True, False]
    quiet = Counts(CountsConfig(order=2, **SMALL), 3)
    quiet.learn(np.array([0, 1, 2]))
    assert quiet.correct.size == 0


def test_parameters_are_the_counts_in_use() -> None:
    learner = Counts(CountsConfig(order=1, lower_orders="all", **SMALL), 4)
    assert learner.parameters() == 0
    learner.learn(np.array([0, 1, 0, 1, 2]))  # unigram 0, 1, 2; pairs 01, 10, 12
    assert learner.parameters() == learner.parameters(active=True) == 6


@pytest.mark.parametrize("bad", [[0, 5], [-1], [[0]], [0.5]])
def test_bad_tokens_are_rejected_and_nothing_learned(bad: list[object]) -> None:
    learner = Counts(ARMS["fixed"], 5)
    for method in (learner.learn, learner.evaluate):
        with pytest.raises(StreamError):
            method(np.array(bad))
    assert learner.parameters() == 0


def test_no_tokens_are_no_bits() -> None:
    assert Counts(ARMS["fixed"], 5).learn(np.zeros(0, dtype=np.int64)).size == 0


@pytest.mark.parametrize(
    "bad", [{"order": 9}, {"order": -2}, {"order": True}, {"table_bits": 3}, {"discount": 1.0}, {"discount": 0.0},
            {"discount": float("nan")}, {"lower_orders": "some"}],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        CountsConfig(**bad)  # type: ignore[arg-type]


def test_one_symbol_is_no_vocabulary() -> None:
    with pytest.raises(ConfigError, match="at least 2"):
        Counts(CountsConfig(), 1)


@pytest.mark.data
def test_order_five_on_text8_is_better_than_plain_absolute_discounting() -> None:
    if not REAL_DATA:
        return
    tokens = open_stream(StreamConfig(name="text8", end=10_000_000), seed=0).take(10_000_000)
    assert Counts(CountsConfig(order=5), 27).learn(tokens).mean() < 1.81


@pytest.mark.parametrize("table_bits", [18, 7])  # 7: contexts and cells have to leave
def test_listed_cells_give_the_same_distribution_as_looking_up_every_symbol(table_bits: int) -> None:
    tokens = text(4_000, vocabulary=40)
    listed = Counts(CountsConfig(order=3, accuracy=True, table_bits=table_bits), 40)
    looking = Counts(CountsConfig(order=3, table_bits=table_bits), 40)
    for start in range(0, tokens.size, 400):
        part = tokens[start : start + 400]
        assert listed.learn(part).tolist() == looking.learn(part).tolist()
        np.testing.assert_array_equal(listed.predict(), looking.predict())
        again = Counts(listed.config, 40)
        again.load_state_dict(listed.state_dict())  # the lists are made anew
        np.testing.assert_array_equal(again.predict(), looking.predict())
        assert again.learn(part[::-1]).tolist() == Counts.learn(again_from(looking), part[::-1]).tolist()
    assert (looking.tables.counters[EVICTED] > 0) == (table_bits == 7)


def again_from(learner: Counts) -> Counts:
    """A second learner in the same state."""
    copy = Counts(learner.config, learner.vocabulary)
    copy.load_state_dict(learner.state_dict())
    return copy
