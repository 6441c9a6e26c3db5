"""The fused RNN, LSTM and GRU against their PyTorch twin, and the twin's cells against torch's own sequence modules."""

from itertools import product

import numpy as np
import pytest

from sharpstream.config import AdamConfig, RecurrentConfig
from sharpstream.learners.recurrent import Recurrent

torch = pytest.importorskip("torch")
from sharpstream.reference.recurrent import ReferenceRecurrent  # noqa: E402

VOCABULARY = 5
FAST = AdamConfig(lr=3e-3, weight_decay=1e-4)
CASES = list(product(("rnn", "lstm", "gru"), (1, 2), ("aligned", "overlap")))


def tokens_with_structure(count: int, seed: int = 0) -> np.ndarray:
    """A cycle with one token in five replaced at random: something to learn, and surprises."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(count) < 0.2, rng.integers(0, VOCABULARY, count), np.arange(count) % VOCABULARY)


def assert_states_agree(fused: dict, twin: dict, tolerance: float) -> None:
    assert fused.keys() == twin.keys()
    for name, value in twin.items():
        assert fused[name].shape == value.shape, name
        scale = max(float(np.abs(value).max(initial=0.0)), 1e-12)
        assert np.abs(fused[name] - value).max(initial=0.0) <= tolerance * scale, name


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("cell", "layers", "carry"), CASES)
def test_fused_and_twin_agree_after_a_thousand_steps(cell, layers, carry):
    config = RecurrentConfig(cell=cell, layers=layers, width=6, embedding=4, carry=carry, dtype="float64", adam=FAST)
    fused, twin = Recurrent(config, VOCABULARY, seed=3), ReferenceRecurrent(config, VOCABULARY, seed=3)
    assert_states_agree(fused.state_dict(), twin.state_dict(), 0.0)
    tokens = tokens_with_structure(1010)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-8)
    assert np.array_equal(fused.correct, twin.correct)
    assert_states_agree(fused.state_dict(), twin.state_dict(), 1e-8)
    np.testing.assert_allclose(fused.predict(), twin.predict(), rtol=1e-8)
    ahead = tokens_with_structure(40, seed=1)
    np.testing.assert_allclose(fused.evaluate(ahead), twin.evaluate(ahead), rtol=1e-8)
    np.testing.assert_allclose(fused.evaluate_with_resets(ahead, 7), twin.evaluate_with_resets(ahead, 7), rtol=1e-8)
    np.testing.assert_allclose(
        fused.hidden_states(ahead, layers), twin.hidden_states(ahead, layers), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize(("width", "embedding"), [(32, 32), (16, 48), (48, 20)])
@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_fused_and_twin_agree_where_columns_are_whole_lanes(cell, width, embedding):
    """Lanes serve four positions where the columns divide by 16, or by 32: both, one of them, neither."""
    config = RecurrentConfig(cell=cell, layers=2, width=width, embedding=embedding, dtype="float64", adam=FAST)
    fused, twin = Recurrent(config, VOCABULARY, seed=3), ReferenceRecurrent(config, VOCABULARY, seed=3)
    tokens = tokens_with_structure(120)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-8)
    assert_states_agree(fused.state_dict(), twin.state_dict(), 1e-8)


@pytest.mark.parametrize("window", [1, 3, 6])
def test_fused_and_twin_agree_for_other_windows(window):
    config = RecurrentConfig(cell="gru", layers=2, width=5, embedding=3, window=window, dtype="float64", adam=FAST)
    fused, twin = Recurrent(config, VOCABULARY), ReferenceRecurrent(config, VOCABULARY)
    tokens = tokens_with_structure(120)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-8)
    assert_states_agree(fused.state_dict(), twin.state_dict(), 1e-8)


def test_fused_and_twin_agree_on_frozen_vectors():
    vectors = np.random.default_rng(7).standard_normal((VOCABULARY, 9))
    config = RecurrentConfig(cell="lstm", layers=2, width=5, embedding=4, input_size=9, dtype="float64", adam=FAST)
    fused = Recurrent(config, VOCABULARY, vectors=vectors)
    twin = ReferenceRecurrent(config, VOCABULARY, vectors=vectors)
    tokens = tokens_with_structure(200)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-8)
    assert_states_agree(fused.state_dict(), twin.state_dict(), 1e-8)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_float32_stays_close_to_the_twin(cell):
    config = RecurrentConfig(cell=cell, layers=2, width=16, embedding=8, adam=AdamConfig(lr=1e-3))
    fused, twin = Recurrent(config, VOCABULARY), ReferenceRecurrent(config, VOCABULARY)
    tokens = tokens_with_structure(300)
    np.testing.assert_allclose(fused.learn(tokens), twin.learn(tokens), rtol=1e-3, atol=1e-3)


def test_a_twins_state_continues_in_the_fused_learner_and_back():
    config = RecurrentConfig(cell="lstm", layers=2, width=6, embedding=4, dtype="float64", adam=FAST)
    fused, twin = Recurrent(config, VOCABULARY, seed=1), ReferenceRecurrent(config, VOCABULARY, seed=2)
    tokens = tokens_with_structure(150)
    twin.learn(tokens[:50])
    fused.load_state_dict(twin.state_dict())
    np.testing.assert_allclose(fused.learn(tokens[50:100]), twin.learn(tokens[50:100]), rtol=1e-8)
    twin.load_state_dict(fused.state_dict())
    np.testing.assert_allclose(fused.learn(tokens[100:]), twin.learn(tokens[100:]), rtol=1e-8)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_states_are_those_of_torchs_own_sequence_modules(cell):
    config = RecurrentConfig(cell=cell, layers=3, width=7, embedding=4, dtype="float64")
    learner = Recurrent(config, VOCABULARY, seed=5)
    state = {name: torch.tensor(value) for name, value in learner.state_dict().items()}
    module = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](4, 7, num_layers=3).double()
    with torch.no_grad():
        for layer, part in product(range(3), ("weight_ih", "weight_hh", "bias_ih", "bias_hh")):
            getattr(module, f"{part}_l{layer}").copy_(state[f"cell.{layer + 1}.{part}"])
        tokens = tokens_with_structure(30)
        outputs, _ = module(state["embed.weight"][torch.tensor(tokens)])
        logits = outputs @ state["read.weight"].T + state["read.bias"]
        expected = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(tokens[1:]), reduction="none")
    np.testing.assert_allclose(learner.hidden_states(tokens, level=3), outputs.numpy(), atol=1e-12)
    np.testing.assert_allclose(learner.evaluate(tokens)[1:], expected.numpy() / np.log(2.0), rtol=1e-10)
