"""The bench measures what it says; ratios are of things timed in one run."""

import csv
import json
import time
from importlib.util import find_spec

import numpy as np
import pytest

from sharpstream.bench.floor import floor
from sharpstream.bench.growth import AXES, growth_figure, measure_memory
from sharpstream.bench.learners import measure_learners
from sharpstream.bench.memories import multiply_adds, squashings
from sharpstream.bench.output import KEPT, OPTIONS
from sharpstream.cli import main
from sharpstream.config import RunConfig, SharpConfig, TransformerConfig
from sharpstream.evaluate.timing import Timed, in_turn, learning
from sharpstream.factory import make_learner


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    slow, fast = Timed((4.0, 40.0, 6.0)), Timed((2.0, 10.0, 2.0))
    assert slow.over(fast) == 3.0
    assert slow.seconds == 6.0


def test_everything_is_timed_in_turn_after_one_untimed_turn():
    order = []
    works = {name: lambda name=name: (order.append(name), 5)[1] for name in "ab"}
    times = in_turn(works, rounds=2)
    assert order == ["a", "b"] * 3
    assert all(len(timed.rounds) == 2 for timed in times.values())


def test_what_is_prepared_comes_before_each_turn_and_is_not_timed():
    order = []
    works = {name: lambda name=name: (order.append(name), 1)[1] for name in "ab"}
    times = in_turn(works, 1, prepare={"b": lambda: (order.append("p"), time.sleep(0.05))})
    assert order == ["a", "p", "b"] * 2
    assert len(times["b"].rounds) == 1
    assert times["b"].seconds < 0.05


class Listener:
    """A learner that remembers what it was given."""

    def __init__(self):
        self.given = []

    def learn(self, tokens):
        self.given.append(tokens.tolist())


def test_turns_go_on_where_the_last_one_ended_and_the_first_token_is_read_before():
    learner = Listener()
    work = learning(learner, np.arange(5), 3)
    assert [work(), work()] == [3, 3]
    assert learner.given == [[0], [1, 2, 3], [4, 0, 1]]


@pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
def test_a_turn_of_one_chunk_is_exactly_one_update_of_a_transformer():
    model = TransformerConfig(layers=1, width=16, heads=2, d_ff=32, chunk=64)
    learner = make_learner(RunConfig(learner="transformer", transformer=model), 27)
    work = learning(learner, np.arange(500) % 27, model.chunk)
    for turn in (1, 2, 3):
        work()
        assert (learner.updates, len(learner.chunk)) == (turn, 1)


def test_the_floor_touches_every_weight():
    for staggered in (True, False):
        assert floor(1_000, staggered=staggered, passes=3)() == 3


def test_a_memorys_floor_holds_the_arithmetic_of_its_kind_and_no_more():
    asked = {
        kind: (multiply_adds(config), squashings(config))
        for kind in ("rnn", "gru", "lstm", "diagonal", "delay", "legendre")
        for config in [SharpConfig(width=8, embedding=2, memory=kind)]
    }
    assert asked == {
        "rnn": (80, 8),
        "gru": (240, 24),
        "lstm": (320, 40),
        "diagonal": (16, 8),
        "delay": (0, 0),
        "legendre": (40, 0),
    }


def test_the_engine_table_has_every_named_quantity(tmp_path, capsys):
    assert main(["bench", "engine", "--widths", "32", "--rounds", "2", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    quantities = {row["quantity"]: row["value"] for row in found["engine"]}
    assert quantities["fused against reference, steady state"] > 5
    for named in ("wake / floor placed as ours", "wake / floor of plain arrays", "evaluate", "observe", "sleep"):
        assert quantities[named] > 0
    with (tmp_path / "bench-engine.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["machine"] and row["command"].startswith("sharp bench engine") for row in rows)


def test_the_output_layer_is_measured_against_a_floor_of_its_own_for_each_option(capsys):
    assert main(["bench", "output", "--widths", "8", "--vocabulary", "50", "--rounds", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["output"]
    assert [row["output_adam"] for row in rows] == list(KEPT) == list(OPTIONS)
    assert all(row["step"] > 0 and row["layer"] > 0 and row["floor"] > 0 for row in rows)


def test_all_learners_stand_in_one_table():
    rows = {row["learner"]: row for row in measure_learners(16, rounds=1, with_torch=False)}
    assert {"sharp", "rnn", "lstm", "gru", "clockwork", "counts", "unigram", "uniform"} <= rows.keys()
    for row in rows.values():
        assert row["seconds_per_1000"] == pytest.approx(1000 / row["tokens_per_second"])


def test_memory_stays_flat_along_a_stream():
    rows = measure_memory(tokens=200_000, every=20_000)
    assert rows[-1]["resident_mb"] - rows[3]["resident_mb"] < 4.0


def test_the_growth_figure_draws_every_axis():
    rows = [
        {"axis": axis, "size": s, "active": 10 * s, "ms_per_token": 0.1 * s}
        for axis, sizes in AXES.items()
        for s in sizes
    ]
    assert len(growth_figure(rows, [{"tokens": 1.0, "resident_mb": 3.0}]).axes) == 6
