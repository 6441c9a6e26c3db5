"""The studies of sleep and of the slow level: jobs named once, arms that differ, verdicts by spread."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from sharpstream.experiments.harness import reproduce
from sharpstream.experiments.language import episodic_sleep, episodic_slow
from sharpstream.experiments.language.episodic_trials import WITHOUT, gain

STUDIES = {"episodic-sleep": episodic_sleep, "episodic-slow": episodic_slow}


@pytest.mark.parametrize("study", STUDIES)
def test_jobs_are_named_once_at_every_scale(study):
    for scale in ("quick", "laptop", "paper"):
        keys = [job.key for job in STUDIES[study].EXPERIMENT.jobs(scale, "fair")]
        assert len(set(keys)) == len(keys) > 0


@pytest.mark.parametrize("study", STUDIES)
def test_every_arm_is_a_learner_of_its_own(study):
    for trial in STUDIES[study].TRIALS.values():
        configs = [str(asdict(replace(trial.common, **changes))) for changes in trial.arms.values()]
        assert len(set(configs)) == len(configs)
        assert trial.arms[WITHOUT] == {}


@pytest.mark.parametrize(("study", "only"), [("episodic-sleep", "keeping-*"), ("episodic-slow", "*")])
def test_a_study_runs_without_any_corpus(study, only, tmp_path):
    rows = reproduce(study, "quick", "fair", tmp_path, workers=1, command=f"sharp reproduce {study}", only=only)
    assert np.isfinite([row["value"] for row in rows]).all()
    page = (tmp_path / "RESULTS.md").read_text()
    assert "too small to say" in page
    assert "bits above without" in page
    assert (tmp_path / f"{study}.png").stat().st_size > 0


def row(segment, arm, value):
    return {"trial": "text8", "arm": arm, "segment": segment, "metric": "bits", "value": value, "tokens": 1}


def test_differences_are_paired_by_segment_and_one_segment_decides_nothing():
    rows = [row(s, WITHOUT, 1.6 + s) for s in range(3)]
    rows += [row(s, episodic_slow.SLOW, 1.6 + s - 0.01 - 0.001 * s) for s in range(3)]
    found = gain(rows, "text8", episodic_slow.SLOW)
    assert found is not None
    assert found.mean == pytest.approx(-0.011)
    assert found.high < 0.0
    assert episodic_slow.findings(rows)[0].verdict == "holds"
    single = [r for r in rows if r["segment"] == 0]
    assert episodic_slow.findings(single)[0].verdict == "not decided (n = 1)"


def test_a_switch_is_where_a_piece_begins():
    texts = [np.zeros(100, dtype=int), np.ones(50, dtype=int)]
    read = episodic_slow.in_turn(texts, 20, 1_000)
    assert len(read) == 100 + 40
    assert (read.reshape(-1, 20).std(axis=1) == 0).all()


def test_bits_since_a_switch_are_those_of_its_symbols():
    bits = np.tile(np.r_[np.full(250, 3.0), np.full(4_750, 1.0)], 8)
    found = episodic_slow.since_switch(bits, 5_000)
    assert found == {"bits_since_0": 3.0, "bits_since_250": 1.0, "bits_since_1000": 1.0, "bits_since_4000": 1.0}
