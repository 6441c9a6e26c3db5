"""Small runs of every learner, whole or stopped, and what of a run directory must be the same bytes."""

import hashlib
import os
import signal
import sys
from pathlib import Path

import pytest

from sharpstream.config import (
    AdamConfig,
    ClockworkConfig,
    CountsConfig,
    EpisodicConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    TransformerConfig,
)
from sharpstream.loop import Stopped, run
from sharpstream.report.progress import Silent

ADAM = AdamConfig(lr=3e-3)
SMALL = RunConfig(
    seed=3,
    tokens=3_100,
    log_every=700,
    sharp=SharpConfig(
        levels=2, width=8, embedding=4, depth=2, adam=ADAM, sleep=SleepConfig(every=300, tags=4, replay_length=32)
    ),
    recurrent=RecurrentConfig(layers=2, width=8, embedding=4, adam=ADAM),
    clockwork=ClockworkConfig(modules=3, width=4, embedding=4, adam=ADAM),
    # longer than the loop's chunks, as in earnest: checkpoints then lie inside a chunk of the Transformer
    transformer=TransformerConfig(layers=1, width=16, heads=2, d_ff=16, chunk=1_024, adam=ADAM),
    counts=CountsConfig(order=3, table_bits=10),
    episodic=EpisodicConfig(memory="128kB", network=4),
)
SHARP = (sys.executable, "-c", "from sharpstream.cli import entry; entry()")  # the command, wherever it is installed
RESULT = ("config.toml", "metrics.jsonl", "summary.json")  # timing.jsonl holds wall-clock times


def small(learner: str) -> RunConfig:
    """A run of a few tenths of a second."""
    return SMALL.replace(learner=learner)


def hashes(path: Path) -> dict[str, str]:
    """sha256 of everything a finished run leaves: result files and its last checkpoint."""
    latest = sorted((path / "checkpoints").iterdir())[-1]
    files = [path / name for name in RESULT] + sorted(latest.iterdir())
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


class StopAt(Silent):
    """Sends SIGTERM to this process once so many tokens are done."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def update(self, tokens: int, bits: float) -> None:
        if tokens >= self.tokens:
            os.kill(os.getpid(), signal.SIGTERM)


def halted(path: Path, config: RunConfig, at: int = 1_400) -> Path:
    """A run that was told to stop, with a checkpoint after each of its last two chunks."""
    with pytest.raises(Stopped):
        run(path, config, display=StopAt(at), checkpoint_seconds=0.0)
    return path
