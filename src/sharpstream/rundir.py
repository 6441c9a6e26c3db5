"""A run is a directory that resumes itself: config, log, checkpoints, lock, summary. The loop works through this.

config.toml     the resolved settings            metrics.jsonl   the one source of truth, a row an interval
checkpoints/    the last two                     timing.jsonl    wall-clock times (not part of the result)
summary.json    only when the run is finished    lock            held by the process at work
"""

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharpstream.config import RunConfig, load_toml, to_dict, to_toml
from sharpstream.errors import RunError
from sharpstream.evaluate.atomic import write_whole


class RunDirectory:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file, self.metrics_file = path / "config.toml", path / "metrics.jsonl"
        self.timing_file, self.summary_file = path / "timing.jsonl", path / "summary.json"
        self.checkpoints, self.lock_file = path / "checkpoints", path / "lock"

    @property
    def started(self) -> bool:
        """Whether a run has begun here."""
        return self.config_file.exists()

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """The result, once the run is finished."""
        if not self.summary_file.exists():
            return None
        try:
            summary = json.loads(self.summary_file.read_text())
        except (OSError, ValueError, RecursionError) as problem:
            raise RunError(f"{self.summary_file} cannot be read: {problem}") from problem
        return dict(summary)

    def create(self) -> None:
        """Make the directory; refuse one that holds something else."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = [item.name for item in self.path.iterdir() if item.name != "lock"]
        except OSError as problem:
            raise RunError(f"cannot make the run directory {self.path}: {problem.strerror}") from problem
        if not self.started and foreign:
            raise RunError(f"{self.path} is not empty and not a run of ours (it has {foreign[0]}); choose another name")

    def save_config(self, config: RunConfig) -> None:
        """Keep the resolved settings."""
        write_whole(self.config_file, to_toml(config))

    def load_config(self) -> RunConfig:
        """The settings this run was started with."""
        return load_toml(self.config_file, RunConfig())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory; a second process is refused, a dead one's lock falls away with its process."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise RunError(f"cannot write in the run directory {self.path}: {problem.strerror}") from problem
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
                raise RunError(
                    f"{self.path} is in use by {holder}; wait for it or choose another directory"
                ) from problem
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode())
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


class Log:
    """Rows of JSON, one a line, appended and cut back; the size in bytes goes into each checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, rows: list[Mapping[str, Any]]) -> None:
        """Add rows at the end."""
        text = "".join(json.dumps(row, separators=(", ", ": ")) + "\n" for row in rows)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as problem:
            raise RunError(f"cannot write {self.path}: {problem.strerror}; the last checkpoint is intact") from problem

    def settle(self) -> int:
        """Make everything so far durable; the size in bytes."""
        try:
            with self.path.open("ab") as file:
                os.fsync(file.fileno())
                return file.tell()
        except OSError as problem:
            raise RunError(f"cannot write {self.path}: {problem.strerror}; the last checkpoint is intact") from problem

    def cut(self, size: int) -> None:
        """Drop what was logged after the checkpoint that recorded `size`."""
        have = self.path.stat().st_size if self.path.exists() else 0
        if have < size:
            raise RunError(f"{self.path} has {have} bytes, but the checkpoint was made at {size}; the log was damaged")
        with self.path.open("ab") as file:
            file.truncate(size)

    def rows(self) -> list[dict[str, Any]]:
        """Every whole row."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines() if line.strip()]


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every setting in which two nested configs differ, as `name: theirs → ours`."""
    found: list[str] = []
    for name in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(name), theirs.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{prefix}{name}.")
        elif a != b:
            found.append(f"{prefix}{name}: {b!r} → {a!r}")
    return found


def config_differences(ours: RunConfig, theirs: RunConfig) -> list[str]:
    """`differences` of two run configs."""
    return differences(to_dict(ours), to_dict(theirs))
