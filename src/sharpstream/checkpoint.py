"""A checkpoint is a directory: `tensors.safetensors` and `state.json`, written whole or not at all.

It is written under a temporary name, fsynced and renamed; the last two are kept. Loading verifies checksums, takes the
newest good one and says which were damaged. Nothing in it can execute; nothing larger than expected is read.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sharpstream.errors import NumericalError, RunError
from sharpstream.learners.contract import State

FORMAT = 1
TENSORS, RECORD = "tensors.safetensors", "state.json"
KEPT = 2
LARGEST_RECORD = 64 * 2**20  # bytes; a record holds a config, counters and curves, never tensors
HEADER_ROOM = 2**20  # bytes of names and shapes in a safetensors file beside the numbers themselves


@dataclass(frozen=True)
class Checkpoint:
    """What was read back: the learner's arrays and the record beside them."""

    path: Path
    tensors: State
    record: Mapping[str, Any]

    @property
    def tokens(self) -> int:
        """How many tokens had been learned."""
        return int(self.record["tokens"])


class Damaged(RunError):
    """This checkpoint cannot be trusted; an older one may be."""


def save(root: Path, tensors: State, record: Mapping[str, Any], *, kept: int = KEPT) -> Path:
    """Write a checkpoint for record["tokens"] under `root`, then let the oldest go."""
    from safetensors.numpy import save as to_bytes

    for name, array in tensors.items():
        if array.dtype.kind == "f" and name != "floor" and not np.isfinite(array).all():
            raise NumericalError(f"{name} is not finite at token {record['tokens']}; no checkpoint was written")
    name = f"{int(record['tokens']):015d}"
    temporary, final = root / f".{name}.{os.getpid()}.partial", root / name
    try:
        root.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(root)
        temporary.mkdir()
        content = to_bytes({key: np.ascontiguousarray(array).reshape(array.shape) for key, array in tensors.items()})
        _write(temporary / TENSORS, content)
        full = {**record, "format": FORMAT, "sha256": hashlib.sha256(content).hexdigest()}
        _write(temporary / RECORD, _sealed(full))
        _sync(temporary)
        if final.exists():  # the same tokens again (a run stopped right after a checkpoint): the new one replaces it
            shutil.rmtree(final)
        temporary.rename(final)
        _sync(root)
    except OSError as problem:
        shutil.rmtree(temporary, ignore_errors=True)
        raise RunError(
            f"cannot write a checkpoint under {root}: {problem.strerror or problem}; the last good one is intact"
        ) from problem
    for old in saved(root)[:-kept]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def saved(root: Path) -> list[Path]:
    """Every finished checkpoint under `root`, oldest first."""
    if not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if path.is_dir() and path.name.isdigit())


def load_latest(root: Path, largest: int, *, tell: Callable[[str], None]) -> Checkpoint | None:
    """The newest good checkpoint; `tell` hears of damaged ones. None when there never was one."""
    paths = saved(root)
    for path in reversed(paths):
        try:
            return load(path, largest)
        except Damaged as problem:
            tell(f"{problem}; trying the one before")
    if paths:
        raise RunError(f"every checkpoint under {root} is damaged; delete that directory to start the run again")
    return None


def load(path: Path, largest: int) -> Checkpoint:
    """Read and verify one checkpoint whose arrays may take `largest` bytes."""
    record = read_record(path)
    size = _size(path / TENSORS)
    if size > largest + HEADER_ROOM:
        raise Damaged(f"{path / TENSORS} has {size:,} bytes where at most {largest + HEADER_ROOM:,} were expected")
    content = _read(path / TENSORS)
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise Damaged(f"{path / TENSORS} is damaged: its sha256 is not the recorded one")
    return Checkpoint(path=path, tensors=_tensors(path, content), record=record)


def read_record(path: Path) -> Mapping[str, Any]:
    """The verified `state.json` of a checkpoint."""
    if _size(path / RECORD) > LARGEST_RECORD:
        raise Damaged(f"{path / RECORD} is larger than any record of ours")
    try:
        sealed = json.loads(_read(path / RECORD))
        record, seal = sealed["record"], sealed["seal"]
        good = isinstance(record, dict) and seal == _seal(record)
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise Damaged(f"{path / RECORD} is damaged: it is not a sealed record") from problem
    if not good:
        raise Damaged(f"{path / RECORD} is damaged: its seal does not match")
    if record.get("format") != FORMAT:
        raise RunError(
            f"{path} has checkpoint format {record.get('format')}, but this version reads format {FORMAT}; "
            "update sharpstream to continue this run"
        )
    if not isinstance(record.get("tokens"), int):
        raise Damaged(f"{path / RECORD} does not say how many tokens were learned")
    return dict(record)


def _tensors(path: Path, content: bytes) -> State:
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        return dict(from_bytes(content))
    except (SafetensorError, ValueError, KeyError, TypeError) as problem:
        raise Damaged(f"{path / TENSORS} is not a safetensors file: {problem}") from problem


def _canonical(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


def _seal(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(record).encode()).hexdigest()


def _sealed(record: Mapping[str, Any]) -> bytes:
    plain = json.loads(_canonical(record))  # exactly what a reader will parse
    return json.dumps({"record": plain, "seal": _seal(plain)}, indent=1).encode()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as problem:
        raise Damaged(f"{path} is missing or unreadable ({problem.strerror})") from problem


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise Damaged(f"{path} is missing or unreadable ({problem.strerror})") from problem


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    """Make the directory's entries durable, so that a rename survives a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(root: Path) -> None:
    """Half-written checkpoints of processes that died; the run directory's lock says that none is alive."""
    for partial in root.glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)
