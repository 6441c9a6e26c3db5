"""The hours a plan promises, by hand: rates are given, so that only the arithmetic is on trial; one measure is real."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.cli import main
from sharpstream.commands import plan as command
from sharpstream.config import (
    AdamConfig,
    CountsConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    StreamConfig,
)
from sharpstream.errors import ConfigError
from sharpstream.experiments import planning, speed
from sharpstream.experiments.harness import Job, experiment_named
from sharpstream.experiments.pace import wall_time
from sharpstream.experiments.planning import common_name, plan, probe_tokens
from sharpstream.experiments.speed import Speed, kind_of, measure, sleeps_of, source_of
from sharpstream.factory import LEARNERS, model_of

SHARP = RunConfig(sharp=SharpConfig(levels=2, width=8, embedding=4, sleep=SleepConfig(every=1_000, tags=3)))
COUNTS = RunConfig(learner="counts", counts=CountsConfig(order=1, table_bits=6))


@pytest.fixture
def study(monkeypatch):
    """Two arms, two seeds: SHARP learns 3,600 tokens and scores 100 after the run, counts learn 7,200 and probe."""
    runs = {
        "sharp": SHARP.replace(tokens=3_600),
        "counts": COUNTS.replace(tokens=7_200, probe_every=3_600, probe_length=20),
    }
    experiment = replace(
        experiment_named("drift"),
        jobs=lambda scale, protocol: [Job(f"{arm}-{seed}", {"arm": arm}) for seed in (0, 1) for arm in runs],
        runs=lambda job: [runs[job.settings["arm"]]],
        scored=lambda job: 100 if job.settings["arm"] == "sharp" else 0,
    )
    monkeypatch.setattr(planning, "experiment_named", lambda name: experiment)
    return experiment


class Given:
    """Speeds that are known: 1 token/s for SHARP, 2 for counts; scoring 10 times as fast; a sleep takes 50 s."""

    def __init__(self):
        self.asked = []

    def __call__(self, config, source):
        self.asked.append(config.learner)
        rate = 1.0 if config.learner == "sharp" else 2.0
        return Speed(learning=rate, scoring=10 * rate, sleep=50.0 if config.learner == "sharp" else 0.0)


@pytest.mark.parametrize(
    ("seconds", "workers", "expected"),
    [
        ([3, 1, 1, 1], 2, 3),  # one worker has the 3, the other the three 1s
        ([1, 1, 1, 3], 2, 4),  # 1 + 3 beside 1 + 1: the last job begins when a worker is free
        ([2, 2, 2], 1, 6),
        ([2, 5], 4, 5),  # no worker can help another
        ([], 2, 0),
    ],
)
def test_jobs_go_in_order_to_the_first_free_worker(seconds, workers, expected):
    assert wall_time(seconds, workers) == expected


def test_an_unknown_learner_has_no_settings_to_be_fingerprinted_by():
    with pytest.raises(ConfigError, match="there is no learner 'shrap'"):
        model_of(RunConfig(learner="shrap"))


def test_every_learner_is_fingerprinted_by_its_own_settings():
    own = {name: type(model_of(RunConfig(learner=name))).__name__ for name in LEARNERS}
    recurrent, counts = dict.fromkeys(("rnn", "lstm", "gru"), "RecurrentConfig"), "CountsConfig"
    named = {"sharp": "SharpConfig", "clockwork": "ClockworkConfig", "transformer": "TransformerConfig"}
    named["episodic"] = "EpisodicConfig"
    assert own == {**named, **recurrent, **dict.fromkeys(("counts", "unigram", "uniform"), counts)}


def test_at_time_k_a_probe_scores_k_plus_one_segments():
    run = RunConfig(probe_every=1_000, probe_length=200)
    assert probe_tokens(run, tokens=3_500, length=None) == 200 * (2 + 3 + 4)
    assert probe_tokens(run, tokens=3_000, length=3_000) == 200 * (2 + 3 + 3)  # segment 3 begins where the stream ends
    assert probe_tokens(run, tokens=3_000, length=3_200) == 200 * (2 + 3 + 4)
    assert probe_tokens(run, tokens=100, length=100) == 0
    assert probe_tokens(RunConfig(), tokens=10**6, length=None) == 0


def test_a_plan_counts_learning_sleeping_probing_and_scoring(study, tmp_path):
    given = Given()
    found = plan("study", "quick", "fair", tmp_path, workers=2, measured=given)
    assert given.asked == ["sharp", "counts"]  # each kind once, not each job
    sharp, counts = found.arms
    assert (sharp.name, sharp.jobs, sharp.tokens) == ("sharp-*", 2, 3_600)
    assert (sharp.cost.learning, sharp.cost.asleep, sharp.cost.scoring) == (3_600, 3 * 50, 100 / 10)
    assert (counts.cost.learning, counts.cost.asleep, counts.cost.scoring) == (3_600, 0, 20 * (2 + 3) / 20)
    assert found.busy == 2 * (3_760 + 3_605)
    assert found.wall == 3_605 + 3_760  # sharp-0 | counts-0, then sharp-1 where counts-0 ended, counts-1 last
    assert (found.jobs, found.done, found.drawn) == (4, 0, ())


def test_jobs_that_are_done_or_not_asked_for_are_not_counted(study, tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "sharp-0.json").touch()
    given = Given()
    found = plan("study", "quick", "fair", tmp_path, workers=2, only="sharp-*", measured=given)
    assert (found.jobs, found.done) == (2, 1)
    assert [(arm.name, arm.jobs) for arm in found.arms] == [("sharp-1", 1)]
    assert given.asked == ["sharp"]
    assert found.wall == found.busy == 3_760
    (tmp_path / "jobs" / "sharp-1.json").touch()
    rest = plan("study", "quick", "fair", tmp_path, workers=2, only="sharp-*", measured=given)
    assert (rest.arms, rest.done, rest.wall) == ((), 2, 0)
    assert given.asked == ["sharp"]  # nothing left, nothing measured
    with pytest.raises(ConfigError, match="no job of study is called 'lstm-\\*'; there are: sharp-0"):
        plan("study", "quick", "fair", tmp_path, workers=2, only="lstm-*", measured=given)


def test_a_job_without_runs_is_said_to_be_unknown(study, tmp_path, monkeypatch):
    some = replace(study, runs=lambda job: [SHARP] if job.key == "sharp-0" else [])
    monkeypatch.setattr(planning, "experiment_named", lambda name: some)
    found = plan("study", "quick", "fair", tmp_path, workers=2, measured=Given())
    assert (len(found.arms), found.unknown) == (1, 3)
    assert any("3 jobs make no run" in line for line in command.summary(found))


def test_only_what_decides_the_speed_makes_a_kind():
    def sharp(**changes):
        return kind_of(SHARP.replace(sharp=replace(SHARP.sharp, **changes)), 7)

    same = SHARP.replace(seed=5, tokens=9, stream=StreamConfig(name="text8", start=30, end=90), log_every=7)
    assert kind_of(same, 7) == sharp() == sharp(adam=AdamConfig(lr=0.5))
    assert kind_of(same.replace(recurrent=RecurrentConfig(width=3)), 7) == sharp()  # another learner's settings
    others = [sharp(width=9), sharp(tau=0.0), sharp(sleep=SleepConfig(trigger="never")), kind_of(SHARP, 27)]
    assert len({sharp(), *others, kind_of(COUNTS, 7), kind_of(COUNTS.replace(learner="unigram"), 7)}) == 7


def test_only_sleeps_that_can_be_foreseen_are_counted():
    def sleeps(**changes):
        return sleeps_of(SHARP.replace(sharp=replace(SHARP.sharp, **changes)), 3_999)

    assert sleeps() == 3
    assert sleeps(train_upper_awake=True) == 0
    assert sleeps(sleep=SleepConfig(trigger="novelty", every=1_000)) == 0
    assert sleeps_of(COUNTS, 10**6) == 0


def test_keys_of_one_arm_share_a_name():
    assert common_name(["sharp-3"]) == "sharp-3"
    assert common_name(["segment0-lstm-0", "segment12-lstm-0"]) == "segment*-lstm-0"
    assert common_name(["seed-10", "seed-11"]) == "seed-1*"


class Ticking:
    """A clock on which a second passes whenever it is looked at."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_rates_come_from_the_given_clock_and_leave_out_the_first_piece():
    run = COUNTS.replace(probe_length=500)
    found = measure(run, source_of(run.stream), seconds=4.0, clock=Ticking())
    assert found == Speed(learning=250.0, scoring=500.0)  # 250 tokens a tick; 250 then 500 tokens scored, a tick each
    assert measure(SHARP, source_of(SHARP.stream), seconds=1.0, clock=Ticking()).sleep == 1.0


def test_a_sleep_is_measured_with_every_tag_taken(monkeypatch):
    slept = []
    monkeypatch.setattr(
        speed, "make_learner", lambda *a, make=speed.make_learner, **k: slept.append(make(*a, **k)) or slept[-1]
    )
    measure(SHARP, source_of(SHARP.stream), seconds=0.01)
    reports = [report for learner in slept for report in learner.sleep_reports]
    assert [report["tags"] for report in reports] == [1, SHARP.sharp.sleep.tags]  # the first one only warms up
    assert reports[1]["replayed"] == SHARP.sharp.sleep.tags * SHARP.sharp.sleep.replay_length


def test_a_learner_that_reads_frozen_vectors_can_be_measured():
    run = SHARP.replace(sharp=replace(SHARP.sharp, input_size=5), tokens=100)
    found = measure(run, source_of(run.stream), seconds=0.01)
    assert found.learning > 0
    assert found.scoring > 0


def test_a_corpus_that_is_not_here_is_neither_fetched_nor_passed_over_in_silence(study, tmp_path, monkeypatch):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHARP_DATA", raising=False)
    source = source_of(StreamConfig(name="text8", start=1_000, end=4_000))
    assert (source.vocabulary, source.length, source.here) == (27, 3_000, False)
    run = COUNTS.replace(stream=source.config, tokens=5_000)
    assert measure(run, source, seconds=0.01).learning > 0
    monkeypatch.setattr(planning, "experiment_named", lambda name: replace(study, runs=lambda job: [run]))
    found = plan("study", "quick", "fair", tmp_path, workers=1, measured=Given())
    assert found.drawn == ("text8",)
    assert {arm.tokens for arm in found.arms} == {3_000}  # the stream ends before the run would
    assert "text8 is not on this machine: measured on uniformly drawn tokens instead." in command.summary(found)
    assert not (tmp_path / "cache").exists()


def test_a_short_stream_begins_again(tmp_path):
    (tmp_path / "text").write_text("the cat sat on the mat")
    take = speed._tap(source_of(StreamConfig(name=str(tmp_path / "text"))))
    assert np.array_equal(take(44)[:22], take(22))


@pytest.mark.parametrize("name", ["acceleration", "head-depth", "drift"])
def test_a_study_of_runs_says_which_for_every_job(name):
    experiment = experiment_named(name)
    for scale in ("quick", "laptop", "paper"):
        for job in experiment.jobs(scale, "fair"):
            (run,) = experiment.runs(job)
            assert (run.tokens, run.seed) == (job.settings["tokens"], job.settings["seed"])
    assert experiment_named("drift").scored(Job("x", {"tokens": 20_000})) == 21_000


# ---- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def quickly(monkeypatch):
    """The command with known speeds."""
    monkeypatch.setattr(command, "plan", lambda *a, **k: plan(*a, **k, measured=Given()))


def test_the_command_prints_a_row_per_arm_and_the_total(study, quickly, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    done = tmp_path / "reproduced" / "drift-quick-fair" / "jobs"
    done.mkdir(parents=True)
    (done / "counts-1.json").touch()
    assert main(["plan", "drift", "--scale", "quick"]) == 0
    said = capsys.readouterr()
    assert "measuring 1 of 2 kinds of run (sharp) ..." in said.err
    row = next(line for line in said.out.splitlines() if "sharp-*" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")][1:] == [
        "2", "sharp", "3,600", "1", "4 %", "0 %", "1.044", "2.089"
    ]  # fmt: skip
    assert "1 of 4 jobs are done and not counted." in said.out
    assert "Total: 3 jobs, 3.09 CPU hours; with 2 workers 2 h 02 min from start to end (2.05 h)." in said.out
    assert "Runs side by side share caches and memory bandwidth" in said.out


def test_the_command_gives_the_same_as_json(study, quickly, tmp_path, capsys):
    assert main(["plan", "drift", "--scale", "quick", "--jobs", "1", "--out", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["cpu_hours"] == said["wall_hours"] == pytest.approx(2 * (3_760 + 3_605) / 3_600)
    assert [arm["arm"] for arm in said["arms"]] == ["sharp-*", "counts-*"]
    assert said["arms"][1]["hours_per_job"] == pytest.approx(3_605 / 3_600)
    assert (said["experiment"], said["done"], said["drawn_tokens_for"]) == ("drift", 0, [])


def test_a_plan_is_of_the_laptop_scale_unless_another_is_given(study, quickly, tmp_path, capsys):
    assert main(["plan", "drift", "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scale"] == "laptop"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["drfit", "--scale", "quick"], "there is no experiment 'drfit'"),
        (["drift", "--scale", "huge"], "--scale"),
        (["drift", "--scale", "quick", "--jobs", "0"], "jobs = 0"),
        (["drift", "--scale", "quick", "--only", "x*"], "no job of drift is called 'x*'"),
        (["replay-quality", "--scale", "quick"], "replay-quality cannot be planned"),
        (["memory-carryover", "--scale", "paper"], "memory-carryover cannot be planned"),
    ],
)
def test_what_cannot_be_planned_is_one_line_and_exit_code_2(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("sharp: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert list(tmp_path.iterdir()) == []


def test_without_pytorch_the_rest_is_planned_and_what_is_missing_is_said(study, tmp_path, monkeypatch):
    some = replace(
        study, runs=lambda job: [SHARP if job.key.startswith("sharp") else RunConfig(learner="transformer", tokens=100)]
    )
    monkeypatch.setattr(planning, "experiment_named", lambda name: some)
    monkeypatch.setitem(sys.modules, "torch", None)
    given = Given()
    found = plan("study", "quick", "fair", tmp_path, workers=2, measured=given)
    assert given.asked == ["sharp"]
    assert (found.missing, found.unknown) == (("transformer", "transformer"), 0)
    assert any("2 jobs of the transformer are not counted: it needs PyTorch" in line for line in command.summary(found))
