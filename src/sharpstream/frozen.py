"""A run's learner as its newest checkpoint left it, to be looked at: nothing is learned, nothing is written."""

import sys
from pathlib import Path

from sharpstream import checkpoint
from sharpstream.errors import RunError
from sharpstream.loop import Run, prepare
from sharpstream.rundir import RunDirectory


def opened(path: Path) -> Run:
    """A run with its newest checkpoint loaded."""
    directory = RunDirectory(path)
    if not directory.started:
        raise RunError(f"there is no run in {path}; start one with `sharp run {path}`")
    work = prepare(path, directory.load_config())
    saved = checkpoint.load_latest(directory.checkpoints, work.state_limit(), tell=_tell)
    if saved is None:
        raise RunError(f"the run in {path} has no checkpoint yet")
    work.look(saved)
    return work


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
