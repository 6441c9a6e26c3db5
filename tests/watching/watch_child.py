"""The real `sharp watch` as a child process, fed by a real pipe."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sharpstream.checkpoint import read_record, saved

COMMAND = [sys.executable, "-c", "from sharpstream.cli import entry; entry()", "watch"]
SMALL = {"levels": 2, "width": 8, "embedding": 4, "depth": 1, "sleep.every": 300}
TINY = ["--learner=sharp", *(f"--sharp.{name}={value}" for name, value in SMALL.items())]


class Child:
    """A running `sharp watch`."""

    def __init__(self, directory: Path, *flags: str, tiny: bool = True) -> None:
        self.directory = directory
        words = [*COMMAND, str(directory), *(TINY if tiny else []), *flags]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe)

    def give(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def row(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        row: dict[str, Any] = json.loads(self.process.stdout.readline())
        return row

    def said(self) -> str:
        """The next line on standard error."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode()

    def end(self, signal_number: int | None = None, last: bytes = b"") -> tuple[int, list[dict[str, Any]], str]:
        """Send a signal, or `last` and the end of input; exit code, remaining rows, remaining standard error."""
        if signal_number is not None:
            self.process.send_signal(signal_number)
        out, told = self.process.communicate(last or None, timeout=60)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], told.decode()

    def record(self) -> dict[str, Any]:
        """The newest checkpoint's record."""
        return dict(read_record(saved(self.directory / "checkpoints")[-1]))

    def saved_offset(self, log: Path) -> int:
        """How far in a file the newest checkpoint is; -1 before the first."""
        if not saved(self.directory / "checkpoints"):
            return -1
        return int(self.record()["watch"]["places"].get(str(log), {"offset": -1})["offset"])


Start = Callable[..., Child]


def wait_until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that another process does."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)
