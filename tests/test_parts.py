"""Books as the loop sees them: rows at the marks, the same after a stop, and a learner that forgets if asked to."""

import signal
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import CountsConfig, RunConfig, SharpConfig, StreamConfig
from sharpstream.factory import make_learner
from sharpstream.loop import Stopped, run
from sharpstream.parts import Mark, Parts
from sharpstream.report.progress import Silent
from sharpstream.rundir import Log
from sharpstream.streams import open_stream, pg19
from sharpstream.streams.base import Part
from sharpstream.streams.pg19 import Rules


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Three books of 1,500, 700 and 4,000 characters."""
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHARP_DATA", str(tmp_path))
    monkeypatch.setitem(pg19.RULES, "train", Rules(shortest=4, cut=10_000, total=100_000, books=99))
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(tmp_path / "pg19.zip", "w") as archive:
        for number, length in enumerate((1_500, 700, 4_000), 1):
            archive.writestr(f"train/{number}.txt", bytes(rng.integers(97, 101, length).astype(np.uint8)))
    return RunConfig(learner="counts", stream=StreamConfig(name="pg19"), tokens=6_000, log_every=1_000,
                     counts=CountsConfig(order=2, table_bits=10))  # fmt: skip


def part_rows(path) -> list[dict]:
    return [row for row in Log(path / "metrics.jsonl").rows() if row["event"] == "part"]


def test_marks_lie_at_fixed_distances_and_at_the_end():
    parts = Parts([Part("a", 0, 1_500), Part("b", 1_501, 2_201)])
    assert parts.marks == [Mark(1_000, 0, 0, 1_000), Mark(1_500, 0, 1_000, 1_500), Mark(2_201, 1, 0, 700)]
    assert [parts.until_next(at) for at in (0, 999, 1_000, 1_500, 1_501, 2_201)] == [1_000, 1, 500, 1, 700, None]
    assert (parts.beginning_at(1_501), parts.beginning_at(1_500)) == (1, None)
    assert Parts([]).until_next(0) is None


def test_a_row_has_the_bits_since_the_mark_before(config, tmp_path):
    run(tmp_path / "run", config)
    rows = part_rows(tmp_path / "run")
    assert [(row["part"], row["since"], row["until"]) for row in rows] == [
        (0, 0, 1_000),
        (0, 1_000, 1_500),
        (1, 0, 700),
        (2, 0, 1_000),
        (2, 1_000, 3_000),
    ]
    learner = make_learner(config, 27)
    bits = learner.learn(open_stream(config.stream, seed=0).take(6_000))
    assert rows[2]["bits"] == pytest.approx(bits[1_501:2_201].mean(), rel=1e-12)
    assert rows[1]["name"] == "1"


def test_a_stop_inside_a_book_changes_no_row(config, tmp_path):
    class StopAt(Silent):
        def update(self, tokens, bits):
            if tokens >= 1_700:
                signal.raise_signal(signal.SIGTERM)

    run(tmp_path / "whole", config)
    with pytest.raises(Stopped):
        run(tmp_path / "stopped", config, display=StopAt())
    run(tmp_path / "stopped", config)
    assert part_rows(tmp_path / "stopped") == part_rows(tmp_path / "whole")


@pytest.mark.parametrize("learner", ["counts", "sharp"])
def test_a_learner_forgets_where_a_book_begins_only_if_asked(config, tmp_path, learner):
    sharp = SharpConfig(levels=2, width=6, embedding=3, depth=1)
    config = replace(config, learner=learner, sharp=sharp, reset_states_per_book=True)
    run(tmp_path / "run", config)
    by_hand, stream, bits = make_learner(config, 27), open_stream(config.stream, seed=0), []
    for start, end in ((0, 1_501), (1_501, 2_202), (2_202, 6_000)):
        by_hand.forget()
        bits.append(by_hand.learn(stream.take(end - start)))
    assert part_rows(tmp_path / "run")[2]["bits"] == pytest.approx(bits[1][:700].mean(), rel=1e-12)


def test_the_titles_are_told(config, tmp_path):
    told = []

    class Told(Silent):
        def note(self, text):
            told.append(text)

    run(tmp_path / "run", config, display=Told())
    assert told[-2:] == ["1,501: 2", "2,202: 3"]
