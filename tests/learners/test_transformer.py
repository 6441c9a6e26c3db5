"""The Transformer under the learner contract: sizes, causality, chunks, frozen scoring by its windows, state."""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

from sharpstream.config import AdamConfig, StreamConfig, TransformerConfig
from sharpstream.errors import ConfigError, NumericalError, RunError, StreamError
from sharpstream.learners.contract import Learner, State
from sharpstream.reference.transformer import TransformerLearner
from sharpstream.reference.transformer_windows import full_windows, segments, short_windows
from sharpstream.streams import open_stream

REAL_DATA = os.environ.get("SHARP_DATA", "")
N = 8
TINY = {"layers": 2, "width": 16, "heads": 2, "d_ff": 24, "chunk": N, "dtype": "float64"}
CONFIG = TransformerConfig(**TINY, adam=AdamConfig(lr=1e-2))
PAPER = TransformerConfig(**TINY, scoring="window4", adam=AdamConfig(lr=1e-2))
TOKENS = np.random.default_rng(0).integers(0, 5, 100)


def learner(config: TransformerConfig = CONFIG, taught: int = 0, vocabulary: int = 5) -> TransformerLearner:
    made = TransformerLearner(config, vocabulary)
    made.learn(TOKENS[:taught])
    return made


def assert_same(one: State, other: State) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize(("layers", "d_ff", "size"), [(12, 704, 9_654_016), (6, 736, 4_981_504)])
def test_published_sizes(layers: int, d_ff: int, size: int) -> None:
    config = TransformerConfig(layers=layers, width=256, heads=8, d_ff=d_ff)
    made = TransformerLearner(config, 27)
    assert made.parameters() == made.parameters(active=True) == size
    weights = made.model.head.weight
    assert abs(float(weights.detach().std()) - 0.02) < 1e-3
    assert torch.equal(made.model.norm.weight, torch.ones(256))


def test_prediction_sums_to_one_and_is_what_observe_scores() -> None:
    made = learner()
    assert isinstance(made, Learner)
    for token in TOKENS[:30]:
        p = made.predict()
        assert abs(p.sum() - 1.0) < 1e-12
        assert abs(-np.log2(p[token]) - made.observe(int(token))) < 1e-9
    assert made.updates == 3


def test_first_token_costs_log2_v() -> None:
    np.testing.assert_allclose(learner().learn(TOKENS[:1]), np.log2(5))


def test_what_is_learned_does_not_depend_on_how_tokens_are_handed_in() -> None:
    whole, parts, single = learner(), learner(), learner()
    bits = whole.learn(TOKENS)
    pieces = np.concatenate([parts.learn(piece) for piece in np.split(TOKENS, [1, 5, 30, 30, 71])])
    one_by_one = np.array([single.observe(int(token)) for token in TOKENS])
    np.testing.assert_allclose(pieces, bits, rtol=1e-9)
    np.testing.assert_allclose(one_by_one, bits, rtol=1e-9)
    assert_same(parts.state_dict(), whole.state_dict())
    assert_same(single.state_dict(), whole.state_dict())


LONG = TransformerConfig(**{**TINY, "chunk": 80, "dtype": "float32"}, adam=AdamConfig(lr=1e-2))  # two blocks and a half


def test_cache_in_blocks_agrees_with_whole_passes() -> None:
    tokens = np.random.default_rng(2).integers(0, 5, 200)
    single, whole, parts = learner(LONG), learner(LONG), learner(LONG)
    one_by_one = [single.observe(int(token)) for token in tokens]
    np.testing.assert_allclose(one_by_one, whole.learn(tokens), rtol=1e-4)
    pieces = [parts.learn(piece) for piece in np.split(tokens, [3, 50, 60, 75, 150])]
    np.testing.assert_allclose(one_by_one, np.concatenate(pieces), rtol=1e-4)
    assert_same(single.state_dict(), whole.state_dict())
    assert_same(parts.state_dict(), whole.state_dict())


@pytest.mark.parametrize("taught", [31, 32, 33, 64, 65, 70, 80, 81, 130])
def test_a_resumed_cache_is_the_same_bit_for_bit(taught: int) -> None:
    tokens = np.random.default_rng(2).integers(0, 5, 200)
    made, resumed = learner(LONG), learner(LONG)
    for token in tokens[:taught]:
        made.observe(int(token))
    resumed.load_state_dict(made.state_dict())
    np.testing.assert_array_equal(resumed.predict(), made.predict())
    for token in tokens[taught : taught + 10]:
        assert made.observe(int(token)) == resumed.observe(int(token))


def test_float32_agrees_to_rounding_and_learns_the_same() -> None:
    config = TransformerConfig(**{**TINY, "dtype": "float32"}, adam=AdamConfig(lr=1e-2))
    whole, single = learner(config), learner(config)
    np.testing.assert_allclose([single.observe(int(x)) for x in TOKENS], whole.learn(TOKENS), rtol=1e-4)
    assert_same(single.state_dict(), whole.state_dict())


def test_update_is_one_adam_step_on_the_mean_loss_of_the_chunk() -> None:
    made, twin = learner(), learner()
    made.learn(TOKENS[: N + 1])
    adam = torch.optim.Adam(twin.model.parameters(), lr=1e-2, weight_decay=1e-8)
    logits = twin.model(torch.tensor(TOKENS[None, :N]))[0]
    torch.nn.functional.cross_entropy(logits, torch.tensor(TOKENS[1 : N + 1])).backward()
    adam.step()
    for (name, mine), theirs in zip(made.model.named_parameters(), twin.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, msg=name)


def test_a_chunk_is_scored_before_it_is_learned() -> None:
    made, untaught = learner(), learner()
    bits = made.learn(TOKENS[: N + 1])
    np.testing.assert_allclose(untaught.evaluate(TOKENS[: N + 1]), bits, rtol=1e-9)


def test_bits_do_not_depend_on_the_future() -> None:
    other = TOKENS.copy()
    other[45:] = (other[45:] + 1) % 5
    np.testing.assert_allclose(learner().learn(TOKENS)[:45], learner().learn(other)[:45], rtol=1e-12)
    for config in (CONFIG, PAPER):
        made = learner(config, taught=20)
        np.testing.assert_allclose(made.evaluate(TOKENS)[:45], made.evaluate(other)[:45], rtol=1e-12)


def test_learns_a_repeating_stream() -> None:
    bits = learner(vocabulary=5).learn(np.tile([0, 3, 1, 4], 150))
    assert bits[-100:].mean() < 0.3
    made = learner()
    made.learn(np.tile([0, 3, 1, 4], 150))
    assert made.correct[-50:].mean() > 0.9


@pytest.mark.parametrize("config", [CONFIG, PAPER])
def test_evaluate_and_predict_change_nothing(config: TransformerConfig) -> None:
    made, undisturbed = learner(config, taught=21), learner(config, taught=21)
    before = made.state_dict()
    first = made.evaluate(TOKENS)
    made.predict()
    np.testing.assert_array_equal(made.evaluate(TOKENS), first)
    assert made.correct.shape == first.shape
    assert_same(made.state_dict(), before)
    np.testing.assert_array_equal(made.learn(TOKENS[21:]), undisturbed.learn(TOKENS[21:]))


def by_prefix(made: TransformerLearner, text: np.ndarray, context: Callable[[int], int]) -> np.ndarray:
    """Bits of text[1:], each from its own forward pass over `context(t)` tokens before it."""
    bits = []
    for t in range(1, len(text)):
        with torch.no_grad():
            logits = made.model(torch.tensor(text[None, t - context(t) : t]))[0, -1]
        bits.append(-torch.log_softmax(logits, -1)[text[t]].item() / np.log(2))
    return np.array(bits)


def test_full_scoring_slides_by_half_a_chunk() -> None:
    made = learner(taught=N + 1)  # the new chunk holds one token
    text = np.concatenate([TOKENS[N : N + 1], TOKENS[:30]])

    def context(t: int) -> int:
        if t <= N:
            return t
        if t > 28:  # 30 predictions: 8, then 4 each up to 28, then the last 2 by a window moved back
            return N - 1 + (t - 29)
        return N - 3 + (t - 1) % 4

    np.testing.assert_allclose(made.evaluate(TOKENS[:30]), by_prefix(made, text, context), rtol=1e-9)
    np.testing.assert_allclose(made.evaluate(TOKENS[:1])[0], -np.log2(made.predict()[TOKENS[0]]), rtol=1e-9)


def test_paper_scoring_sees_four_tokens() -> None:
    made = learner(PAPER, taught=N + 1)
    text = np.concatenate([TOKENS[N : N + 1], TOKENS[:30]])
    np.testing.assert_allclose(made.evaluate(TOKENS[:30]), by_prefix(made, text, lambda t: min(t, 4)), rtol=1e-9)


@pytest.mark.parametrize("length", [0, 1, 2, 8, 9, 10, 11, 12, 13, 40])
def test_windows_score_each_token_once_with_enough_context(length: int) -> None:
    for windows in (full_windows(3, 3 + length, N), short_windows(3, 3 + length, N)):
        scored = [(start + read - last + 1 + i, read - last + 1 + i) for start, read, last in windows
                  for i in range(last)]  # fmt: skip
        assert [target for target, _ in scored] == list(range(4, 3 + length))
    contexts = [read - last + 1 for start, read, last in full_windows(3, 3 + length, N)[1:]]
    assert all(context >= N - N // 2 + 1 for context in contexts)


def test_resets_cut_the_context() -> None:
    made = learner(taught=50)
    assert segments(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert segments(10, 0) == [(0, 10)]
    assert segments(0, 4) == []
    np.testing.assert_allclose(made.evaluate_with_resets(TOKENS, 1), np.log2(5))
    bits = made.evaluate_with_resets(TOKENS, 4)
    np.testing.assert_allclose(bits[::4], np.log2(5))
    np.testing.assert_allclose(bits[5:8], by_prefix(made, TOKENS[4:8], lambda t: t), rtol=1e-9)


@pytest.mark.parametrize("taught", [0, 1, N, N + 1, 21])
def test_state_resumes_exactly(taught: int) -> None:
    made, resumed = learner(taught=taught), TransformerLearner(CONFIG, 5, seed=7)
    made.predict()
    resumed.load_state_dict(made.state_dict())
    assert_same(resumed.state_dict(), made.state_dict())
    np.testing.assert_array_equal(resumed.learn(TOKENS[taught:60]), made.learn(TOKENS[taught:60]))
    np.testing.assert_array_equal(resumed.predict(), made.predict())
    assert_same(resumed.state_dict(), made.state_dict())


@pytest.mark.parametrize(
    ("name", "value"),
    [("chunk", np.array([5])), ("chunk", np.array([-1])), ("chunk", np.zeros(9, dtype=np.int64)),
     ("chunk", np.zeros(1)), ("norm.weight", np.zeros(3)), ("norm.weight", np.full(16, np.nan)),
     ("adam.v.norm.weight", np.full(16, -1.0)), ("updates", np.array(7)), ("observed", np.array(-1)),
     ("strange", np.zeros(1)), ("head.weight", None)],
)  # fmt: skip
def test_hostile_state_is_refused_and_changes_nothing(name: str, value: np.ndarray | None) -> None:
    made = learner(taught=2 * N + 1)
    state = made.state_dict()
    if value is None:
        del state[name]
    else:
        state[name] = value
    before = made.state_dict()
    with pytest.raises(RunError):
        made.load_state_dict(state)
    assert_same(made.state_dict(), before)


def test_seed_decides_the_start() -> None:
    assert_same(learner().state_dict(), learner().state_dict())
    other = TransformerLearner(CONFIG, 5, seed=1).state_dict()
    assert not np.array_equal(other["head.weight"], learner().state_dict()["head.weight"])


def test_frozen_vectors_are_read_through_a_projection_and_never_change() -> None:
    config = TransformerConfig(**TINY, input_size=3)
    vectors = np.random.default_rng(1).standard_normal((5, 3))
    made = TransformerLearner(config, 5, vectors=vectors)
    assert made.parameters() == learner().parameters() - 5 * 16 + 3 * 16
    single = TransformerLearner(config, 5, vectors=vectors)
    bits = made.learn(TOKENS)
    np.testing.assert_allclose([single.observe(int(x)) for x in TOKENS], bits, rtol=1e-9)
    np.testing.assert_array_equal(made.model.vectors.numpy(), vectors)
    for given in (None, vectors[:4]):
        with pytest.raises(ConfigError, match="input_size = 3"):
            TransformerLearner(config, 5, vectors=given)
    with pytest.raises(ConfigError, match="input_size = 0"):
        TransformerLearner(CONFIG, 5, vectors=vectors)


@pytest.mark.parametrize("bad", [[0, 5], [-1], [[0]], [0.5]])
def test_bad_tokens_are_rejected_and_nothing_learned(bad: list[object]) -> None:
    made = learner()
    for method in (made.learn, made.evaluate):
        with pytest.raises(StreamError):
            method(np.array(bad))
    assert made.observed == 0


@pytest.mark.parametrize("bad", [{"width": 10}, {"chunk": 1}, {"layers": 0}, {"scoring": "some"}, {"input_size": -1}])
def test_bad_settings_are_refused_by_name(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        TransformerConfig(**bad)  # type: ignore[arg-type]


def test_leaving_the_finite_numbers_is_said() -> None:
    made = learner(TransformerConfig(**TINY, adam=AdamConfig(lr=1e200)))
    with pytest.raises(NumericalError, match="Try a smaller"):
        made.learn(TOKENS)


def test_import_leaves_the_number_of_threads_alone() -> None:
    script = (
        "import torch; torch.set_num_threads(3); import sharpstream.reference.transformer; "
        "assert torch.get_num_threads() == 3"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.data
def test_learns_letters() -> None:
    if not REAL_DATA:
        return
    tokens = open_stream(StreamConfig(name="text8", end=60_000), seed=0).take(60_000)
    config = TransformerConfig(layers=2, width=64, heads=4, d_ff=176, chunk=128, adam=AdamConfig(lr=2e-3))
    made = TransformerLearner(config, 27)
    assert made.learn(tokens)[-10_000:].mean() < 3.4
