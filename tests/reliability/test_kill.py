"""Real processes die by SIGKILL at random moments and inside every system call of a checkpoint; the result is the same.

The hashes compared are of config, log, summary and the last checkpoint's two files.
"""

import itertools
import os
import random
import signal
import subprocess
import time

import pytest
from nursery import CALLS, HALF, SLEEP
from small_runs import SHARP, hashes, small

from sharpstream.config_files import to_dict, to_toml
from sharpstream.factory import LEARNERS

KILLS = 3  # for each of the nine learners


def timed(nursery, path, config) -> float:
    """Seconds of a whole run in a process of its own, kernels loaded."""
    assert nursery.run(path, config, warm=True) == 0
    began = time.monotonic()
    assert nursery.run(path.with_name("timed"), config) == 0
    return time.monotonic() - began


def interrupted(nursery, path, config, seconds: float, kills: int, chance: random.Random) -> int:
    """Kill a run up to `kills` times, then let it end; how many kills found it alive and unfinished."""
    landed = 0
    for _ in range(kills):
        pid = nursery.start(path, config)
        time.sleep(chance.uniform(0, 0.5 * seconds))
        os.kill(pid, signal.SIGKILL)
        code = nursery.end()
        if code == 0:  # it was quicker: a zombie was killed
            break
        assert code == -signal.SIGKILL
        landed += not (path / "summary.json").exists()
    assert nursery.run(path, config) == 0
    return landed


def kill_until(nursery, folder, learner: str, wanted: int, same: dict[str, str]) -> int:
    """Lives of a few kills each until enough have landed; every one ends with the same bytes."""
    config, chance, landed = to_dict(small(learner)), random.Random(learner), 0
    seconds = timed(nursery, folder / "warm", config)
    for life in range(10 * wanted):
        path = folder / f"life-{life}"
        landed += interrupted(nursery, path, config, seconds, min(KILLS, wanted - landed), chance)
        assert hashes(path) == same
        if landed >= wanted:
            return landed
    raise AssertionError(f"only {landed} of {wanted} kills landed")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(nursery, uninterrupted, tmp_path, learner):
    assert kill_until(nursery, tmp_path, learner, KILLS, uninterrupted(learner)) >= KILLS


@pytest.mark.soak
@pytest.mark.parametrize("learner", LEARNERS)
def test_two_hundred_kills(nursery, uninterrupted, tmp_path, learner):
    assert kill_until(nursery, tmp_path, learner, 25, uninterrupted(learner)) >= 25


def deaths(nursery, folder, learner: str, call: str, *, after: bool = False) -> int:
    """Die in the first such call, then in the second, ... until a run needs no more of them; how often it died."""
    config = to_dict(small(learner).replace(tokens=600, log_every=400))
    assert nursery.run(folder / "whole", config, warm=True) == 0
    same = hashes(folder / "whole")
    for number in itertools.count(1):
        path = folder / f"{call}-{number}"
        code = nursery.run(path, config, call=call, die_at=number, after=after)
        if code == 0:
            assert hashes(path) == same
            return number - 1
        assert code == -signal.SIGKILL
        assert nursery.run(path, config) == 0
        assert hashes(path) == same
    raise AssertionError("unreachable")


@pytest.mark.parametrize("call", [*CALLS, HALF])
def test_dying_inside_any_system_call_that_writes_changes_nothing(nursery, tmp_path, call):
    assert deaths(nursery, tmp_path, "counts", call) >= 1


def test_dying_inside_a_sleep_changes_nothing(nursery, tmp_path):
    assert deaths(nursery, tmp_path, "sharp", SLEEP) >= 3


@pytest.mark.soak
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", [*CALLS, HALF])
@pytest.mark.parametrize("learner", ["counts", "sharp", "transformer"])
def test_dying_before_or_after_every_such_call_of_other_learners(nursery, tmp_path, learner, call, after):
    assert deaths(nursery, tmp_path, learner, call, after=after) >= 1


def test_the_command_itself_killed_twice_and_continued(uninterrupted, tmp_path):
    """The same through `sharp run DIR`, which needs no options to continue."""
    toml, path = tmp_path / "small.toml", tmp_path / "run"
    toml.write_text(to_toml(small("sharp")))
    command = [*SHARP, "run", str(path), "--checkpoint-seconds", "0"]
    first = subprocess.Popen([*command, "--config", str(toml)], stderr=subprocess.DEVNULL)
    for process, tokens in ((first, 500), (None, 1_500)):
        process = process or subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while not (path / "checkpoints" / f"{tokens:015d}").exists():
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.001)
        process.kill()
        assert process.wait(30) == -signal.SIGKILL
        assert not (path / "summary.json").exists()
    told = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0
    assert "continuing" in told.stderr
    assert "Finished" in told.stdout
    assert hashes(path) == uninterrupted("sharp")
