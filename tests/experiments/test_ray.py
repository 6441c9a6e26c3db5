"""Ray: the same rows as in one process, also when a worker is killed in the middle of its run."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="no ray here (extra `ray`)")

RAY = ["--engine", "ray", "--jobs", "2"]


def command(out, *words):
    run = ["-m", "sharpstream", "reproduce", "acceleration", "--scale", "quick", "--out", str(out), *words]
    return [sys.executable, *run]


def rows(out):
    """What the jobs measured, without where and when."""
    found = {}
    for path in sorted((out / "jobs").glob("*.json")):
        made = json.loads(path.read_text())["rows"]
        found[path.name] = [{name: cell for name, cell in row.items() if name != "software"} for row in made]
    return found


def holder(out) -> int:
    for lock in out.glob("runs/*/lock"):
        words = lock.read_text().split()
        if len(words) > 1 and words[1].isdigit():
            return int(words[1])
    return 0


def test_a_killed_worker_is_started_again_and_the_rows_are_those_of_one_process(tmp_path):
    only = ["--only", "K2-alpha-[14]-0"]
    serial = subprocess.run(command(tmp_path / "serial", "--jobs", "1", *only), capture_output=True, text=True)
    assert serial.returncode == 0, serial.stderr
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    driver = subprocess.Popen(command(tmp_path / "ray", *RAY, *only), **pipes)
    end = time.monotonic() + 120
    while not (worker := holder(tmp_path / "ray")):
        assert time.monotonic() < end, "no worker began"
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.02)
    os.kill(worker, signal.SIGKILL)
    said, complained = driver.communicate(timeout=300)
    assert driver.returncode == 0, complained
    assert rows(tmp_path / "ray") == rows(tmp_path / "serial")
    assert "2 of 2 jobs" in said


def test_an_address_without_ray_is_told():
    done = subprocess.run(command("nowhere", "--address", "auto"), capture_output=True, text=True)
    assert (done.returncode, "goes with --engine ray" in done.stderr) == (2, True)
