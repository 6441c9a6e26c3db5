"""Learning that leaves the finite numbers: the run ends with one line that names the token and the last good state."""

import re
import subprocess

import pytest
from small_runs import SHARP, halted, small

from sharpstream import checkpoint
from sharpstream.commands.fork import fork


@pytest.fixture
def doomed(tmp_path):
    """A run that is well until token 1,400, and then has a learning rate that no number survives."""
    parent = halted(tmp_path / "parent", small("sharp"))
    fork(parent, tmp_path / "run", None, ["adam.lr=1e30"])
    return tmp_path / "run"


def command(path):
    return subprocess.run(
        [*SHARP, "run", str(path), "--checkpoint-seconds", "0"], capture_output=True, text=True, timeout=120
    )


def test_the_error_names_token_and_checkpoint_and_comes_again_from_the_same_state(doomed):
    (good,) = checkpoint.saved(doomed / "checkpoints")
    before = {file.name: file.read_bytes() for file in good.iterdir()}
    told = [command(doomed), command(doomed)]
    for one in told:
        assert one.returncode == 2
        lines = one.stderr.strip().splitlines()
        assert lines[-2] == f"continuing {doomed} at token 1,400"
        assert re.search(r"^sharp: learning left the finite numbers at token 14\d\d", lines[-1])
        assert lines[-1].endswith(f"the last good state is {good}")
    assert told[0].stderr.splitlines()[-1] == told[1].stderr.splitlines()[-1]
    assert checkpoint.saved(doomed / "checkpoints") == [good]
    assert {file.name: file.read_bytes() for file in good.iterdir()} == before
    assert not (doomed / "summary.json").exists()
