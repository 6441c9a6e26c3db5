"""Effective context: a memory that is wiped every m tokens costs what it is worth, and the study says so."""

import numpy as np
import pytest

from sharpstream.config import StreamConfig
from sharpstream.experiments import effective_context as study
from sharpstream.experiments.harness import Job, reproduce
from sharpstream.factory import make_learner
from sharpstream.streams import open_stream


def job(arm: str, place: str = "nonlinear-2") -> Job:
    return Job("", {"scale": "quick", "protocol": "fair", "place": place, "arm": arm})


def test_the_rows_are_the_scores_of_the_learner_itself(tmp_path):
    rows = study.work(job("sharp-3"), tmp_path / "run")
    config = study.config_of(job("sharp-3").settings)
    learner = make_learner(config, 7)
    stream = open_stream(config.stream, seed=config.seed)
    learner.learn(stream.take(config.tokens))
    after = stream.take(study.SCALES["quick"].scored)
    assert [row["every"] for row in rows] == [4, 16, 64, 256, 0]
    parts = study.staggered(after)
    bits, wrong = [], []
    for part in parts:
        bits.append(learner.evaluate_with_resets(part, 16))
        wrong.append(1.0 - learner.correct)
    late = np.arange(parts[0].size) % 16 >= 8
    assert rows[1]["bits"] == pytest.approx(np.mean(bits))
    assert rows[1]["error"] == pytest.approx(np.mean(wrong))
    assert rows[1]["error_late"] == pytest.approx(np.mean([part[late] for part in wrong]))
    assert rows[-1]["bits"] == pytest.approx(np.mean([learner.evaluate(part) for part in parts]))


def test_the_shortest_memory_meets_every_place_of_a_visit():
    """A visit is four tokens: wiped every four from one start, only two of its places would be scored."""
    stream = open_stream(StreamConfig(name="nonlinear", k=2), seed=0)
    hub = np.flatnonzero(np.bincount(stream.take(4_000)) == 1_000)[0]
    parts = study.staggered(stream.take(2_048))
    late = np.concatenate([study.remembered(part, 4) for part in parts])
    assert (late == hub).mean() == pytest.approx(1 / 4, abs=0.01)


def test_a_count_model_of_order_five_uses_no_more_than_eight_tokens():
    """By hand: flat from m = 8 on."""
    curve = {4: 2.6, 8: 2.205, 16: 2.2, 32: 2.199, 4096: 2.199}
    rows = [{"place": "text", "arm": "counts", "every": m, "bits_late": bits} for m, bits in curve.items()]
    assert study.reach(rows, "text", "counts") == 8
    assert study.reach(rows, "text", "rnn") is None
    assert "Counts 8" in study.findings(rows)[0].ours
    assert study.figure(rows).axes


def test_levels_differ_in_nothing_but_what_a_longer_replay_needs():
    one, five = (study.config_of(job(arm).settings).sharp for arm in ("sharp-1", "sharp-5"))
    assert (one.levels, five.levels) == (1, 5)
    assert five.sleep.replay_length == five.window * five.acceleration**4
    assert study.with_levels(one, 5) == five


@pytest.mark.timeout(900)
def test_it_runs_from_a_command(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "ARMS", ("sharp-1", "rnn", "counts"))
    rows = reproduce("effective-context", "quick", "fair", tmp_path, workers=1, command="sharp reproduce")
    assert {row["place"] for row in rows} == {"text", "nonlinear-2"}
    assert np.isfinite([row["bits"] for row in rows]).all()
    assert "tokens of context used, text" in (tmp_path / "RESULTS.md").read_text()
