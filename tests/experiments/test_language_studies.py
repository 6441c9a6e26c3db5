"""Non-stationarity and wall-time run with no corpus, and their verdicts follow from the rows alone."""

from importlib.util import find_spec

import numpy as np
import pytest

from sharpstream.errors import ConfigError, DataError
from sharpstream.evaluate.nonstationarity import distance_across
from sharpstream.experiments.harness import Job, experiment_named, reproduce
from sharpstream.experiments.language import (
    boundaries,
    nonstationarity,
    nonstationarity_page,
    wall_time,
    wall_time_page,
)
from sharpstream.streams import pg19
from sharpstream.streams.store import Section


def curve(text, kind, distance, *, shuffled=0.082, words=0.079, longest=100):
    return [
        {
            "text": text,
            "kind": kind,
            "lag": lag,
            "distance": distance(lag),
            "shuffled": shuffled,
            "words_shuffled": words,
        }
        for lag in nonstationarity.kept_lags(longest)
    ]


def verdicts(experiment, rows):
    return {finding.claim: finding.verdict for finding in experiment.findings(rows)}


# ---- nonstationarity -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["fair", "paper"])
def test_nonstationarity_runs_from_a_command_without_any_corpus(protocol, tmp_path, monkeypatch):
    monkeypatch.delenv("SHARP_DATA", raising=False)
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    rows = reproduce("nonstationarity", "quick", protocol, out, workers=1, command="sharp reproduce nonstationarity")
    assert (min(row["lag"] for row in rows) == 0) == (protocol == "paper")
    assert {path.name for path in out.iterdir()} >= {"rows.csv", "nonstationarity.png", "nonstationarity.pdf"}
    assert "python-docs: then it is flat" in (out / "RESULTS.md").read_text()
    levels = [row["shuffled"] for row in rows if row["lag"] > 0]
    assert np.mean(levels) == pytest.approx(0.083, abs=0.003)
    assert not (tmp_path / "cache").exists()


def test_a_curve_that_saturates_agrees_and_one_that_keeps_rising_does_not():
    study = nonstationarity.EXPERIMENT
    saturating = [curve(text, "text8", lambda lag: 0.12 - 0.025 * np.exp(-(lag - 1) / 5)) for text in "ab"]
    rising = [curve(text, "book", lambda lag: 0.09 + 0.0003 * lag) for text in "cd"]
    found = verdicts(study, [row for text in saturating + rising for row in text])
    assert found["text8: it rises at small lags"] == found["text8: then it is flat"] == "holds"
    assert found["book: it rises at small lags"] == found["book: then it is flat"] == "differs"
    assert found["book: the distance rises with the lag"] == "holds"
    assert set(verdicts(study, saturating[0]).values()) == {"not decided (n = 1)"}, "one text shows nothing of others"
    assert not any(claim.startswith("pg19") for claim in found)


def test_a_text_in_which_nothing_changes_is_not_called_changing():
    flat = [curve(text, "book", lambda lag: 0.079 - 1e-5 / lag) for text in "ab"]
    found = verdicts(nonstationarity.EXPERIMENT, flat[0] + flat[1])
    assert found["book: windows differ more than where nothing changes"] == "differs"
    assert found["book: drawn from lag 0, most of the increase is change in the text"] == "differs"


def test_the_shape_of_a_straight_curve_by_hand():
    (shape,) = nonstationarity_page.shapes(curve("a", "book", lambda lag: 0.1 + 0.001 * lag, longest=20), "book")
    assert shape.first == pytest.approx(0.101)
    assert shape.few == pytest.approx(0.110)
    assert shape.change == pytest.approx(0.010)  # lags 10 to 20
    late = np.mean([0.1 + 0.001 * lag for lag in (10, 11, 13, 14, 16, 18, 20)])
    assert shape.late == pytest.approx(late)
    assert shape.early_share == pytest.approx(0.009 / (late - 0.101))


def test_shuffled_words_keep_every_word_whole():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 5, 400)
    mixed = nonstationarity.words_shuffled(np.append(tokens, 0), seed=3)

    def words(text):
        return sorted("".join(map(str, text)).split("0"))

    assert not np.array_equal(mixed[:-1], tokens)
    assert words(mixed) == words(np.append(tokens, 0))


def test_a_boundary_is_told_from_change_within_a_book():
    rng = np.random.default_rng(0)
    left, right = (rng.choice(27, 30 * 1024, p=p / p.sum()).astype(np.int32) for p in rng.random((2, 27)))
    rows = []
    for text, (a, b) in {"apart": (left, right), "again": (right, left)}.items():
        whole = np.concatenate([a, b])
        mixed = [(rng.permutation(whole), rng.permutation(whole))]
        rows += boundaries.boundary_rows(text, a, b, mixed)
    assert max(row["lag"] for row in rows) == 29
    assert min(row["distance"] for row in rows) > 1.5 * max(row["within"] for row in rows)
    assert np.mean([row["within"] for row in rows]) == pytest.approx(np.mean([r["shuffled"] for r in rows]), abs=0.01)
    assert {f.verdict for f in boundaries.findings(rows)} == {"holds"}
    same = [{**row, "distance": row["within"], "words_shuffled": row["within"]} for row in rows]
    assert "holds" not in {f.verdict for f in boundaries.findings(same)}


def test_windows_across_a_boundary_are_paired_by_their_distance():
    left, right = np.eye(4)[[0, 1]], np.eye(4)[[1, 3]]
    assert distance_across(left, right, 2).tolist() == [0.0, 1.0]  # lag 2: (0, 1) and (1, 3)
    with pytest.raises(ConfigError, match=r"it must be 1\.\.2"):
        distance_across(left, right, 3)


def test_a_book_is_found_by_its_number_where_the_manifest_gives_titles(monkeypatch):
    sections = (Section("5 Five by Nobody", 0, 9), Section("55 Oz", 10, 20))
    monkeypatch.setattr(pg19, "pg19_books", lambda: sections)
    monkeypatch.setattr(nonstationarity, "_text", lambda name, start, end: (start, end))
    assert nonstationarity._book(55) == (10, 20)
    with pytest.raises(DataError, match="book 6 is not among"):
        nonstationarity._book(6)


def test_books_in_a_row_and_the_boundaries_of_neighbours_are_asked_for():
    jobs = [job.settings for job in nonstationarity.jobs("laptop", "fair")]
    assert sum(s["kind"] == "pg19" for s in jobs) == 3
    pairs = [(s["left"], s["right"]) for s in jobs if s["kind"] == "boundary"]
    assert len(pairs) >= 20
    assert all(left < right for left, right in pairs)


def test_the_larger_scales_ask_for_whole_long_books_and_disjoint_segments():
    jobs = [job.settings for job in nonstationarity.jobs("laptop", "fair")]
    books = [s["book"] for s in jobs if s["kind"] == "book"]
    assert len(books) >= 10
    assert books == sorted(set(books))
    segments = [(s["start"], s["end"]) for s in jobs if s["kind"] == "text8"]
    assert segments == [(n * 10_000_000, (n + 1) * 10_000_000) for n in range(5)]
    assert [s["kind"] for s in (job.settings for job in nonstationarity.jobs("paper", "paper"))] == ["text8", "pg19"]


# ---- wall-time -----------------------------------------------------------------------------------------------------


def timed_rows(width, seconds):
    """Five rounds of each arm, the last a tenth slower."""
    return [
        {
            "width": width, "arm": arm, "round": turn, "seconds_per_1000": value * (1.1 if turn == 4 else 1),
            "parameters": 10, "active_parameters": 5, "seconds_per_sleep": 20 * value if arm == "sharp sleep" else None,
        }
        for arm, value in seconds.items()
        for turn in range(5)
    ]  # fmt: skip


AS_PUBLISHED = {
    **wall_time_page.PUBLISHED,
    "sharp, every step learns": 10.0,
    "sharp wake, every step learns": 8.0,
    "counts-5": 0.001,
}


def test_wall_time_runs_from_a_command_and_times_every_arm(tmp_path):
    rows = reproduce("wall-time", "quick", "fair", tmp_path, workers=1, command="sharp reproduce wall-time")
    arms = {row["arm"] for row in rows}
    wanted = {"sharp", "sharp wake", "sharp sleep", "sharp, every step learns", "rnn", "lstm", "gru", "clockwork"}
    assert arms >= wanted | {"counts-5"}
    assert any(arm.startswith("transformer") for arm in arms) == (find_spec("torch") is not None)
    assert all(row["seconds_per_1000"] > 0 for row in rows)
    assert (tmp_path / "wall-time.png").stat().st_size > 0
    first = {row["arm"]: row for row in rows if row["round"] == 0}
    whole = first["sharp wake"]["seconds_per_1000"] + first["sharp sleep"]["seconds_per_sleep"] / 20
    assert first["sharp"]["seconds_per_1000"] == pytest.approx(whole)


def test_published_times_agree_with_themselves_and_orders_that_turn_round_differ():
    same = verdicts(wall_time.EXPERIMENT, timed_rows(512, AS_PUBLISHED))
    assert set(same.values()) == {"holds"}
    slow = verdicts(wall_time.EXPERIMENT, timed_rows(512, {**AS_PUBLISHED, "sharp": 30.0}))
    assert slow["width 512: SHARP takes less time than the LSTM"] == "differs"
    assert slow["width 512: SHARP takes more time than the RNN"] == "holds"
    assert slow["width 512, SHARP, wake + sleep: seconds per 1000 tokens"] == "differs"


def test_what_was_not_timed_is_not_judged():
    found = verdicts(
        wall_time.EXPERIMENT,
        timed_rows(128, {"sharp": 1.0, "sharp, every step learns": 1.0, "rnn": 2.0, "sharp sleep": 0.1}),
    )
    assert {verdict for claim, verdict in found.items() if "width 512" in claim} == {"not run"}
    assert found["width 128: SHARP takes more time than the RNN"] == "differs"
    assert found["width 128: SHARP takes less time than the GRU"] == "not run"


def test_the_wall_time_figure_has_a_panel_per_width_and_the_page_the_cost_of_a_window_per_token():
    rows = timed_rows(512, AS_PUBLISHED) + timed_rows(128, AS_PUBLISHED)
    assert [axes.get_title(loc="left") for axes in wall_time.figure(rows).axes] == ["width 512", "width 128"]
    assert "Transformer 5M 119,194 s" in wall_time.page(rows)  # 116.4 × 1024


def test_the_gate_is_shut_in_one_arm_and_open_in_the_other():
    runs = wall_time._runs("tiny", "fair")
    learners = {}
    for arm in ("sharp wake", "sharp wake, every step learns"):
        learners[arm] = wall_time.Sharp(runs[arm].sharp, 27)
        learners[arm].learn(np.arange(300) % 27)
    assert int(learners["sharp wake"].mind.updates[0]) == 0
    assert int(learners["sharp wake, every step learns"].mind.updates[0]) > 250


def test_wall_time_has_one_job_per_width():
    assert [job.key for job in wall_time.jobs("laptop", "fair")] == ["width-128", "width-512"]


@pytest.mark.parametrize("name", ["nonstationarity", "wall-time"])
def test_larger_scales_name_each_job_once_without_opening_a_corpus(name, monkeypatch, tmp_path):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHARP_DATA", raising=False)
    for scale in ("laptop", "paper"):
        for protocol in ("fair", "paper"):
            jobs = experiment_named(name).jobs(scale, protocol)
            assert all(isinstance(job, Job) for job in jobs)
            assert len({job.key for job in jobs}) == len(jobs) > 0
