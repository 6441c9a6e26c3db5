"""One suite over every learner: what `learners/contract.py` promises holds for each of them."""

import re
import resource
from pathlib import Path

import numpy as np
import pytest

import sharpstream
from sharpstream.checkpoint import largest_state
from sharpstream.checks import CHECKS, check_learner
from sharpstream.commands.fork import fork
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
from sharpstream.errors import ConfigError
from sharpstream.experiments.speed import kind_of
from sharpstream.factory import LEARNERS, Entry, make_learner
from sharpstream.learners.contract import Layered, Learner
from sharpstream.learners.counts import Counts
from sharpstream.loop import run

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


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract(name, check):
    check(lambda seed: make(name, seed), ROUNDING.get(name, 0.0))


@pytest.mark.parametrize("twin", [name for name, entry in LEARNERS.items() if entry.twin])
def test_the_full_state_of_a_twin_is_no_larger_than_it_foretold(twin):
    learner = make_learner(CONFIG.replace(learner=twin, engine="reference"), V)
    foretold = largest_state(learner)
    learner.learn(stream(200))
    assert sum(array.nbytes for array in learner.state_dict().values()) <= foretold


def test_what_comes_later_is_learned_from(name):
    x, y = stream(500), stream(500)
    y[300:] = (y[300:] + 3) % V
    differs = not np.array_equal(make(name).learn(x)[300:], make(name).learn(y)[300:])
    assert differs == (name != "uniform")


class Restless(Counts):
    def predict(self):
        self.tables.unigram[0] += 1
        return super().predict()


class Flattering(Counts):
    def observe(self, token):
        return 0.5 * super().observe(token)


class Curious(Counts):
    def evaluate(self, tokens):
        return self.learn(tokens)


class Prophetic(Counts):
    def learn(self, tokens):
        return super().learn(tokens) + (1e-3 * float(tokens[-1]) if len(tokens) == 500 else 0.0)


class Forgetful(Counts):
    def load_state_dict(self, state):
        pass


class Modest(Counts):
    growth_bytes = 0


class Trusting(Counts):
    def learn(self, tokens):
        return super().learn(np.clip(tokens, 0, V - 1))


class Mute:
    """No learner at all."""


@pytest.mark.parametrize(
    ("mutant", "told"),
    [
        (Restless, "predict changed the state"),
        (Flattering, "observe scored"),
        (Curious, "evaluate changed the state"),
        (Prophetic, "learn looked ahead"),
        (Forgetful, "a loaded learner goes on differently"),
        (Modest, "growth_bytes foretold at most"),
        (Trusting, "was taken"),
        (lambda config, vocabulary: Mute(), "Mute lacks compiled, correct, evaluate, .* of learners/contract.py"),
    ],
)
def test_a_learner_that_breaks_a_promise_is_told_which(mutant, told):
    with pytest.raises(AssertionError, match=told):
        check_learner(lambda seed: mutant(CountsConfig(order=2, table_bits=8), V))


def test_nobody_asks_a_learner_for_what_the_contract_does_not_list():
    asked = re.compile(r"(?:get|has)attr\(\s*(?:\w+\.)*learner\b")
    package = Path(sharpstream.__file__).parent
    found = [str(path) for path in package.rglob("*.py") if asked.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_a_learner_of_ones_own_needs_its_entry_and_nothing_else(tmp_path, monkeypatch):
    """Made, run, continued, forked and planned by its entry alone."""
    made = "sharpstream.learners.counts:Counts"
    mine = Entry(settings="counts", made=made, fixed={"order": 2}, label="Mine", colour="#000000")
    monkeypatch.setitem(LEARNERS, "mine", mine)
    config = RunConfig(learner="mine", tokens=600, log_every=200, counts=CountsConfig(order=1, table_bits=8))
    assert run(tmp_path / "run", config)["tokens"] == 600
    assert run(tmp_path / "run", config.replace(tokens=900))["tokens"] == 900
    assert fork(tmp_path / "run", tmp_path / "new", None, ["tokens=1000"])["tokens"] == 900
    assert kind_of(config, 7).learner == "mine"
    assert make_learner(config, 7).config.order == 2


def test_a_learner_may_be_made_of_another_that_the_run_describes(monkeypatch):
    class Pair(Counts):
        def __init__(self, config, vocabulary, *, seed=0, expert):
            super().__init__(config, vocabulary, seed=seed)
            self.expert = expert

    monkeypatch.setattr("sharpstream.learners.counts.Pair", Pair, raising=False)
    entry = Entry(
        settings="counts",
        made="sharpstream.learners.counts:Pair",
        more=lambda config, vocabulary: {"expert": make_learner(config.replace(learner="unigram"), vocabulary)},
        label="Pair",
        colour="#000000",
    )
    monkeypatch.setitem(LEARNERS, "pair", entry)
    assert make_learner(RunConfig(learner="pair", seed=4), V).expert.config.order == 0


def test_seeds_decide(name):
    a, b, c = make(name, 1), make(name, 1), make(name, 2)
    x = stream(300)
    first, again, other = a.learn(x), b.learn(x), c.learn(x)
    assert np.array_equal(first, again)
    deterministic = name in ("counts", "unigram", "uniform")
    assert np.array_equal(first, other) == deterministic


@pytest.mark.parametrize("level", [0, -1, 99, 1.5])
def test_a_level_that_is_not_there_is_refused_before_a_compiled_loop_reads_it(name, level):
    learner = make(name)
    if not isinstance(learner, Layered):
        pytest.skip(f"{name} has no levels")
    with pytest.raises(ConfigError, match=rf"level = {level}: this learner has levels 1\.\."):
        learner.hidden_states(stream(20), level=level)


@pytest.mark.parametrize("every", [-1, 2.5])
def test_a_distance_between_resets_that_is_none_is_refused(name, every):
    learner = make(name)
    with pytest.raises(ConfigError, match=rf"every = {every}"):
        learner.evaluate_with_resets(stream(20), every)


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
