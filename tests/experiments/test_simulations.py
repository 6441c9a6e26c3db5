"""Each study runs end to end on small jobs, never loses a finished one, and says what it found."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.errors import ConfigError, RunError
from sharpstream.experiments import harness
from sharpstream.experiments.harness import EXPERIMENTS, Experiment, Job, experiment_named, reproduce
from sharpstream.experiments.simulations import acceleration, drift, halfway, memory_carryover, replay_quality
from sharpstream.experiments.simulations.common import by_seed, error_curve, final_errors, near, quartiles

SMALL = {  # the quick scale, smaller still: one job of each kind is enough here
    "memory-carryover": {"tokens": 400, "probe": 400},
    "drift": {"tokens": 2_000},
    "head-depth": {"tokens": 10_000},
    "replay-quality": {"tokens": 2_000, "every": 1_000},
    "acceleration": {"tokens": 20_000},
}


def small_rows(name: str, tmp_path) -> tuple[Experiment, list[dict]]:
    experiment = experiment_named(name)
    jobs = experiment.jobs("quick", "fair")
    rows = []
    for job in jobs[: 3 if name != "acceleration" else 9]:
        smaller = Job(job.key, {**job.settings, **SMALL[name]})
        rows += experiment.work(smaller, tmp_path / job.key)
    return experiment, rows


@pytest.mark.parametrize("name", SMALL)
def test_a_study_gives_rows_a_figure_and_findings(name, tmp_path):
    experiment, rows = small_rows(name, tmp_path)
    assert rows
    assert all("seed" in row for row in rows)
    numbers = [value for row in rows for value in row.values() if isinstance(value, float)]
    assert np.isfinite(numbers).all()
    assert experiment.figure(rows).axes
    verdicts = {finding.verdict for finding in experiment.findings(rows)}
    assert verdicts <= {"holds", "differs", "no difference", "not decided", "not decided (n = 1)", "not run"}
    assert not list(tmp_path.iterdir())  # runs are let go when their rows are kept


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_scale_names_each_job_once_and_repetitions_share_nothing(name):
    experiment = experiment_named(name)
    for scale in ("quick", "laptop", "paper"):
        for protocol in ("fair", "paper"):
            keys = [job.key for job in experiment.jobs(scale, protocol)]
            assert len(set(keys)) == len(keys) > 0


def test_arms_of_one_repetition_share_stream_and_start():
    configs = [acceleration.config_of(arm, 4, 3, 1_000, "fair") for arm in ("alpha 4", "no sleep", "alpha 2")]
    assert len({(config.stream, config.seed) for config in configs}) == 1
    fair = acceleration.config_of("alpha 6", 4, 3, 1_000, "fair").sharp
    assert fair.sleep.replay_length == 4 * 6**2
    assert acceleration.config_of("alpha 6", 4, 3, 1_000, "paper").sharp.sleep.replay_length == 16


def test_the_gate_stops_the_drift_that_goes_on_without_it(tmp_path):
    rows = []
    for arm in ("gated", "ungated"):
        rows += drift.work(Job(arm, {"arm": arm, "seed": 0, "tokens": 12_000}), tmp_path)
    late = {arm: by_seed(drift.span(rows, arm, 9_000, 12_000), "drift")[0] for arm in ("gated", "ungated")}
    assert late["gated"] < 0.2 * late["ungated"]


def test_what_is_inside_the_window_can_be_read_back(tmp_path):
    job = Job("x", {"regime": "random", "window": 4, "seed": 0, "protocol": "fair", "tokens": 4_000, "probe": 2_000})
    rows = memory_carryover.work(job, tmp_path)
    assert memory_carryover.errors(rows, "random", "random", 4, [3])[0] < 0.02  # x_{t−3} is the window's first
    assert memory_carryover.errors(rows, "random", "random", 4, [6])[0] > 0.1


def test_replay_is_looked_at_most_where_it_changes_fastest():
    assert replay_quality.times(30_000, 10_000) == [*range(1_000, 10_001, 1_000), 20_000, 30_000]


class Counting:
    """A study that counts how often it works."""

    def __init__(self, log):
        self.log = log
        self.experiment = replace(experiment_named("drift"), jobs=self.jobs, work=self.work, runs=None)

    def jobs(self, scale, protocol):
        return [Job(f"job-{i}", {"seed": i}) for i in range(3)]

    def work(self, job, directory):
        self.log.append(job.key)
        return [
            {"arm": arm, "seed": job.settings["seed"], "tokens": 1_000, "drift": 0.5, "updates": 1}
            for arm in drift.ARMS
        ]


def test_a_repeated_command_runs_only_what_is_missing(tmp_path, monkeypatch, without_workers):
    log = []
    study = Counting(log)
    monkeypatch.setattr(harness, "experiment_named", lambda name: study.experiment)
    rows = reproduce("drift", "quick", "fair", tmp_path, workers=1, command="sharp reproduce drift")
    (tmp_path / "jobs" / "job-1.json").unlink()
    again = reproduce("drift", "quick", "fair", tmp_path, workers=1, command="sharp reproduce drift")
    assert log == ["job-0", "job-1", "job-2", "job-1"]
    assert rows == again
    with (tmp_path / "rows.csv").open() as file:
        kept = list(csv.DictReader(file))
    assert len(kept) == 6
    assert {row["command"] for row in kept} == {"sharp reproduce drift"}
    assert all(row["hardware"] for row in kept)
    assert {path.name for path in tmp_path.iterdir()} == {"jobs", "rows.csv", "drift.png", "drift.pdf", "RESULTS.md"}
    (tmp_path / "jobs" / "job-1.json").write_text(json.dumps({"settings": {"seed": 7}, "rows": []}))
    with pytest.raises(RunError, match="other settings"):
        reproduce("drift", "quick", "fair", tmp_path, workers=1, command="sharp reproduce drift")


def test_an_unknown_experiment_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="memory-carryover, drift"):
        experiment_named("drfit")


def test_the_common_numbers_by_hand(tmp_path):
    rows = [{"x": 1, "y": value} for value in (0.0, 1.0, 2.0, 3.0, 4.0)]
    at, bands = quartiles(rows, "x", "y")
    assert at.tolist() == [1]
    assert bands[:, 0].tolist() == [1.0, 2.0, 3.0]
    curve = [{"seed": seed, "tokens": t, "error": seed + t / 10} for seed in (0, 1, 2) for t in (1, 2, 3, 4)]
    assert final_errors(curve, 4, 2) == pytest.approx({0: 0.35, 1: 1.35, 2: 2.35})  # seed 0: mean of 0.3 and 0.4
    assert near("c", 0.2, {0: 0.214, 1: 0.215, 2: 0.216}).verdict == "holds"
    assert near("c", 0.2, {0: 0.229, 1: 0.230, 2: 0.231}).verdict == "differs"
    assert near("c", 0.2, {0: 0.1, 1: 0.2, 2: 0.3}).verdict == "not decided", "the median is right, the spread is wide"
    assert near("c", 0.2, {0: 0.2}).verdict == "not decided (n = 1)"
    assert near("c", 0.2, {}).verdict == "not run"
    config = acceleration.config_of("one level", 2, 0, 4_000, "fair")
    points = error_curve(tmp_path / "run", config, 250)
    assert [point["tokens"] for point in points] == list(range(250, 4_001, 250))
    few = error_curve(tmp_path / "run", config, 2_000)
    assert [point["tokens"] for point in few] == list(range(400, 4_001, 400)), "ten points make a curve"


# ---- how soon -------------------------------------------------------------------------------------------------------


def fall(k, arm, seed, halfway_at):
    """A run of 1M tokens whose error falls from 0.33 to 0.21 at one point."""
    points = range(20_000, 1_000_001, 20_000)
    return [{"k": k, "arm": arm, "seed": seed, "tokens": n, "error": 0.33 if n < halfway_at else 0.21} for n in points]


def test_halfway_is_found_in_each_repetition_by_hand():
    rows = fall(4, "alpha 4", 1, 100_000) + fall(4, "alpha 4", 0, 60_000) + fall(4, "alpha 4", 2, 2_000_000)
    assert halfway.tokens_until_halfway(rows) == {0: 60_000, 1: 100_000, 2: math.inf}
    assert halfway.told([60_000, math.inf]) == "60k, never"
    line = "| SHARP | 0.210, 0.210, 0.330 | 60k, 100k, never |"
    assert line in halfway.table("", {"SHARP": rows, "none": []}, 1_000_000, 100_000)
    assert line in acceleration.page(rows)


@pytest.mark.parametrize(
    ("k", "asleep", "awake", "verdict"),
    [
        (4, 60_000, 200_000, "holds"),
        (4, 60_000, 80_000, "no difference"),  # one line of the log
        (4, 60_000, 2_000_000, "holds"),  # without sleep it never gets there
        (4, 2_000_000, 2_000_000, "no difference"),  # neither does
        (4, 200_000, 60_000, "differs"),
        (2, 60_000, 80_000, "holds"),
        (2, 60_000, 200_000, "differs"),
    ],
)
def test_sleep_helps_when_it_is_sooner_beyond_the_local_horizon(k, asleep, awake, verdict):
    halfway_at = {arm: awake if arm == "no sleep" else asleep for arm in acceleration.ARMS}
    rows = [row for seed in range(6) for arm, at in halfway_at.items() for row in fall(k, arm, seed, at)]
    told = "helps to learn sooner" if k > 2 else "makes nothing sooner"
    claim = f"K {k}: sleep {told} (equal start)"
    assert verdicts_of(rows)[claim] == verdict
    assert verdicts_of([row for row in rows if row["seed"] == 0])[claim] == "not decided (n = 1)"
    five = verdicts_of([row for row in rows if row["seed"] < 5])[claim]
    never = max(asleep, awake) > 1_000_000
    assert five == ("not decided" if never else verdict), "a run that never gets there leaves ranks: five are too few"


def verdicts_of(rows):
    return {finding.claim: finding.verdict for finding in acceleration.findings(rows)}


@pytest.mark.parametrize(
    ("k", "claim", "alpha_6", "verdict"),
    [
        (2, "α = 4 ends as α = 6", (0.21, 0.21, 0.21), "holds"),
        (2, "α = 4 ends as α = 6", (0.30, 0.31, 0.30), "differs"),  # α 4 is the best, and they are not alike
        (2, "α = 4 ends as α = 6", (0.21, 0.31, 0.21), "not decided"),
        (4, "α = 4 ends better than α = 6", (0.30, 0.31, 0.30), "holds"),
        (4, "α = 4 ends better than α = 6", (0.21, 0.21, 0.21), "no difference"),
        (4, "α = 4 ends better than α = 6", (0.15, 0.16, 0.15), "differs"),
    ],
)
def test_all_alike_is_not_that_alpha_4_is_the_best(k, claim, alpha_6, verdict):
    ends = {"alpha 1": (0.3,) * 3 if k > 2 else (0.21,) * 3, "alpha 4": (0.21,) * 3, "alpha 6": alpha_6}
    ends["alpha 2"] = ends["alpha 1"]
    rows = [
        {"k": k, "arm": arm, "seed": seed, "tokens": 1_000_000, "error": error}
        for arm, errors in ends.items()
        for seed, error in enumerate(errors)
    ]
    assert verdicts_of(rows)[f"K {k}: {claim}"] == verdict


def test_a_quick_look_draws_a_curve_and_judges_nothing(tmp_path):
    rows = reproduce("acceleration", "quick", "fair", tmp_path, workers=1, command="sharp", only="K2-rnn-0")
    assert len({row["tokens"] for row in rows}) == 10
    page = (tmp_path / "RESULTS.md").read_text()
    assert "too small to say" in page
    assert "**holds**" not in page
    assert "**Holds here:**" not in page
