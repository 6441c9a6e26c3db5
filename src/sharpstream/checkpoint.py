"""A checkpoint is a directory: `tensors.safetensors` and `state.json`, written whole or not at all.

It is written under a temporary name, fsynced and renamed; the last two are kept. Loading verifies checksums, takes the
newest good one and says which were damaged. Nothing in it can execute; nothing larger than expected is read.
Whoever saves holds the run directory's lock, so what is half-written was left by a process that died.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sharpstream.errors import NumericalError, RunError
from sharpstream.files import sync
from sharpstream.files import write_durably as _write
from sharpstream.learners.contract import Learner, State

FORMAT = 1
TENSORS, RECORD = "tensors.safetensors", "state.json"
KEPT = 2
LARGEST_RECORD = 4 * 2**20  # bytes; a record holds a config and counters, never tensors
REPLACED = ".replaced"
_NAME = re.compile(r"[0-9]{15}(\.replaced)?")
MOST = 2**62  # above any count, and one more does not overflow
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
    strange = _implausible(tensors)
    if strange:
        raise NumericalError(f"{strange} is not finite at token {record['tokens']}; no checkpoint was written")
    name = f"{int(record['tokens']):015d}"
    temporary, final = root / f".{name}.{os.getpid()}.partial", root / name
    try:
        _make_root(root)
        temporary.mkdir()
        _write_all(temporary, tensors, record)
        _put_in_place(temporary, final)
        sync(root)
    except OSError as problem:
        shutil.rmtree(temporary, ignore_errors=True)
        raise RunError(
            f"cannot write a checkpoint under {root}: {problem.strerror or problem}; the last good one is intact"
        ) from problem
    _prune(root, final, kept)
    return final


def _implausible(tensors: State) -> str:
    """The first array with numbers that no learner leaves behind, or nothing: what is never written is never read.

    `floor` begins as infinity; counters and tokens are counts, and an order of counts may be −1.
    """
    for name, array in tensors.items():
        if array.dtype.kind == "f" and name.rpartition(".")[2] != "floor" and not np.isfinite(array).all():
            return name
        if array.dtype.kind == "i" and array.size and not (array.min() >= -1 and array.max() < MOST):
            return name
    return ""


def _make_root(root: Path) -> None:
    """The directory of checkpoints, durable, and without what a dead process left half-written."""
    if not root.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        sync(root.parent)
    for partial in root.glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)


def _write_all(temporary: Path, tensors: State, record: Mapping[str, Any]) -> None:
    from safetensors.numpy import save as to_bytes

    content = to_bytes({key: np.ascontiguousarray(array).reshape(array.shape) for key, array in tensors.items()})
    full = _sealed({**record, "format": FORMAT, "sha256": hashlib.sha256(content).hexdigest()})
    if len(full) > LARGEST_RECORD:
        raise RunError(f"the record of this run has {len(full):,} bytes; at most {LARGEST_RECORD:,} can be read back")
    _write(temporary / TENSORS, content)
    _write(temporary / RECORD, full)
    sync(temporary)


def _put_in_place(temporary: Path, final: Path) -> None:
    """Rename; one of the same tokens steps aside first, and is still found if we die between the two renames."""
    if final.exists():
        aside = final.with_name(final.name + REPLACED)
        shutil.rmtree(aside, ignore_errors=True)
        final.rename(aside)
    temporary.rename(final)


def _prune(root: Path, final: Path, kept: int) -> None:
    """Keep the newest; what lies beyond `final` is a damaged future that is being written again."""
    keep = [path for path in saved(root) if path.name <= final.name][-kept:]
    for path in _candidates(root):
        if path not in keep:
            shutil.rmtree(path, ignore_errors=True)


def _candidates(root: Path) -> list[Path]:
    """Everything that may hold a checkpoint, oldest first; a replaced one comes before what replaced it."""
    if not root.is_dir():
        return []
    found = [path for path in root.iterdir() if _NAME.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=lambda path: (path.name.removesuffix(REPLACED), not path.name.endswith(REPLACED)))


def saved(root: Path) -> list[Path]:
    """Every finished checkpoint under `root`, oldest first."""
    return [path for path in _candidates(root) if not path.name.endswith(REPLACED)]


def largest_state(learner: Learner) -> int:
    """The most bytes a learner's state can take: what it takes now and what can still grow."""
    return sum(array.nbytes for array in learner.state_dict().values()) + learner.growth_bytes


def load_latest(
    root: Path, largest: int, *, tell: Callable[[str], None], check: Callable[[Checkpoint], None] | None = None
) -> Checkpoint | None:
    """The newest good checkpoint that also passes `check`; `tell` hears of damaged ones. None: there never was one."""
    paths, reasons = _candidates(root)[::-1], []
    for i, path in enumerate(paths):
        try:
            found = load(path, largest)
            if check is not None:
                check(found)
            return found
        except Damaged as problem:
            reasons.append(str(problem))
            tell(f"{problem}; " + ("trying the one before" if i + 1 < len(paths) else "there is none before it"))
    if paths:
        raise RunError(
            f"no checkpoint under {root} can be continued ({'; '.join(reasons)}); delete that directory to start the "
            "run from its first token"
        )
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
    if type(record.get("tokens")) is not int or f"{record['tokens']:015d}" != path.name.removesuffix(REPLACED):
        raise Damaged(f"{path / RECORD} is not the record of the tokens that its directory is named after")
    return dict(record)


def _tensors(path: Path, content: bytes) -> State:
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        tensors: State = dict(from_bytes(content))
    except (SafetensorError, ValueError, KeyError, TypeError) as problem:
        raise Damaged(f"{path / TENSORS} is not a safetensors file: {problem}") from problem
    strange = _implausible(tensors)
    if strange:
        raise Damaged(
            f"{path / TENSORS} is not a state of ours: {strange} holds numbers that no learning leaves behind"
        )
    return tensors


def _canonical(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


def _seal(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(record).encode()).hexdigest()


def _sealed(record: Mapping[str, Any]) -> bytes:
    plain = json.loads(_canonical(record))  # exactly what a reader will parse
    return json.dumps({"record": plain, "seal": _seal(plain)}, indent=1).encode()


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError as problem:
        raise Damaged(f"{path} is missing or unreadable ({problem.strerror})") from problem
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for ever
        raise Damaged(f"{path} is not a regular file")
    return found.st_size


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise Damaged(f"{path} is missing or unreadable ({problem.strerror})") from problem
