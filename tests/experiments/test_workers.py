"""Workers end with their command, however it ends, and what they had done is taken up again."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from sharpstream.experiments.workers import STOPPED, Progress, logged_tokens

PROGRAM = "import sys; from sharpstream.cli import main; sys.exit(main(sys.argv[1:]))"
COMMAND = [sys.executable, "-c", PROGRAM, "reproduce", "acceleration", "--scale", "quick", "--jobs", "1"]
COMMAND += ["--only", "K2-alpha-4-0"]


def holder(run) -> int:
    """The process that works on this run, by its lock; 0 while there is none."""
    try:
        return int((run / "lock").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def hear_ctrl_c() -> None:
    """Tests started in the background inherit a deaf ear for it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_worker_ends_with_its_command_and_its_run_goes_on_later(number, tmp_path):
    out = ["--out", str(tmp_path)]
    run = tmp_path / "runs" / "K2-alpha-4-0"
    command = subprocess.Popen(
        [*COMMAND, *out], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=hear_ctrl_c
    )
    wait_for(lambda: holder(run))
    worker = holder(run)
    command.send_signal(number)
    ended = command.wait(30)
    assert ended == {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: STOPPED, signal.SIGINT: 130}[number]
    wait_for(lambda: not alive(worker))
    assert list((run / "checkpoints").iterdir()), "it ended without saving"
    again = subprocess.run([*COMMAND, *out], capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert "1 of 1 jobs, K2-alpha-4-0" in again.stdout


def log(run, *tokens: int, tail: str = "") -> None:
    run.mkdir(parents=True)
    lines = [json.dumps({"event": "interval", "tokens": count}) + "\n" for count in tokens]
    (run / "metrics.jsonl").write_text("".join(lines) + tail)


def test_how_far_a_run_is_comes_from_its_log(tmp_path):
    log(tmp_path / "run", *range(100, 30_000, 100), tail='{"event": "inter')
    assert logged_tokens(tmp_path / "run") == 29_900
    assert logged_tokens(tmp_path / "nothing") == 0


def test_time_left_is_by_tokens_and_counts_what_is_under_way(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("sharpstream.experiments.workers.time.monotonic", lambda: now[0])
    progress = Progress({"a": 1_000, "b": 3_000, "c": 0}, tmp_path, done_before=2)  # c makes no run: 2,000, the mean
    assert "not known yet" in progress.line([], ["a", "b", "c"])
    now[0] = 110.0
    assert progress.line(["a"], ["b", "c"]) == "3 of 5 jobs, a; 50 s left"  # 1,000 in 10 s, 5,000 to go
    log(tmp_path / "b", 1_500)
    now[0] = 125.0
    assert progress.line([], ["b", "c"]) == "3 of 5 jobs, b 50%; 35 s left"  # 2,500 in 25 s, 3,500 to go


def test_what_an_earlier_command_did_is_not_taken_for_speed(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("sharpstream.experiments.workers.time.monotonic", lambda: now[0])
    log(tmp_path / "a", 900)
    progress = Progress({"a": 1_000, "b": 1_000}, tmp_path, done_before=0)
    now[0] = 10.0
    assert progress.line(["a"], ["b"]) == "1 of 2 jobs, a; 1 min 40 s left"  # 100 in 10 s, 1,000 to go
