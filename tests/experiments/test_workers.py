"""Workers end with their command, however it ends, and what they had done is taken up again."""

import functools
import os
import signal
import subprocess
import sys
import time

import pytest

from sharpstream.errors import RunError
from sharpstream.experiments.pace import Progress
from sharpstream.experiments.workers import STOPPED, work_off

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


def job(path, problem: Exception | None = None) -> None:
    """In a worker: what a job does, or how it fails."""
    if problem:
        raise problem
    path.touch()


def progress_of(tasks, path) -> Progress:
    """Of tasks that make no runs."""
    nothing = dict.fromkeys(tasks, 0)
    return Progress(nothing, nothing, nothing, dict.fromkeys(tasks, ""), path, workers=1, done_before=0)


def test_a_job_that_a_person_can_mend_stops_no_other(tmp_path, capsys):
    tasks = {
        "full": functools.partial(job, tmp_path / "full", RunError("the disk is full")),
        "fine": functools.partial(job, tmp_path / "fine"),
    }
    progress = progress_of(tasks, tmp_path)
    failed = work_off(tasks, workers=1, progress=progress)
    assert {key: str(problem) for key, problem in failed.items()} == {"full": "the disk is full"}
    assert (tmp_path / "fine").exists()
    said = capsys.readouterr().out.splitlines()
    assert any("full FAILED (the disk is full)" in line for line in said)
    assert said[-1].startswith("1 of 2 jobs")


def test_a_bug_ends_everything_with_its_own_error(tmp_path):
    tasks = {"bug": functools.partial(job, tmp_path / "bug", ZeroDivisionError("ours"))}
    with pytest.raises(ZeroDivisionError, match="ours"):
        work_off(tasks, workers=1, progress=progress_of(tasks, tmp_path))
