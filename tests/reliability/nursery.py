"""A process that runs runs: it loads the kernels once and forks a real process for each order it reads.

`python nursery.py` reads one JSON order a line and answers with the child's pid; the line `end` asks for its wait
status. Until then a dead child keeps its pid, so that no other process can be killed in its place. The tests kill the
children with SIGKILL, or order them to kill themselves inside a certain system call.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # one thread, also because it forks

CALLS = ("fsync", "rename", "replace", "ftruncate", "unlink", "rmdir", "mkdir")
HALF = "half a file"  # beside the calls: die after writing half of a checkpoint's file
SLEEP = "consolidate"  # beside the calls: die while asleep


class Nursery:
    """The tests' side of it."""

    def __enter__(self) -> "Nursery":
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def start(self, path: Path, config: Mapping[str, Any], **order: Any) -> int:
        """A new process that starts or continues the run in `path`; its pid."""
        self._say(json.dumps({"path": str(path), "config": config, **order}))
        return int(self.process.stdout.readline())

    def _say(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Wait for the one just started: its exit code, or minus the signal that ended it."""
        self._say("end")
        return os.waitstatus_to_exitcode(int(self.process.stdout.readline()))

    def run(self, path: Path, config: Mapping[str, Any], **order: Any) -> int:
        """Start and wait."""
        self.start(path, config, **order)
        return self.end()


def work(order: Mapping[str, Any]) -> None:
    """What a child does."""
    from sharpstream.config import RunConfig
    from sharpstream.config_files import from_dict
    from sharpstream.loop import run

    config = from_dict(RunConfig, order["config"])
    if order.get("die_at"):
        die_at(order["call"], order["die_at"], order["after"])
    run(Path(order["path"]), config, checkpoint_seconds=order.get("checkpoint_seconds", 0.0))


def die_at(call: str, number: int, after: bool) -> None:
    """From now on the n-th `call` of this process kills it, before or after doing its work."""
    from sharpstream import checkpoint
    from sharpstream.learners import sharp

    counted = 0
    owner, name = {HALF: (checkpoint, "_write"), SLEEP: (sharp, SLEEP)}.get(call, (os, call))
    true = getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        nonlocal counted
        counted += 1
        if counted < number:
            return true(*arguments, **named)
        if call == HALF:
            path, content = arguments
            path.write_bytes(content[: len(content) // 2])
        elif after:
            true(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, counting)


def warm(order: Mapping[str, Any]) -> None:
    """Load in this process what the children will need. torch is only imported: once it has learned it cannot fork."""
    if order["config"]["learner"] == "transformer":
        import sharpstream.reference.transformer  # noqa: F401
    else:
        work(order)


def answer(text: object) -> None:
    print(text, flush=True)


def main() -> None:
    """Serve orders until the tests close the pipe."""
    while line := sys.stdin.readline():
        order = json.loads(line)
        if order.get("warm"):
            warm(order)
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.dup2(2, 1)  # nothing of the run may look like an answer
                work(order)
                code = 0
            finally:
                os._exit(code)
        answer(child)
        assert sys.stdin.readline() == "end\n"
        answer(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main()
