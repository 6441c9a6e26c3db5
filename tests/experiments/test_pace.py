"""When an experiment ends, by the logs of its runs: learner by learner, for a token of one costs many of another."""

import json

import pytest

from sharpstream.experiments.pace import Progress, logged_tokens, mark, seconds_per_1000


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """A clock that stands where it is put."""
    time = [100.0]
    monkeypatch.setattr("sharpstream.experiments.pace.time.monotonic", lambda: time[0])
    return time


def log(run, *tokens: int, pace: float | None = None, tail: str = "") -> None:
    """What a run writes as it goes; with a pace, so many seconds per token."""
    run.mkdir(parents=True)
    rows = [{"event": "interval", "tokens": count} for count in tokens]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + tail)
    if pace is not None:
        timed = [{**row, "time": 5.0 + pace * row["tokens"]} for row in rows]
        (run / "timing.jsonl").write_text("".join(json.dumps(row) + "\n" for row in timed) + tail)


def progress_of(
    tokens, path, *, scored: int = 0, share: float = 1.0, workers: int = 1, done_before: int = 0, **kinds: str
) -> Progress:
    of = {key: kinds.get(key, "any") for key in (*tokens, *kinds)}
    each = (dict.fromkeys(tokens, scored), dict.fromkeys(tokens, share))
    return Progress(tokens, *each, of, path, workers, done_before)


def test_how_far_a_run_is_comes_from_its_log(tmp_path):
    log(tmp_path / "run", *range(100, 30_000, 100), tail='{"event": "inter')
    assert logged_tokens(tmp_path / "run") == 29_900
    assert logged_tokens(tmp_path / "nothing") == 0


def test_a_job_that_is_no_run_marks_how_far_it_is_and_begins_anew_when_it_is_repeated(tmp_path):
    for tokens in (0, 500, 1_000):
        mark(tmp_path / "job", tokens)
    assert logged_tokens(tmp_path / "job") == 1_000
    assert progress_of({"job": 4_000}, tmp_path).share("job") == 0.25
    mark(tmp_path / "job", 0)
    assert logged_tokens(tmp_path / "job") == 0


@pytest.mark.parametrize(
    "line",
    [
        "17",
        '{"tokens": 9}',
        '{"event": "interval", "tokens": 9}',
        "null",
        "[1]",
        '{"tokens": "many"}',
        '{"event": "interval"}',
        '"tokens"',
    ],
)
def test_a_line_that_is_no_row_of_a_log_is_passed_over(line, tmp_path):
    log(tmp_path / "run", 100, 200, pace=0.01, tail=line + "\n")
    assert logged_tokens(tmp_path / "run") == 200
    assert progress_of({"run": 300}, tmp_path).left(["run"]) == pytest.approx(1.0)


def test_time_left_is_by_tokens_and_counts_what_is_under_way(tmp_path, now):
    """c makes no run: 2,000, the mean of the others."""
    progress = progress_of({"a": 1_000, "b": 3_000, "c": 0}, tmp_path, done_before=2)
    assert "time left not known" in progress.line([], ["a", "b", "c"])
    now[0] = 110.0
    assert progress.line(["a"], ["b", "c"]) == "3 of 5 jobs, a; 50 s left"  # 1,000 in 10 s, 5,000 to go
    log(tmp_path / "b", 1_500)
    now[0] = 125.0
    assert progress.line([], ["b", "c"]) == "3 of 5 jobs, b 50%; 35 s left"  # 2,500 in 25 s, 3,500 to go


def test_what_an_earlier_command_did_is_not_taken_for_speed(tmp_path, now):
    log(tmp_path / "a", 900)
    progress = progress_of({"a": 1_000, "b": 1_000}, tmp_path)
    now[0] = 110.0
    assert progress.line(["a"], ["b"]) == "1 of 2 jobs, a; 1 min 40 s left"  # 100 in 10 s, 1,000 to go


def test_each_kind_of_run_has_its_own_pace(tmp_path):
    """The quick one was done by an earlier command, the slow one is under way; the new one is taken for their mean."""
    log(tmp_path / "done", 500, 1_000, pace=0.01)
    tokens = {"quick": 1_000, "slow": 1_000, "new": 1_000}
    progress = progress_of(tokens, tmp_path, done_before=1, done="Q", quick="Q", slow="S", new="N")
    log(tmp_path / "slow", 250, 500, pace=0.1)
    assert progress.line([], tokens) == "1 of 4 jobs, slow 50%; 1 min 55 s left"  # 10 + 50 + 55
    progress.workers = 2
    assert progress.left(list(tokens)) == pytest.approx(65.0)  # quick, then new, beside slow


def test_a_run_that_has_read_everything_is_not_said_to_need_no_more_time(tmp_path):
    log(tmp_path / "a", 500, 1_000, pace=0.01)
    progress = progress_of({"a": 1_000}, tmp_path)
    assert progress.line([], ["a"]) == "0 of 1 jobs, a 100%, has learned and is scored; time left not known"
    assert progress.line(["a"], []) == "1 of 1 jobs, a; 0 s left"


def test_what_is_scored_after_a_run_is_counted_by_the_rows_that_are_kept(tmp_path):
    """1,000 learned and three probes of 200; the second row is half a row."""
    log(tmp_path / "a", 500, 1_000, pace=0.01)
    progress = progress_of({"a": 1_000}, tmp_path, scored=600)
    assert progress.line([], ["a"]) == "0 of 1 jobs, a 62%, has learned and is scored; 6 s left"
    (tmp_path / "a" / "probe-forward.json").write_text('{"probe": "forward", "tokens": 200, "bits": 2.0}')
    (tmp_path / "a" / "probe-current.json").write_text('{"probe": "current", "tok')
    assert progress.line([], ["a"]) == "0 of 1 jobs, a 75%, has learned and is scored; 4 s left"


def test_seconds_come_from_the_median_interval():
    rows = [{"event": "interval", "tokens": 1_000 * i, "time": float(t)} for i, t in enumerate((0, 2, 4, 1_000, 1_002))]
    assert seconds_per_1000(rows) == 2.0
    assert seconds_per_1000(rows[:1]) is None


def test_a_scored_token_costs_its_share_of_a_learned_one(tmp_path):
    log(tmp_path / "a", 500, 1_000, pace=0.01)
    progress = progress_of({"a": 1_000}, tmp_path, scored=1_000, share=0.2)
    assert progress.line([], ["a"]) == "0 of 1 jobs, a 83%, has learned and is scored; 2 s left"
    (tmp_path / "a" / "probe-forward.json").write_text('{"tokens": 500}')
    assert progress.line([], ["a"]) == "0 of 1 jobs, a 92%, has learned and is scored; 1 s left"
