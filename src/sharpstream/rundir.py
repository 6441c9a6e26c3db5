"""A run is a directory that resumes itself: config, log, checkpoints, lock, summary. The loop works through this.

config.toml     the resolved settings            metrics.jsonl   the one source of truth, a row an interval
checkpoints/    the last two                     timing.jsonl    wall-clock times (not part of the result)
summary.json    only when the run is finished    lock            held by the process at work
parent.json     where it was forked from, if it was
probe-NAME.json what an experiment scored frozen when the run was finished
"""

import hashlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sharpstream.checkpoint import Checkpoint
from sharpstream.config import RunConfig
from sharpstream.config_files import load_toml, to_dict, to_toml
from sharpstream.errors import ConfigError, RunError
from sharpstream.files import sync, write_whole

PROBE_FILE = "probe-{}.json"
LEFTOVERS = (".config.toml.", ".summary.json.", ".parent.json.", ".probe-")  # of a `write_whole` that died
LARGEST_TABLE = 2**20  # bytes
LARGEST_CONFIG = 2**14  # bytes; ours have two or three thousand, and TOML can be made slow to read
SUMMARY_KINDS = {
    "learner": str, "stream": dict, "tokens": int, "bits": float,
    "parameters": int, "active_parameters": int, "state_sha256": str,
}  # fmt: skip


NEWER_SETTING = "\ncredit = "  # a config of ours has had this line since 0.2


class RunDirectory:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file, self.metrics_file = path / "config.toml", path / "metrics.jsonl"
        self.timing_file, self.summary_file = path / "timing.jsonl", path / "summary.json"
        self.checkpoints, self.lock_file = path / "checkpoints", path / "lock"
        self.parent_file = path / "parent.json"

    @property
    def started(self) -> bool:
        """Whether a run has begun here."""
        return self.config_file.exists()

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """The result, once the run is finished. What cannot be read counts as absent: the run makes it again."""
        return _summary_or_none(_json_table(self.summary_file))

    @property
    def parent(self) -> Mapping[str, Any] | None:
        """Where this run was forked from, if it was."""
        return _json_table(self.parent_file)

    def create(self) -> None:
        """Make the directory; refuse one that holds something else, or whose files lead elsewhere."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            items = list(self.path.iterdir())
        except OSError as problem:
            raise RunError(f"cannot make the run directory {self.path}: {problem.strerror}") from problem
        links = [item.name for item in items if item.is_symlink()]
        if links:
            raise RunError(f"{self.path / links[0]} is a link; a run keeps everything in its own directory")
        foreign = [item.name for item in items if item.name != "lock" and not item.name.startswith(LEFTOVERS)]
        if not self.started and foreign:
            raise RunError(f"{self.path} is not empty and not a run of ours (it has {foreign[0]}); choose another name")

    def tidy(self) -> None:
        """Remove what a process that died here had half-written; only for whoever holds the lock."""
        for item in self.path.iterdir():
            if item.name.startswith(LEFTOVERS):
                item.unlink(missing_ok=True)

    def save_config(self, config: RunConfig) -> None:
        """Keep the resolved settings, durably: without them the directory is not a run."""
        write_whole(self.config_file, to_toml(config))
        sync(self.path)

    def load_config(self) -> RunConfig:
        """The settings this run was started with."""
        try:
            if self.config_file.stat().st_size > LARGEST_CONFIG:
                raise ConfigError(f"{self.config_file} is larger than any config of ours")
            config = load_toml(self.config_file, RunConfig())
            return config if NEWER_SETTING in self.config_file.read_text(encoding="utf-8") else _renamed(config)
        except OSError as problem:
            raise ConfigError(f"cannot read {self.config_file}: {problem.strerror}") from problem
        except (RecursionError, OverflowError) as problem:
            raise ConfigError(f"{self.config_file} is damaged: {problem}") from problem

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory; a second process is refused, a dead one's lock falls away with its process."""
        lock = FileLock(self.lock_file, mode=0o644, blocking=False)
        try:
            lock.acquire()
            self._sign(f"pid {os.getpid()} on {socket.gethostname()}\n")
        except Timeout:
            raise RunError(
                f"{self.path} is in use by {self._holder()}; wait for it or choose another directory"
            ) from None
        except OSError as problem:
            lock.release()
            raise RunError(f"cannot write in the run directory {self.path}: {problem.strerror}") from problem
        try:
            yield
            self._sign("")
        finally:
            lock.release()

    def _sign(self, name: str) -> None:
        """Say in the lock file who holds it."""
        descriptor = os.open(self.lock_file, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, name.encode())
        finally:
            os.close(descriptor)

    def _holder(self) -> str:
        """Who holds the lock, by what it wrote there."""
        try:
            told = self.lock_file.read_bytes()[:200].decode(errors="replace").strip()
        except OSError:  # Windows lets nobody read a locked file
            told = ""
        return told if told and told.isprintable() else "another process"


def _renamed(config: RunConfig) -> RunConfig:
    """The settings of a run begun before 0.2, when the block that is `film-normed` now was called `film`."""
    if config.sharp.conditioning != "film":
        return config
    return replace(config, sharp=replace(config.sharp, conditioning="film-normed"))


def _json_table(path: Path) -> Mapping[str, Any] | None:
    """A small JSON file of ours, or None when it is absent or is not what we write."""
    try:
        if path.stat().st_size > LARGEST_TABLE:
            return None
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None


def _summary_or_none(table: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The table if it has what every reader of a summary relies on."""
    if table is None or any(type(table.get(name)) is not kind for name, kind in SUMMARY_KINDS.items()):
        return None
    return table


class Log:
    """Rows of JSON, one a line, appended and cut back; its size and sha256 go into each checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = hashlib.sha256()  # of everything since the beginning: what was meant, not what the disk says

    def append(self, rows: list[Mapping[str, Any]]) -> None:
        """Add rows at the end."""
        text = "".join(json.dumps(row, separators=(", ", ": ")) + "\n" for row in rows)
        if text:
            self.add(text.encode())

    def add(self, content: bytes) -> None:
        """Add whole lines at the end."""
        with self._speaking(), self.path.open("ab") as file:
            file.write(content)
        self._digest.update(content)

    def settle(self) -> tuple[int, str]:
        """Make everything so far durable; its size in bytes and its sha256."""
        with self._speaking(), self.path.open("ab") as file:
            os.fsync(file.fileno())
            return file.tell(), self._digest.hexdigest()

    def begins_with(self, size: int, sha256: str) -> bool:
        """Whether the first `size` bytes are there and are those that a checkpoint recorded."""
        found = self._prefix(size)
        return found is not None and found.hexdigest() == sha256

    def first(self, size: int, sha256: str) -> bytes:
        """The first `size` bytes, if they are those that a checkpoint recorded."""
        if not self.begins_with(size, sha256):
            raise RunError(f"{self.path} is damaged: its first {size:,} bytes are not those that were logged")
        with self._speaking(), self.path.open("rb") as file:
            return file.read(size)

    def cut(self, size: int) -> None:
        """Drop what was logged after the checkpoint that recorded `size`."""
        with self._speaking():
            with self.path.open("ab") as file:
                file.truncate(size)
            self._digest = self._prefix(size) or hashlib.sha256()

    def _prefix(self, size: int) -> "hashlib._Hash | None":
        """The hash of the first `size` bytes; None when there are fewer."""
        digest, left = hashlib.sha256(), size
        with self._speaking():
            if not self.path.is_file():
                return digest if size == 0 else None
            with self.path.open("rb") as file:
                while left and (piece := file.read(min(left, 1 << 20))):
                    digest.update(piece)
                    left -= len(piece)
        return digest if left == 0 else None

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise RunError(f"cannot write {self.path}: {problem.strerror}; the last checkpoint is intact") from problem

    def rows(self) -> list[dict[str, Any]]:
        """Every row; a torn last line is none yet, any other damage is an error: a result would lack a row."""
        lines = self._lines()
        rows = [row_or_none(line) for line in lines]
        damaged = [number for number, row in enumerate(rows, 1) if row is None and number < len(lines)]
        if damaged:
            raise RunError(f"{self.path} is damaged: line {damaged[0]:,} is not a row; make the run again")
        return [row for row in rows if row is not None]

    def readable_rows(self) -> list[dict[str, Any]]:
        """Every row that can be read: of wall-clock times, a line that a full disk tore costs one interval."""
        return [row for line in self._lines() if (row := row_or_none(line)) is not None]

    def _lines(self) -> list[bytes]:
        return [line for line in self.path.read_bytes().split(b"\n") if line.strip()] if self.path.exists() else []


def row_or_none(line: bytes) -> dict[str, Any] | None:
    """A row of a log, or None where the line is not a whole one."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def log_mark(saved: Checkpoint) -> tuple[int, str]:
    """How long the log was when a checkpoint was made, and its sha256."""
    size, sha256 = saved.record.get("metrics_bytes"), saved.record.get("metrics_sha256")
    if type(size) is not int or not 0 <= size < 2**62 or not isinstance(sha256, str):
        raise RunError(f"the record of {saved.path} does not say where its log ended: it is not of `sharp run`")
    return size, sha256


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
    """`settings_differences` of two run configs."""
    return settings_differences(to_dict(ours), to_dict(theirs))


def settings_differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """`differences` of two runs' settings; what only the episodic learner reads is none where neither is one.

    Its settings get new defaults from version to version, and a run of another learner goes on all the same.
    """
    found = differences(ours, theirs)
    if "episodic" in (ours.get("learner"), theirs.get("learner")):
        return found
    return [difference for difference in found if not difference.startswith("episodic.")]
