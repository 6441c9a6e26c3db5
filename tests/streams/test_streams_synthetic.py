"""The simulations obey their definitions, and their tokens depend on the seed and the position alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpstream.errors import StreamError
from sharpstream.streams.synthetic import (
    BEST_ERROR,
    BLOCK,
    HUB,
    NO_CONTEXT_ERROR,
    SYMBOLS,
    Linear,
    Nonlinear,
    Random,
    SyntheticStream,
    nonlinear_oracle,
)

KINDS = [Linear, Random, Nonlinear]
CLOCKWISE = {"ABC", "BCA", "CAB", "DEF", "EFD", "FDE"}
COUNTERCLOCKWISE = {"ACB", "CBA", "BAC", "DFE", "FED", "EDF"}


def visits_of(stream: SyntheticStream, count: int) -> list[str]:
    text = "".join(SYMBOLS[token] for token in stream.take(4 * count))
    return [text[i : i + 4] for i in range(0, len(text), 4)]


def check_rule(visits: list[str], k: int, first: int) -> None:
    """Each visit from index `first` on runs as the definition says, told with strings and sums."""
    for v in range(first, len(visits)):
        body, hub = visits[v][:3], visits[v][3]
        past = [int(visit[0] in "DEF") for visit in visits[v - k : v]] if v >= k else []
        expected = CLOCKWISE if sum(past) % 2 == 0 else COUNTERCLOCKWISE
        assert hub == "G"
        assert body in expected, f"visit {v} of nonlinear({k})"


def test_linear_repeats_the_alphabet() -> None:
    assert "".join(SYMBOLS[token] for token in Linear().take(16)) == "ABCDEFGABCDEFGAB"


def test_linear_stays_in_step_across_blocks() -> None:
    stream = Linear()
    stream.seek(3 * BLOCK - 2)
    assert stream.take(4).tolist() == [(3 * BLOCK - 2 + i) % 7 for i in range(4)]


@given(k=st.integers(1, 6), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=40, deadline=None)
def test_nonlinear_obeys_its_rule_from_the_start(k: int, seed: int) -> None:
    check_rule(visits_of(Nonlinear(k, seed=seed), 200), k, 0)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 300])
def test_nonlinear_obeys_its_rule_across_a_block_border(k: int) -> None:
    stream = Nonlinear(k, seed=5)
    stream.seek(BLOCK - 4 * (k + 10))
    check_rule(visits_of(stream, k + 30), k, k)


def test_the_example_of_the_paper_obeys_the_rule() -> None:
    # The paper's printed example breaks its own rule at the seventh visit, so only the first six are held to it.
    check_rule(["CABG", "DEFG", "DFEG", "ABCG", "FEDG", "EDFG"], 2, 0)


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_oracle_reaches_the_best_accuracy(k: int) -> None:
    tokens = Nonlinear(k, seed=k).take(400_000)
    error = np.mean(nonlinear_oracle(tokens, k) != tokens)
    assert error == pytest.approx(BEST_ERROR, abs=0.003)
    assert pytest.approx(0.7917, abs=1e-4) == 1 - BEST_ERROR


def test_oracle_misses_only_after_the_hub() -> None:
    tokens = Nonlinear(3, seed=1).take(4_001)
    wrong = np.flatnonzero(nonlinear_oracle(tokens, 3) != tokens)
    assert set(wrong % 4) == {0}


def test_without_the_direction_a_third_is_wrong() -> None:
    tokens = Nonlinear(2, seed=1).take(400_000)
    guess = nonlinear_oracle(tokens, 399_999)  # always clockwise
    guess[2::4] = nonlinear_oracle(tokens, 2)[2::4]  # the third token follows from the second
    assert np.mean(guess != tokens) == pytest.approx(NO_CONTEXT_ERROR, abs=0.005)


def test_entries_from_the_hub_are_uniform() -> None:
    tokens = Nonlinear(2, seed=11).take(1_200_000)
    counts = np.bincount(tokens[::4], minlength=6)
    expected = 300_000 / 6
    assert len(counts) == 6
    assert np.sum((counts - expected) ** 2 / expected) < 25  # chi-square, 5 degrees of freedom: p < 0.0002


def test_random_is_uniform_and_without_memory() -> None:
    tokens = Random(seed=3).take(700_000)
    pairs = np.bincount(7 * tokens[:-1] + tokens[1:], minlength=49)
    expected = (len(tokens) - 1) / 49
    assert np.sum((pairs - expected) ** 2 / expected) < 100  # 48 degrees of freedom


@pytest.mark.parametrize("kind", [Random, Nonlinear])
def test_same_seed_same_tokens_other_seed_others(kind: type[SyntheticStream]) -> None:
    first, again, other = (kind(seed=seed).take(5_000) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_tokens_never_change_between_versions() -> None:
    shown = "".join(SYMBOLS[token] for token in Nonlinear(2, seed=0).take(40))
    assert shown == "EFDGCABGBACGDEFGEDFGDEFGABCGBACGFDEGBACG"
    assert Random(seed=0).take(20).tolist() == [5, 5, 4, 3, 4, 1, 5, 3, 3, 6, 5, 4, 2, 3, 1, 1, 1, 0, 5, 4]


@given(cuts=st.lists(st.integers(0, 70_000), min_size=1, max_size=6), kind=st.sampled_from(KINDS))
@settings(max_examples=25, deadline=None)
def test_chunking_does_not_change_the_tokens(cuts: list[int], kind: type[SyntheticStream]) -> None:
    stream = kind(seed=2)
    parts = np.concatenate([stream.take(count) for count in cuts])
    assert stream.position == sum(cuts)
    assert np.array_equal(parts, kind(seed=2).take(sum(cuts)))


@given(position=st.integers(0, 3 * BLOCK), kind=st.sampled_from(KINDS))
@settings(max_examples=25, deadline=None)
def test_seek_equals_reading_there(position: int, kind: type[SyntheticStream]) -> None:
    stream = kind(seed=4)
    stream.seek(position)
    assert np.array_equal(stream.take(500), kind(seed=4).take(position + 500)[position:])


@pytest.mark.parametrize("kind", KINDS)
def test_far_positions_are_reached_at_once(kind: type[SyntheticStream]) -> None:
    stream = kind(seed=1)
    stream.seek(10**15)
    assert len(stream.take(10)) == 10


def test_a_slice_counts_from_its_own_start() -> None:
    stream = Nonlinear(2, seed=1, start=100, end=130)
    assert stream.length == 30
    assert np.array_equal(stream.take(1000), Nonlinear(2, seed=1).take(130)[100:])
    assert len(stream.take(1)) == 0


def test_tokens_are_int32_and_end_a_visit_at_the_hub() -> None:
    tokens = Nonlinear(2).take(8)
    assert tokens.dtype == np.int32
    assert (tokens[3::4] == HUB).all()


@pytest.mark.parametrize("make", [lambda: Nonlinear(0), lambda: Nonlinear(10**6), lambda: Random(seed=-1)])
def test_bad_arguments_are_refused(make: type) -> None:
    with pytest.raises(StreamError, match="must be an integer in"):
        make()


def test_seeking_outside_is_refused() -> None:
    with pytest.raises(StreamError, match="positions run from 0 to 10"):
        Linear(end=10).seek(11)
    with pytest.raises(StreamError, match="cannot seek to -1"):
        Linear().seek(-1)


def test_identity_tells_streams_apart() -> None:
    assert Nonlinear(2, seed=1).identity() == {"name": "nonlinear", "seed": 1, "start": 0, "k": 2}
    assert Nonlinear(2, seed=1).identity() != Nonlinear(3, seed=1).identity()
