"""The language studies: every number is what it says, arms differ in one thing, nothing reported was tuned on."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sharpstream.commands.reproduce import ReproduceOptions, whole_command
from sharpstream.config import RunConfig, StreamConfig
from sharpstream.errors import ConfigError, RunError
from sharpstream.evaluate.probes import score_probe
from sharpstream.evaluate.protocols import FAIR
from sharpstream.evaluate.rows import MADE_BY, Row
from sharpstream.experiments import harness, recipes
from sharpstream.experiments.harness import Job, experiment_named, reproduce
from sharpstream.experiments.language import (
    kept_scores,
    pictures,
    published,
    runaways,
    segments,
    tables,
    text8,
    text8_sleep,
    text8_threshold,
    text8_tuning,
    variants,
)
from sharpstream.experiments.language.arms import BLOCKS, SIZES, run_of
from sharpstream.experiments.language.measure import DIRECTIONS, measured, read
from sharpstream.factory import make_learner
from sharpstream.learners.compressors import ppmd

QUICK = {job.settings["arm"]: job for job in segments.jobs("quick", "fair") if job.settings["segment"] == 0}


def rows_of(tmp_path, *arms: str) -> list[dict]:
    found = [row for arm in arms for row in segments.work(QUICK[arm], tmp_path / arm)]
    stamp = {"experiment": "text8", "protocol": "fair", "command": "-", "hardware": "-", "software": "-"}
    return [{**row, **stamp} for row in found]


def test_the_numbers_of_an_arm_are_those_of_its_learner(tmp_path):
    """Counts on the first 6,000 characters, the future 12,000 to 13,000, by hand."""
    rows = rows_of(tmp_path, "counts-2")
    corpus = StreamConfig(name="python-docs")
    learner = make_learner(RunConfig(learner="counts", counts=run_of("counts-2", SIZES["tiny"], "fair").counts), 27)
    before = np.concatenate([learner.learn(read(corpus, (0, 6_000)))])
    one = {row["metric"]: row["value"] for row in rows if row["metric"] not in ("curve", "retention")}
    assert one["bits"] == pytest.approx(before.mean(), rel=1e-12)
    assert one["forward_bits"] == pytest.approx(learner.evaluate(read(corpus, (12_000, 13_000))).mean(), rel=1e-12)
    assert one["current_bits"] == pytest.approx(learner.evaluate(read(corpus, (5_000, 6_000))).mean(), rel=1e-12)
    assert one["backward_bits"] == pytest.approx(learner.evaluate(read(corpus, (0, 1_000))).mean(), rel=1e-12)
    parts = [row["value"] for row in rows if row["metric"] == "forward_part"]
    assert parts == pytest.approx(learner.evaluate(read(corpus, (12_000, 13_000))).reshape(20, 50).mean(axis=1))
    curve = [row["value"] for row in rows if row["metric"] == "curve"]
    assert curve == pytest.approx(before.reshape(6, 1_000).mean(axis=1), rel=1e-12)
    assert {row["clip"] for row in rows if row["metric"].endswith("clipped")} == {4.755}
    assert {row["clip"] for row in rows if not row["metric"].endswith("clipped")} == {None}


def test_a_run_whose_times_were_torn_by_a_full_disk_still_gives_its_rows(tmp_path):
    whole = rows_of(tmp_path, "unigram")
    with (tmp_path / "unigram" / "timing.jsonl").open("a") as times:
        times.write('{"event": "interv')
    assert rows_of(tmp_path, "unigram") == whole


def test_a_compressor_stands_on_the_same_text_and_says_that_it_adapts(tmp_path):
    pytest.importorskip("pyppmd")
    rows = rows_of(tmp_path, "ppmd-4")
    text = read(StreamConfig(name="python-docs"), (0, 6_000))
    assert rows[0]["value"] == pytest.approx(ppmd(4).prequential(text, 27))
    assert {row["score_context"] for row in rows} == {"adaptive"}
    assert "goes on learning while it is scored" in tables.main_table(rows, "")
    assert "goes on learning" not in tables.main_table(rows_of(tmp_path, "unigram"), "")


def test_pages_and_pictures_of_what_is_there(tmp_path):
    experiment = experiment_named("text8")
    rows = rows_of(tmp_path, "sharp", "rnn", "counts-5", "unigram")
    page = experiment.page(rows)
    assert "| SHARP |" in page
    pictures = experiment.more_figures(rows)
    assert set(pictures) == {"probes", "retention", "gate", "tradeoff"}
    gate = pictures["gate"].axes[0]
    assert gate.get_ylim()[0] == 0.0, "a gate that is shut is at 0, which a plain logarithm could not show"
    assert pictures["gate"].legends[0].get_texts()[0].get_text().endswith("%")
    assert experiment.figure(rows).axes
    found = {finding.claim: finding.verdict for finding in experiment.findings(rows)}
    assert found["SHARP is better than LSTM (prequential, paired)"] == "not run"
    assert found["SHARP is better than Counts, order 5 (prequential, paired)"] == "not decided (n = 1)"


def test_an_experiment_of_which_a_job_failed_shows_the_others_and_says_which(tmp_path, monkeypatch, without_workers):
    def but_one(experiment, wanted, missing, out, workers, work):
        without_workers(experiment, wanted, missing[1:], out, workers)
        return {missing[0].key: RunError("the disk is full")}

    monkeypatch.setattr(harness, "_run", but_one)
    again = {"workers": 1, "command": "-"}
    with pytest.raises(RunError, match=r"1 of 2 jobs failed \(segment0-uniform: the disk is full\); repeat"):
        reproduce("text8", "quick", "fair", tmp_path / "two", **again, only="segment0-uni*")
    assert "Unigram" in (tmp_path / "two" / "RESULTS.md").read_text()
    with pytest.raises(RunError, match="1 of 1 jobs failed"):
        reproduce("text8", "quick", "fair", tmp_path / "one", **again, only="segment0-uniform")
    assert not (tmp_path / "one").exists()


def test_an_interrupted_experiment_shows_what_it_has_and_says_so(tmp_path, without_workers):
    reproduce("text8", "quick", "fair", tmp_path, workers=1, command="sharp reproduce text8", only="segment0-uni*")
    page = (tmp_path / "RESULTS.md").read_text()
    assert f"2 of {len(segments.jobs('quick', 'fair'))} jobs" in page
    with pytest.raises(ConfigError, match="no job of text8 is called 'nobody'"):
        reproduce("text8", "quick", "fair", tmp_path, workers=1, command="-", only="nobody")


def test_a_job_of_a_recipe_that_changed_since_is_not_taken_for_the_new_one(tmp_path, without_workers):
    again = {"workers": 1, "command": "-", "only": "segment0-rnn"}
    reproduce("text8", "quick", "fair", tmp_path, **again)
    kept = tmp_path / "jobs" / "segment0-rnn.json"
    made = json.loads(kept.read_text())
    del made["runs"][0]["model"]["carry"]  # a setting that came later decided nothing
    kept.write_text(json.dumps(made))
    reproduce("text8", "quick", "fair", tmp_path, **again)
    made["runs"][0]["model"]["adam"]["lr"] = 0.5
    kept.write_text(json.dumps(made))
    with pytest.raises(RunError, match=r"other settings \(model.adam.lr: 0.5"):
        reproduce("text8", "quick", "fair", tmp_path, **again)


def test_rows_name_the_command_that_makes_all_of_them():
    options = ReproduceOptions(name="text8", scale="laptop", only="segment0-*", jobs=1)
    told = "sharp reproduce text8 --scale laptop --protocol fair --jobs 1 --out results/text8"
    assert whole_command(options, Path("results/text8")) == told


def test_text_that_is_too_short_is_refused_before_anything_runs(tmp_path):
    config = segments.config_of(QUICK["unigram"].settings)
    with pytest.raises(ConfigError, match="are needed"):
        measured(tmp_path / "run", config, "unigram", FAIR, {"forward": (0, 10**9)})
    assert not (tmp_path / "run").exists()


# ---- fairness ------------------------------------------------------------------------------------------------------


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def test_nothing_that_is_reported_was_tuned_on_and_nobody_learns_from_the_future():
    for scale in ("laptop", "paper"):
        tuned = text8_tuning.SCALES[scale].span
        for name in (scale, f"long-{scale}"):
            reported = segments.resolved(segments.SCALES[name], 52 * segments.MILLION)
            assert not any(overlap(tuned, span) for span in (*reported.segments, reported.future))
            assert not any(overlap(reported.future, span) for span in reported.segments)
        ablations = variants.SCALES[scale]
        assert not any(overlap(tuned, span) for span in (*ablations.segments, ablations.future))


def test_every_arm_of_a_segment_reads_the_same_text_with_the_same_seed():
    configs = [segments.config_of(job.settings) for job in QUICK.values()]
    assert len({(config.stream, config.seed, config.tokens) for config in configs}) == 1


def test_a_grid_changes_the_steps_of_the_learner_that_is_run_and_nothing_else():
    for job in text8_tuning.jobs("quick", "fair"):
        arm, _, gamma = job.settings["arm"].partition(text8_tuning.GAMMA)
        config, plain = text8_tuning.config_of(job.settings), run_of(arm, SIZES["tiny"], "fair")
        if gamma:
            plain = plain.replace(sharp=replace(plain.sharp, gamma=float(gamma)))
        group = {"sharp": config.sharp, "clockwork": config.clockwork, "transformer": config.transformer}
        adam = group.get(config.learner, config.recurrent).adam
        assert (adam.lr, adam.beta2) == (job.settings["lr"], job.settings["beta2"])
        restored = text8_tuning.with_steps(config, plain.sharp.adam.lr, plain.sharp.adam.beta2)
        assert restored.sharp == plain.sharp
        assert restored.recurrent == plain.recurrent


def test_a_step_is_chosen_by_the_end_of_its_run_not_by_its_start():
    """The larger step has the better mean of five intervals and the worse last one."""
    curves = {1e-4: (4.0, 3.0, 2.5, 2.2, 2.0), 3e-4: (3.0, 2.3, 2.2, 2.2, 2.1), 1e-3: (3.0,)}
    rows = [
        {"arm": "gru", "lr": lr, "beta2": 0.999, "metric": "curve", "tokens": 1_000 * (i + 1), "value": bits}
        for lr, curve in curves.items()
        for i, bits in enumerate(curve)
    ]
    for lr, total in {1e-4: 2.74, 3e-4: 2.36, 1e-3: math.inf}.items():
        rows.append({"arm": "gru", "lr": lr, "beta2": 0.999, "metric": "bits", "tokens": 5_000, "value": total})
    points = {(1e-4, 0.999): 2.0, (3e-4, 0.999): 2.1, (1e-3, 0.999): math.inf}
    assert text8_tuning.grid(rows)["gru"] == pytest.approx(points)
    assert text8_tuning.grid(rows, part=1.0)["gru"][3e-4, 0.999] == pytest.approx(2.36)
    (found,) = text8_tuning.findings(rows)
    assert found.ours == "step 0.0001, β2 0.999: 2.0000 bits, best of 3 points"
    assert found.verdict.endswith("at the edge of its grid")


def test_the_recipe_has_the_steps_that_the_committed_grid_chose():
    numbers = ("lr", "beta2", "tokens", "value")
    with (Path(__file__).parents[2] / "results" / "text8" / "text8-tuning" / "rows.csv").open() as file:
        rows = [{**row, **{name: float(row[name]) for name in numbers}} for row in csv.DictReader(file)]
    grid = text8_tuning.grid(rows)
    chosen = {arm: min(points, key=points.get) for arm, points in grid.items() if not arm.startswith("sharp")}
    sharp = {
        (arm, point): bits for arm, points in grid.items() if arm.startswith("sharp") for point, bits in points.items()
    }
    if sharp:
        line, point = min(sharp, key=sharp.get)
        chosen["sharp"] = point
        assert line == text8_tuning.with_gamma(recipes.TEXT8_GAMMA)
    assert chosen == recipes.TEXT8_STEPS
    assert {arm.partition(text8_tuning.GAMMA)[0] for arm in grid} >= set(SIZES["128"].neural) - {"sharp"}


def test_the_published_step_is_everybodys_under_paper():
    for arm in SIZES["128"].neural:
        config = run_of(arm, SIZES["128"], "paper")
        assert {config.sharp.adam, config.recurrent.adam, config.transformer.adam} == {recipes.text8().sharp.adam}


def test_another_pattern_block_is_an_arm_that_differs_in_nothing_else():
    plain = run_of("sharp", SIZES["tiny"], "fair")
    for arm, change in BLOCKS.items():
        other = run_of(arm, SIZES["tiny"], "fair")
        assert other.replace(sharp=plain.sharp) == plain
        assert other.sharp == change(plain.sharp) != plain.sharp
        weights, others = (make_learner(config, 27).state_dict() for config in (plain, other))
        assert all(np.array_equal(weights[name], others[name]) for name in weights), "what both have begins alike"
    assert {run_of(arm, SIZES["tiny"], "fair").sharp.placement for arm in ("sharp", *BLOCKS)} == {
        "every",
        "pre",
        "between",
    }
    assert not any(job.settings["arm"] in BLOCKS for job in segments.jobs("laptop", "paper"))


def test_who_is_run_how_often():
    """Three segments and two seeds for SHARP, three segments for whom it is paired with, one for the dearest."""
    jobs = segments.jobs("laptop", "fair")
    times = {arm: [job.key for job in jobs if job.settings["arm"] == arm] for arm in ("sharp", "gru", "transformer-5m")}
    assert [len(keys) for keys in times.values()] == [6, 3, 1]
    seeds = [segments.config_of(job.settings).seed for job in jobs if job.settings["arm"] == "sharp"]
    assert len(set(seeds)) == len(seeds)
    assert len({job.key for job in jobs}) == len(jobs)
    paper = [job.key for job in segments.jobs("laptop", "paper") if job.settings["arm"] in ("sharp", "lstm")]
    assert paper == ["segment0-sharp", "segment0-lstm", "segment1-sharp"]


def test_the_published_settings_beside_the_algorithm_are_those_of_the_paper_protocol():
    fair, paper = (run_of("sharp", SIZES["128"], protocol).sharp for protocol in ("fair", "paper"))
    assert (fair.cells, fair.sleep.replay_noise, fair.sleep.reset_on_sleep) == ("orthogonal", 0.0, False)
    assert (paper.cells, paper.sleep.replay_noise, paper.sleep.reset_on_sleep) == ("uniform", 0.1, True)
    assert paper.conditioning == fair.conditioning == "film"


def test_one_level_can_be_as_large_as_five():
    five = run_of("sharp", SIZES["128"], "fair").sharp
    one = recipes.one_level_as_active(five)
    sizes = [make_learner(RunConfig(sharp=sharp), 27).parameters(active=True) for sharp in (five, one)]
    assert one.levels == 1
    assert abs(sizes[1] - sizes[0]) < 0.005 * sizes[0]


@pytest.mark.parametrize(
    ("changes", "of"),
    [(text8_sleep.CHANGES, "sharp"), (text8_threshold.CHANGES, "sharp"), (text8_sleep.CHANGES, "film-normed")],
)
def test_the_arms_of_an_ablation_start_from_the_same_weights(changes, of):
    starts = {}
    for arm in changes:
        job = Job("", {"scale": "quick", "protocol": "fair", "arm": arm, "part": 0})
        config = variants.config_of(job, changes, of)
        starts[arm] = make_learner(config, 27).state_dict()
    first = starts.pop(next(iter(changes)))
    for arm, state in starts.items():
        if arm != "L=1":  # of another width
            same = all(np.array_equal(state[name], first[name]) for name in first)
            assert same == (arm != "dead_upper_levels"), arm


# ---- tables by hand ------------------------------------------------------------------------------------------------


def row(arm, segment, metric, value, **more) -> dict:
    return {
        "arm": arm,
        "segment": segment,
        "seed": segment,
        "token_budget": 9,
        "metric": metric,
        "value": value,
        **more,
    }


def test_differences_are_paired_over_what_both_were_run_on():
    rows = [row("sharp", 0, "bits", 2.0), row("sharp", 1, "bits", 3.0), row("sharp", 2, "bits", 9.0)]
    rows += [row("gru", 0, "bits", 2.5), row("gru", 1, "bits", 3.1)]
    gap = tables.difference(rows, "sharp", "gru", "bits")
    assert (round(gap.mean, 9), gap.n) == (-0.3, 2)
    assert tables.difference(rows, "sharp", "lstm", "bits") is None
    assert "GRU" in tables.difference_table(rows, "sharp", ("bits",), "")
    assert tables.difference_table(rows, "lstm", ("bits",), "") == ""  # no table for who was not run
    assert tables.joined(("one\n", "", "two")) == "one\n\ntwo"
    assert tables.difference([*rows, row("wide", 0, "bits", 1.0, token_budget=1)], "sharp", "wide", "bits") is None


@pytest.mark.parametrize(
    ("ours", "verdict", "turned"),
    [
        ((2.0, 3.0), "holds", "differs"),  # -0.50 and -0.52: ± 0.13
        ((2.4, 3.0), "not decided", "not decided"),  # -0.10 and -0.52: the interval has 0 in it
        ((2.499, 3.519), "no difference", "no difference"),
        ((2.496, 3.524), "not decided", "not decided"),  # the mean is 0, the interval is ± 0.05
        ((2.0,), "not decided (n = 1)", "not decided (n = 1)"),
    ],
)
def test_a_verdict_needs_an_interval_without_zero(ours, verdict, turned):
    rows = [row("a", segment, "bits", bits) for segment, bits in enumerate(ours)]
    rows += [row("b", segment, "bits", bits) for segment, bits in enumerate((2.5, 3.52))]
    assert tables.better(rows, "a", "b", "bits", "", "").verdict == verdict
    assert tables.better(rows, "b", "a", "bits", "", "").verdict == turned


def test_the_published_best_must_be_run_and_be_the_best():
    """Of a table whose best is not SHARP, nothing is said by SHARP's not being the best here."""
    published = {"sharp": (2.4, 2.4, 2.4), "rnn": (2.7, 2.7, 2.7), "gru": (2.2, 2.2, 2.2)}
    bits = {"sharp": 3.2, "rnn": 2.5, "gru": 2.4}

    def first(*arms, segments=(0, 1)):
        rows = [row(arm, segment, "forward_bits", bits[arm], protocol="fair") for arm in arms for segment in segments]
        return text8.claims(rows, published)[0]

    assert first("sharp", "rnn").verdict == "not run"
    assert first("gru").verdict == "not run", "nobody to compare with"
    assert (first("sharp", "rnn", "gru").verdict, first("sharp", "rnn", "gru").published) == (
        "holds",
        "GRU 2.20, SHARP 2.40",
    )
    assert first("sharp", "rnn", "gru", segments=(0,)).verdict == "not decided (n = 1)"
    assert "GRU has the fewest" in first("sharp").claim
    bits["gru"] = 2.6
    assert first("sharp", "rnn", "gru").verdict == "differs"


def test_the_long_stream_and_its_future_are_those_of_the_corpus_that_is_there(monkeypatch):
    settings = {"scale": "long-paper", "protocol": "paper", "arm": "sharp", "segment": 0}
    for length, tokens, future in ((52, 50, (51, 52)), (100, 90, (99, 100)), (71, 60, (70, 71))):
        monkeypatch.setattr(segments, "corpus_length", lambda name, length=length: length * segments.MILLION)
        assert segments.config_of(settings).tokens == tokens * segments.MILLION
        assert segments.scale_of(settings).future == tuple(mark * segments.MILLION for mark in future)
    monkeypatch.setattr(segments, "corpus_length", lambda name: 9 * segments.MILLION)
    with pytest.raises(ConfigError, match="text8 has 9,000,000 characters here; this scale needs at least 12,000,000"):
        segments.config_of(settings)
    laptop = {**settings, "scale": "long-laptop"}
    assert segments.scale_of(laptop) == segments.SCALES["long-laptop"], "what was run does not hang on the corpus"


def test_no_page_gives_a_verdict_of_its_own():
    """Words that decide come from evaluate/verdicts.py alone."""
    package = Path(segments.__file__).parents[1]
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'"(agrees|differs|holds|does not hold|no difference|not decided)"', text), path


def test_a_learner_that_diverges_is_a_result_and_stops_nobody(tmp_path):
    config = text8_tuning.with_steps(segments.config_of(QUICK["rnn"].settings), lr=1e38, beta2=0.99)
    rows = [{**one, "experiment": "text8"} for one in measured(tmp_path / "rnn", config, "rnn", FAIR, {})]
    assert {one["metric"]: one["value"] for one in rows}["bits"] == math.inf
    stamp = {"protocol": "fair", "command": "-", "hardware": "-", "software": "-"}
    rows = [{**one, **stamp} for one in rows] + rows_of(tmp_path, "counts-5")
    assert "| RNN | diverged |" in tables.main_table(rows, "")
    assert tables.better(rows, "counts-5", "rnn", "bits", "", "").verdict == "not decided (n = 1)"
    experiment = experiment_named("text8")
    assert experiment.figure(rows).axes
    assert set(experiment.more_figures(rows)) == {"probes", "tradeoff"}
    tuned = [{**one, "lr": 1e-3, "beta2": 0.99} for one in rows]
    assert text8_tuning.figure(tuned).axes
    assert "diverged" in text8_tuning.page(tuned)


def test_a_probe_that_was_scored_before_a_stop_is_not_scored_again(tmp_path, monkeypatch):
    """Scoring stops after the first of two probes; the second try scores the other only, and has the same rows."""
    config, probes = segments.config_of(QUICK["rnn"].settings), {"forward": (12_000, 13_000), "backward": (0, 1_000)}
    whole = measured(tmp_path / "whole", config, "rnn", FAIR, probes)
    asked: list[str] = []

    def score(learner, text, *, probe, cap):
        asked.append(probe)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return score_probe(learner, text, probe=probe, cap=cap)

    monkeypatch.setattr(kept_scores, "score_probe", score)
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "cut", config, "rnn", FAIR, probes)
    again = measured(tmp_path / "cut", config, "rnn", FAIR, probes)
    assert asked == ["forward", "backward", "backward"]
    assert probed(again) == probed(whole)
    measured(tmp_path / "cut", config, "rnn", FAIR, {**probes, "forward": (11_000, 12_000)})
    assert asked[3:] == ["forward"], "another text is not the one that is kept"


@pytest.mark.parametrize("content", ["", "null", "[]", '{"made_of": 1}', '{"probe": "forward", "tokens": 9}', "\x00"])
def test_a_kept_score_that_cannot_be_read_is_made_again(content, tmp_path):
    config, probes = segments.config_of(QUICK["unigram"].settings), {"forward": (12_000, 13_000)}
    first = probed(measured(tmp_path / "run", config, "unigram", FAIR, probes))
    path = tmp_path / "run" / "probe-forward.json"
    good = path.read_text()
    path.write_text(content)
    assert probed(measured(tmp_path / "run", config, "unigram", FAIR, probes)) == first
    assert path.read_text() == good


def test_a_kept_score_of_another_state_is_made_again(tmp_path):
    config, probes = segments.config_of(QUICK["unigram"].settings), {"forward": (12_000, 13_000)}
    first = probed(measured(tmp_path / "run", config, "unigram", FAIR, probes))
    path = tmp_path / "run" / "probe-forward.json"
    row = json.loads(path.read_text())
    row["bits"], row["made_of"]["state_sha256"] = 0.0, "0" * 64
    path.write_text(json.dumps(row))
    assert probed(measured(tmp_path / "run", config, "unigram", FAIR, probes)) == first


def probed(rows: list[dict]) -> dict[tuple, float]:
    """The frozen scores of an arm."""
    kept = [row for row in rows if row["metric"].startswith(("forward", "backward"))]
    return {(row["metric"], row["place"]): row["value"] for row in kept}


def test_a_score_kept_before_parts_were_is_not_made_again(tmp_path):
    config, probes = segments.config_of(QUICK["unigram"].settings), {"forward": (12_000, 13_000)}
    first = probed(measured(tmp_path / "run", config, "unigram", FAIR, probes))
    path = tmp_path / "run" / "probe-forward.json"
    kept = json.loads(path.read_text())
    assert len(kept.pop("parts")) == 20
    path.write_text(json.dumps(kept))
    again = probed(measured(tmp_path / "run", config, "unigram", FAIR, probes))
    assert again == {key: value for key, value in first.items() if key[0] != "forward_part"}


def test_a_probe_that_is_worse_than_guessing_is_shown_by_itself():
    """Two segments, one of which broke down in the second half of its forward probe."""
    rows = [row("lstm", 0, "forward_bits", 2.5), row("lstm", 10_000_000, "forward_bits", 101.0)]
    rows += [row("lstm", 10_000_000, "forward_bits_clipped", 3.5), row("gru", 10_000_000, "forward_bits", 4.7)]
    rows += [
        row("lstm", 10_000_000, "forward_part", bits) | {"place": n} for n, bits in enumerate((2.0, 2.0, 200.0, 200.0))
    ]
    rows += [row("lstm", 0, "forward_part", 9.0) | {"place": 0}]
    page = runaways.runaway_table(rows, "Worse than guessing")
    assert "| LSTM | segment from 10M | forward | 101.000 | 3.500 | 2 of 4: 3, 4; the others 2.000 bits |" in page
    assert "from 0" not in page
    assert "GRU" not in page
    assert runaways.runaway_table([r for r in rows if r["segment"] == 0], "Worse than guessing") == ""


def test_learners_are_ranked_on_text_that_all_of_them_read():
    rows = [row("sharp", 0, "bits", 2.0), row("sharp", 1, "bits", 1.0), row("gru", 0, "bits", 1.9)]
    assert tables.means_on_shared(rows, ("sharp", "gru", "lstm"), "bits") == {"sharp": 2.0, "gru": 1.9}
    assert tables.means_on_shared(rows, ("lstm",), "bits") == {}
    assert tables.means_on_shared([*rows, row("rnn", 5, "bits", 1.0)], ("sharp", "rnn"), "bits") == {}


def test_the_published_table_is_set_beside_bits_that_are_scored_as_there():
    """All capped but the Clockwork RNN's."""
    both = (("forward_bits", 2.5), ("forward_bits_clipped", 2.25))
    rows = [row(arm, 0, metric, value) for arm in ("gru", "clockwork") for metric, value in both]
    lines = published.published_table(rows, text8.PUBLISHED).splitlines()
    assert "| GRU | 2.41 | 2.34 | 2.38 | 2.250 | – | – |" in lines
    assert "| Clockwork RNN | 2.95 | 2.79 | 2.92 | 2.500 | – | – |" in lines


def test_under_the_papers_protocol_order_and_levels_are_judged_as_printed():
    """True bits say the opposite of each; the Clockwork RNN's stand as they are."""
    made = {**dict.fromkeys(MADE_BY, "-"), "protocol": "paper"}
    capped = {"sharp": 2.3, "gru": 2.41, "clockwork": 2.0}
    rows = [
        Row(row(arm, segment, f"{direction}_bits{kind}", value + 0.001 * segment, **made))
        for segment in (0, 1, 2)
        for arm in capped
        for direction in DIRECTIONS
        for kind, value in (("_clipped", capped[arm]), ("", 5.0 - capped[arm]))
    ]
    found = {one.claim: one for one in text8.claims(rows, text8.PUBLISHED, text8.SPREADS)}
    assert found["SHARP is better than GRU, forward"].verdict == "holds"
    assert found["SHARP is better than GRU, forward"].published == "-0.09 forward"
    assert found["SHARP is better than Clockwork RNN, forward"].ours.startswith("-0.700")
    assert found["SHARP is better than RNN, forward"].verdict == "not run"
    levels = {arm: found[f"{arm} has its published bits, forward / current / backward"] for arm in ("SHARP", "GRU")}
    assert levels["SHARP"].published == "2.32 ± 0.06 / 2.23 ± 0.07 / 2.30 ± 0.06"
    assert {arm: one.verdict for arm, one in levels.items()} == {"SHARP": "not decided", "GRU": "differs"}
    assert not any("has its published bits" in one.claim for one in text8.claims(rows, text8.PUBLISHED))


def test_arms_are_drawn_against_another_on_the_same_stretch_of_text():
    """Where only one of them has been, there is nothing to draw."""
    places = ((0, 10, 3.0, 3.5), (0, 20, 2.0, 2.25), (1, 10, 4.0, 4.1))
    rows = [row("sharp", part, "curve", base, tokens=at) for part, at, base, _ in places]
    rows += [row("no-sleep", part, "curve", other, tokens=at) for part, at, _, other in places]
    rows += [row("no-sleep", 1, "curve", 9.0, tokens=20)]
    tokens, bits = pictures.paired_curve(rows, "no-sleep", "sharp")
    assert tokens == [10, 20]
    assert bits == pytest.approx([0.3, 0.25])
    drawn = pictures.against_figure(rows, "sharp")
    assert drawn is not None
    assert len(drawn.axes[0].lines) == 2
    assert pictures.against_figure(rows[:3], "sharp") is None


def test_curves_are_of_the_text_that_all_have_read():
    rows = [row("rnn", 0, "curve", bits, tokens=at) for at, bits in ((10, 3.0), (20, 2.0))]
    rows += [row("gru", segment, "curve", 2.0 + segment, tokens=at) for segment in (0, 1) for at in (10, 20)]
    axes = pictures.curves_figure(rows, ["rnn", "gru"], "Bits").axes[0]
    assert axes.get_title(loc="left") == "Bits, the segment that all have read"
    assert sorted(line.get_ydata()[-1] for line in axes.lines) == [2.0, 2.0]
    rows += [row("rnn", 1, "curve", 4.0, tokens=at) for at in (10, 20)]
    axes = pictures.curves_figure(rows, ["rnn", "gru"], "Bits").axes[0]
    assert axes.get_title(loc="left") == "Bits, mean over 2 segments"
    assert sorted(line.get_ydata()[-1] for line in axes.lines) == [2.5, 3.0]
    assert pictures.curves_figure(rows[:2], ["rnn"], "Bits").axes[0].get_title(loc="left") == "Bits"


def test_the_dearest_learners_read_the_first_segment_only():
    keys = [job.key for job in segments.jobs("laptop", "fair")]
    assert "segment0-transformer-10m" in keys
    assert "segment1-transformer-10m" not in keys
    assert "segment1-transformer-small" in keys


def test_the_retention_matrix_is_rebuilt_from_its_rows():
    cells = {(10, 0): 3.0, (10, 1): 4.0, (20, 0): 2.0, (20, 1): 2.5}
    rows = [row("sharp", 0, "retention", v, tokens=time, place=place) for (time, place), v in cells.items()]
    matrix = tables.retention_of(rows, "sharp", (0, 0, 9))
    assert matrix.times == [10, 20]
    assert matrix.bits.tolist() == [[3.0, 4.0], [2.0, 2.5]]
    assert matrix.segments[1].learned_by(20)
    assert not matrix.segments[1].learned_by(10)
    assert tables.retention_of(rows[:2], "sharp", (0, 0, 9)) is None


def test_thresholds_are_judged_by_their_updates_their_bits_and_their_end():
    rows = []
    for arm, bits, gated, curve in (
        ("tau-0.01", 2.0, 0.01, (3.0, 2.0, 2.5)),
        ("tau-0.001", 2.1, 0.02, (3.0, 2.0, 2.5)),
        ("tau-0.1", 2.2, 0.0, (3.0, 2.1, 2.5)),
        ("tau-0", 2.3, 1.0, (2.5, 2.1, 2.9)),
    ):
        for part in (0, 1):
            rows += [row(arm, part, "bits", bits), row(arm, part, "gated", gated, tokens=2)]
            rows += [row(arm, part, "curve", value, tokens=n + 1) for n, value in enumerate(curve)]
    assert [finding.verdict for finding in text8_threshold.findings(rows)] == ["holds"] * 3
    once = text8_threshold.findings([r for r in rows if r["segment"] == 0])
    assert {finding.verdict for finding in once} == {"not decided (n = 1)"}
    degrades = text8_threshold.findings([r for r in rows if r["metric"] != "curve" or r["tokens"] != 3])[2]
    assert degrades.verdict == "not run", "two points have no thirds"
    harder = [{**r, "value": 2.6} if r["arm"] == "tau-0" and r.get("tokens") == 3 else r for r in rows]
    assert text8_threshold.findings(harder)[2].verdict == "differs", "the last third is harder for all"
    rows = [r for r in rows if r["arm"] != "tau-0.1"]
    assert [finding.verdict for finding in text8_threshold.findings(rows)][:2] == ["not run", "not run"]
    assert math.isnan(tables.mean_of(rows, "tau-0.1", "bits"))
