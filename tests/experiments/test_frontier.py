"""The frontier: its jobs are named once, a small one has its numbers, and a floor needs more than one segment."""

import numpy as np
import pytest

from sharpstream.config import EpisodicConfig
from sharpstream.errors import DataError, RunError
from sharpstream.experiments.harness import do_job, reproduce
from sharpstream.experiments.language import frontier, frontier_page, frontier_texts
from sharpstream.experiments.pace import logged_tokens
from sharpstream.learners.episodic import Episodic


def row(segment, metric, value, arm="episodic", tokens=10_000_000):
    return {"arm": arm, "segment": segment, "metric": metric, "value": value, "tokens": tokens}


def test_jobs_are_named_once_at_every_scale():
    for scale in ("quick", "laptop", "paper"):
        keys = [job.key for job in frontier.EXPERIMENT.jobs(scale, "fair")]
        assert len(set(keys)) == len(keys) > 0


def test_a_floor_is_judged_over_segments_of_full_length_only():
    one = frontier_page.findings([row(0, "bits", 1.4)])[0]
    assert one.verdict == "not decided (n = 1)"
    three = frontier_page.findings([row(s, "bits", bits) for s, bits in enumerate((1.400, 1.401, 1.402))])[0]
    assert (three.verdict, three.ours) == ("holds", "1.4000, 1.4010, 1.4020")
    above = frontier_page.findings([row(s, "bits", bits) for s, bits in enumerate((1.600, 1.601, 1.602))])[0]
    assert above.verdict == "differs"
    assert frontier_page.findings([row(s, "bits", 1.4, tokens=1_000_000) for s in range(3)]) == []


def test_what_a_part_earns_is_paired_on_the_same_text():
    """Without words the second segment is still below the first with them: only pairs show that words pay."""
    whole, without = (1.5, 1.3, 1.4), (1.6, 1.401, 1.501)
    rows = [row(s, "bits", bits, tokens=1_000) for s, bits in enumerate(whole)]
    rows += [row(s, "bits", bits, arm="episodic, no words", tokens=1_000) for s, bits in enumerate(without)]
    (words,) = frontier_page.findings(rows)
    assert (words.claim, words.ours, words.verdict) == ("words: pays", "-0.1007 bits", "holds")


def test_it_runs_from_a_command_without_any_corpus(tmp_path):
    told = "sharp reproduce frontier"
    rows = reproduce("frontier", "quick", "fair", tmp_path, workers=1, command=told, only="segment0-counts-5")
    assert {one["metric"] for one in rows} >= {"bits", "microseconds"}
    assert np.isfinite([one["value"] for one in rows]).all()
    assert (tmp_path / "frontier.png").stat().st_size > 0
    assert logged_tokens(tmp_path / "runs" / "segment0-counts-5") == 6_000, "how far a job is, is told from its log"


def test_a_row_made_with_other_settings_is_noticed(monkeypatch, tmp_path):
    told, only = "sharp reproduce frontier", "segment0-episodic-fast"
    monkeypatch.setitem(frontier.ARMS, "episodic fast", frontier.without(network=0, residual=False, orders=2))
    job = next(job for job in frontier.jobs("quick", "fair") if job.key == only)
    do_job("frontier", job, tmp_path)
    monkeypatch.setitem(frontier.ARMS, "episodic fast", frontier.without(network=0, residual=False, orders=3))
    with pytest.raises(RunError, match="orders"):
        reproduce("frontier", "quick", "fair", tmp_path, workers=1, command=told, only=only)


def test_the_learner_that_reads_the_last_is_the_same_without_its_mean():
    x = np.random.default_rng(0).integers(0, 27, 900)
    averaged = Episodic(EpisodicConfig(memory="256kB", network=4, mean_every=300), 27)
    plain = Episodic(EpisodicConfig(memory="256kB", network=4, mean_every=0), 27)
    assert averaged.learn(x).tolist() == plain.learn(x).tolist()
    last = frontier.reading_the_last(averaged).evaluate(x[:100])
    assert last.tolist() == plain.evaluate(x[:100]).tolist() != averaged.evaluate(x[:100]).tolist()


def test_what_the_mean_earns_is_paired_on_the_same_text():
    rows = [row(s, m, 1.7 + s / 10 + gain) for s in range(3) for m, gain in (("forward", -0.01), ("forward_last", 0.0))]
    (found,) = [one for one in frontier_page.findings(rows) if "mean" in one.claim]
    assert (found.ours, found.verdict) == ("-0.0100 bits", "holds")


def test_texts_that_are_not_text8_run_from_a_command_without_any_corpus(tmp_path):
    told = "sharp reproduce frontier-texts"
    rows = reproduce("frontier-texts", "quick", "fair", tmp_path, workers=1, command=told, only="help-*")
    assert {row["arm"] for row in rows} == {*frontier_texts.LEARNERS, *frontier_texts.BESIDE}
    assert len({row["sha256"] for row in rows}) == 1
    page = (tmp_path / "RESULTS.md").read_text()
    assert "| episodic below PPMd-16 and zpaq -m5 | - | help" in page
    assert "too small to say" in page


def test_without_the_logs_the_job_says_what_to_get(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARP_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"no loghub.zip in SHARP_DATA"):
        frontier_texts.real_logs(100)
