"""Every example runs as it stands, in under a minute, and says what it should."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
TOLD = {
    "own_tokens": "an event out of turn costs",
    "compare_learners": "drawn: ",
    "freeze_and_evaluate": "the learner is as it was",
    "stop_and_resume": "equal, every bit\nlogs equal, every byte",
    "own_learner": "every promise of the contract is kept\nadd-one learned 3,000 tokens",
}


def test_every_example_is_run_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_an_example_runs_and_says_what_it_should(name, tmp_path):
    command = [sys.executable, EXAMPLES / f"{name}.py"]
    subprocess.run([sys.executable, "-c", WARM], check=True, cwd=tmp_path)  # the first start compiles, once
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=240, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert TOLD[name] in done.stdout
    assert time.monotonic() - began < 60


WARM = """
from sharpstream.learners import recurrent_learner, sharp, warm
warm.ensure(sharp.KERNELS, "float32")
warm.ensure(recurrent_learner.KERNELS, "float32")
"""
