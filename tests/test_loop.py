"""The loop and its directory: what is logged, that it repeats, that it stops and goes on."""

import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import AdamConfig, RunConfig, SharpConfig, SleepConfig, StreamConfig
from sharpstream.errors import ConfigError, NumericalError, RunError, StreamError
from sharpstream.loop import Stopped, run
from sharpstream.report.progress import Silent
from sharpstream.rundir import Log, RunDirectory
from sharpstream.stopping import handling


@pytest.fixture
def config():
    sharp = SharpConfig(levels=2, width=8, embedding=4, depth=1, sleep=SleepConfig(every=900, tags=5, replay_length=32))
    return RunConfig(sharp=sharp, tokens=3_000, log_every=1_000)


def files(path):
    wanted = ["config.toml", "metrics.jsonl", "summary.json"]
    content = {name: (path / name).read_bytes() for name in wanted}
    latest = sorted((path / "checkpoints").iterdir())[-1]
    return content | {item.name: item.read_bytes() for item in latest.iterdir()}


class StopAt(Silent):
    """Sends a signal to this process once so many tokens are done."""

    def __init__(self, tokens, number=signal.SIGTERM):
        self.tokens, self.number = tokens, number

    def update(self, tokens, bits):
        if tokens >= self.tokens:
            os.kill(os.getpid(), self.number)


def test_the_log_holds_intervals_and_sleeps(config, tmp_path):
    summary = run(tmp_path / "a", config)
    rows = Log(tmp_path / "a" / "metrics.jsonl").rows()
    assert [(row["event"], row["tokens"]) for row in rows] == [
        ("sleep", 900),
        ("interval", 1_000),
        ("sleep", 1_800),
        ("interval", 2_000),
        ("sleep", 2_700),
        ("interval", 3_000),
    ]
    intervals = [row for row in rows if row["event"] == "interval"]
    assert summary["bits"] == pytest.approx(np.mean([row["bits"] for row in intervals]))
    assert intervals[0]["gated"] == pytest.approx(0.997)  # all steps but the three before the first full window
    assert intervals[0]["reconstruction"][0] > intervals[1]["reconstruction"][0] > 0
    assert rows[0]["levels"]["2"]["windows"] == 5 * (32 // 4 - 3)
    lasted = [row["seconds"] for row in Log(tmp_path / "a" / "timing.jsonl").rows() if row["event"] == "sleep"]
    assert len(lasted) == 3
    assert min(lasted) > 0


def test_same_seed_same_bytes_and_another_seed_another_run(config, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(tmp_path / name, config.replace(seed=seed))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(tmp_path / "a")["metrics.jsonl"] != files(tmp_path / "c")["metrics.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_told_to_stop_twice_ends_with_the_same_bytes(config, tmp_path, number):
    run(tmp_path / "whole", config)
    for stop in (700, 1_900):
        with pytest.raises(Stopped):
            run(tmp_path / "parts", config, display=StopAt(stop, number))
        assert not (tmp_path / "parts" / "summary.json").exists()
    run(tmp_path / "parts", config)
    assert files(tmp_path / "whole") == files(tmp_path / "parts")


def test_whoever_is_named_in_the_lock_saves_when_told_to_stop(config, tmp_path, monkeypatch):
    locked = RunDirectory.locked

    @contextmanager
    def told_at_once(directory):
        with locked(directory):
            os.kill(os.getpid(), signal.SIGTERM)
            yield

    monkeypatch.setattr(RunDirectory, "locked", told_at_once)
    with handling(lambda number, frame: None, signal.SIGTERM), pytest.raises(Stopped):  # else it ends the tests
        run(tmp_path, config)
    assert list((tmp_path / "checkpoints").iterdir())


def test_checkpoints_by_time_change_nothing_and_two_are_kept(config, tmp_path):
    run(tmp_path / "whole", config)
    run(tmp_path / "often", config, checkpoint_seconds=0.0)
    assert files(tmp_path / "whole") == files(tmp_path / "often")
    assert len(list((tmp_path / "often" / "checkpoints").iterdir())) == 2


def test_a_finished_run_is_left_alone_and_a_longer_one_goes_on(config, tmp_path):
    first = run(tmp_path / "a", config)
    before = files(tmp_path / "a")
    assert run(tmp_path / "a", config) == first
    assert files(tmp_path / "a") == before
    longer = run(tmp_path / "a", config.replace(tokens=4_000))
    assert longer["tokens"] == 4_000
    fresh = run(tmp_path / "b", config.replace(tokens=4_000))
    assert longer == fresh


def test_other_settings_are_refused_with_what_differs(config, tmp_path):
    run(tmp_path / "a", config)
    with pytest.raises(RunError, match=r"seed: 0 → 5"):
        run(tmp_path / "a", config.replace(seed=5))


def test_a_directory_of_something_else_is_refused_untouched(config, tmp_path):
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(RunError, match="not a run of ours"):
        run(tmp_path, config)
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_second_process_is_refused_while_the_first_works(config, tmp_path):
    directory = RunDirectory(tmp_path / "a")
    directory.create()
    with directory.locked(), pytest.raises(RunError, match=rf"in use by pid {os.getpid()} on "):
        run(tmp_path / "a", config)


def test_a_stale_lock_file_is_no_obstacle(config, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "lock").write_text("pid 999999 on elsewhere\n")
    assert run(tmp_path / "a", config)["tokens"] == 3_000


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"tokens": 3}, StreamError, "at least 4"),
        ({"learner": "shrap"}, ConfigError, "there is no learner 'shrap'"),
        ({"stream": StreamConfig(name="nowhere")}, StreamError, "nowhere"),
        ({"probe_every": 100, "probe_length": 200}, ConfigError, "probe_length = 200"),
        (
            {"probe_every": 100, "probe_length": 50, "stream": StreamConfig(name="-")},
            ConfigError,
            "cannot be read twice",
        ),
    ],
)
def test_what_cannot_run_leaves_no_directory(config, tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        run(tmp_path / "a", config.replace(**changes))
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(("content", "message"), [("", "empty"), ("abc", "only 3 tokens"), ("\x00\x01", "text")])
def test_files_that_cannot_be_learned_from(config, tmp_path, content, message):
    file = tmp_path / "f.txt"
    file.write_text(content)
    with pytest.raises(StreamError, match=message):
        run(tmp_path / "a", config.replace(stream=StreamConfig(name=str(file))))
    assert not (tmp_path / "a").exists()


def test_probes_fill_the_matrix_and_change_nothing(config, tmp_path):
    run(tmp_path / "plain", config)
    run(tmp_path / "probed", config.replace(probe_every=1_000, probe_length=200))
    rows = Log(tmp_path / "probed" / "metrics.jsonl").rows()
    probes = [row for row in rows if row["event"] == "probe"]
    assert [len(row["bits"]) for row in probes] == [2, 3, 4]
    assert (
        probes[-1]["bits"][0] < probes[0]["bits"][1]
    )  # after 3,000 tokens the past is known better than the unseen was
    same = (tmp_path / name / "summary.json" for name in ("plain", "probed"))
    assert len({json.loads(path.read_text())["state_sha256"] for path in same}) == 1


def test_a_run_that_leaves_the_finite_numbers_keeps_its_last_good_checkpoint(config, tmp_path):
    sharp = replace(config.sharp, adam=AdamConfig(lr=1e38))
    with pytest.raises(NumericalError, match=r"token \d+"):
        run(tmp_path / "a", config.replace(sharp=sharp), checkpoint_seconds=0.0)
    assert not (tmp_path / "a" / "summary.json").exists()


def test_a_run_begun_when_film_normed_was_called_film_is_read_as_what_it_is(config, tmp_path):
    old = config.replace(sharp=replace(config.sharp, conditioning="film-normed", activation="pre"))
    directory = RunDirectory(tmp_path / "old")
    run(directory.path, old.replace(tokens=1_000))
    text = directory.config_file.read_text().replace('conditioning = "film-normed"', 'conditioning = "film"')
    directory.config_file.write_text("\n".join(line for line in text.split("\n") if not line.startswith("credit")))
    assert directory.load_config() == old.replace(tokens=1_000)
    new = RunDirectory(tmp_path / "new")
    run(new.path, config.replace(tokens=1_000))
    assert new.load_config().sharp.conditioning == "film"
