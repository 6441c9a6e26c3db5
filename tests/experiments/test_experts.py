"""Experts: the study runs without a corpus, and a learner made of two survives a stop to the last bit."""

import numpy as np
import pytest

from sharpstream.config import EpisodicConfig, RunConfig, SharpConfig
from sharpstream.evaluate.rows import MADE_BY, Row
from sharpstream.experiments import experts
from sharpstream.experiments.harness import reproduce
from sharpstream.frozen import opened
from sharpstream.loop import run

MADE = dict.fromkeys(MADE_BY, "x")


def test_jobs_are_named_once_at_every_scale():
    for scale in ("quick", "laptop", "paper"):
        keys = [job.key for job in experts.EXPERIMENT.jobs(scale, "fair")]
        assert len(set(keys)) == len(keys) > 0


def test_it_runs_from_a_command_without_any_corpus(tmp_path):
    told = "sharp reproduce experts"
    rows = reproduce("experts", "quick", "fair", tmp_path, workers=1, command=told, only="*-episodic-with-SHARP-0")
    assert {row["metric"] for row in rows} == {"error", "bits"}
    assert "episodic + SHARP" in (tmp_path / "RESULTS.md").read_text()


def test_a_rule_that_is_found_by_all_seeds_holds_and_one_seed_decides_nothing():
    def rows(seeds, ours):
        errors = {"episodic": 0.333, "episodic + SHARP": ours}
        return [
            Row(
                {
                    **MADE,
                    "k": 6,
                    "arm": arm,
                    "seed": seed,
                    "tokens": 100,
                    "metric": "error",
                    "error": error + seed / 1e4,
                }
            )
            for arm, error in errors.items()
            for seed in range(seeds)
        ]

    assert experts.findings(rows(3, 0.214))[0].verdict == "holds"
    assert experts.findings(rows(3, 0.334))[0].verdict == "no difference"
    assert experts.findings(rows(1, 0.214))[0].verdict == "not decided (n = 1)"


@pytest.mark.parametrize("expert", ["sharp", "gru"])
def test_a_run_with_an_expert_continues_to_the_last_bit(expert, tmp_path):
    config = RunConfig(
        learner="episodic",
        episodic=EpisodicConfig(memory="1MB", network=0, expert=expert),
        sharp=SharpConfig(levels=2, width=8, embedding=4, depth=1),
        tokens=3_000,
        log_every=500,
    )
    run(tmp_path / "whole", config)
    run(tmp_path / "parts", config.replace(tokens=1_300))
    run(tmp_path / "parts", config)
    whole, parts = (opened(tmp_path / name).learner.state_dict() for name in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    for name in whole:
        np.testing.assert_array_equal(whole[name], parts[name], err_msg=name)
