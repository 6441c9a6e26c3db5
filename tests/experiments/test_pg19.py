"""PG-19: books as they are scored, the first steps in a new book by hand, and a whole study without any corpus."""

import zipfile

import numpy as np
import pytest

from sharpstream.experiments.harness import Job, reproduce
from sharpstream.experiments.language import pg19 as study
from sharpstream.experiments.language.pg19 import STEADY, Scale
from sharpstream.factory import make_learner
from sharpstream.streams import open_stream, pg19
from sharpstream.streams.pg19 import Rules


def mark(arm, book, since, bits, seed=0):
    return {"arm": arm, "seed": seed, "metric": f"part_{since}", "place": book, "value": bits}


def test_adaptation_is_a_mean_over_the_books_that_are_long_enough():
    rows = [mark("rnn", 0, since, 9.0) for since in (0, 1_000, 3_000, 10_000, 30_000)]  # the first book is no change
    pieces = {0: 4, 1_000: 3, 3_000: 2, 10_000: 2, 30_000: 2}
    rows += [mark("rnn", 1, since, bits) for since, bits in pieces.items()]
    rows += [mark("rnn", 2, 0, 100.0)]  # too short to have a rest
    found = study.adaptation(rows, "rnn")
    assert found[1_000] == 4
    assert found[3_000] == pytest.approx((4 * 1_000 + 3 * 2_000) / 3_000)
    assert found[30_000] == pytest.approx((4_000 + 6_000 + 2 * 27_000) / 30_000)
    assert found[STEADY] == 2
    assert "| RNN | +2.000 | +1.333 |" in study.adaptation_table(rows)
    assert study.adaptation(rows, "gru") == {}


def test_learners_are_compared_book_by_book():
    rest = {"sharp": (2.0, 2.4, 2.6), "rnn": (2.5, 3.0, 3.0), "gru": (1.9, 2.5, 2.6)}
    rows = [
        mark(arm, book, since, bits + (seed - 0.5), seed)
        for arm, books in rest.items()
        for seed in (0, 1)
        for book, bits in enumerate(books, start=1)
        for since in (0, 1_000, 3_000, 10_000, 30_000)
    ]
    assert study.in_books(rows, "sharp") == pytest.approx({1: 2.0, 2: 2.4, 3: 2.6})
    sooner = study.better_in_books(rows, "sharp", "rnn", "-0.50 forward")
    assert (sooner.verdict, sooner.ours) == ("holds", "-0.500 ± 0.248 bits (3 books)")
    assert study.better_in_books(rows, "sharp", "gru", "").verdict == "not decided"
    assert study.better_in_books(rows, "sharp", "lstm", "").verdict == "not run"


@pytest.fixture
def small_books(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHARP_DATA", str(tmp_path))
    monkeypatch.setitem(pg19.RULES, "train", Rules(shortest=4, cut=10_000, total=100_000, books=99))
    monkeypatch.setitem(pg19.RULES, "validation", Rules(shortest=4, cut=900, total=100_000, books=5))
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(tmp_path / "pg19.zip", "w") as archive:
        for number in range(1, 6):
            archive.writestr(f"train/{number}.txt", bytes(rng.integers(97, 101, 1_200).astype(np.uint8)))
            archive.writestr(f"validation/{number}.txt", bytes(rng.integers(97, 101, 1_000).astype(np.uint8)))
    scale = Scale("pg19", "pg19-validation", "tiny", 5_000, 800, 1_000, (2_000, 500))
    monkeypatch.setitem(study.SCALES, "books", scale)


def test_forward_is_the_held_out_books_and_the_ends_are_those_of_what_was_read(small_books, tmp_path):
    settings = {"scale": "books", "protocol": "fair", "arm": "counts-2", "repetition": 0}
    rows = study.work(Job("", settings), tmp_path / "run")
    config = study.config_of(settings)
    learner = make_learner(config, 27)
    learner.learn(open_stream(config.stream, seed=0).take(5_000))
    held = open_stream(study.StreamConfig(name="pg19-validation"), seed=0)
    bits = []
    for part in held.parts:
        held.seek(part.start)
        bits.append(learner.evaluate(held.take(min(part.end - part.start, 800))).mean())
    one = {row["metric"]: row["value"] for row in rows if row["place"] is None}
    assert len(bits) == 5
    assert one["forward_bits"] == pytest.approx(np.mean(bits), rel=1e-12)
    each = [row["value"] for row in rows if row["metric"] == "forward_book"]
    assert each == pytest.approx(bits)
    stream = open_stream(config.stream, seed=0)
    assert one["backward_bits"] == pytest.approx(
        np.mean([_frozen(learner, stream, part.start, 800) for part in stream.parts[:3]]), rel=1e-12
    )
    assert len([row for row in rows if row["metric"] == "part_0"]) == 5


def _frozen(learner, stream, start, length):
    stream.seek(start)
    return learner.evaluate(stream.take(length)).mean()


def test_states_are_forgotten_at_every_book_only_as_published():
    settings = {"scale": "laptop", "arm": "rnn", "repetition": 0}
    assert study.config_of({**settings, "protocol": "paper"}).reset_states_per_book
    assert not study.config_of({**settings, "protocol": "fair"}).reset_states_per_book


def test_it_runs_from_a_command_without_any_corpus(tmp_path):
    rows = reproduce("pg19", "quick", "fair", tmp_path, workers=1, command="sharp reproduce pg19", only="counts-5")
    assert {row["arm"] for row in rows} == {"counts-5"}
    assert {"forward_bits", "current_bits", "backward_bits", "retention"} <= {row["metric"] for row in rows}
    assert "| Counts, order 5 |" in (tmp_path / "RESULTS.md").read_text()
    assert (tmp_path / "pg19.png").stat().st_size > 0
