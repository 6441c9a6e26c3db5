"""`sharp tensorboard RUN…`: what runs have logged, as TensorBoard reads it. metrics.jsonl stays the one source.

Each call writes the event file of a run anew, so a run that was cut back on resume is never shown twice. Needs the
extra `tensorboard`, nothing of TensorFlow.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from sharpstream.commands.compare import named
from sharpstream.commands.options import parse
from sharpstream.errors import ConfigError, RunError
from sharpstream.rundir import Log, RunDirectory


@dataclass(frozen=True, kw_only=True)
class TensorBoardOptions:
    """Write event files for `tensorboard --logdir OUT`; with --follow again and again while the runs go on."""

    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Directories of runs."""
    out: Path = Path("tensorboard")
    """Where the event files go, a directory for each run."""
    follow: float = 0.0
    """Seconds between two rounds; 0: once."""


def main(argv: Sequence[str]) -> int:
    """One round, or many."""
    options = parse(TensorBoardOptions, argv, command="tensorboard")
    if not options.directories:
        raise ConfigError("name at least one run: sharp tensorboard RUN ...")
    if not 0.0 <= options.follow < 1e9:
        raise ConfigError(f"--follow {options.follow}: it must be a number of seconds ≥ 0")
    while True:
        for name, path in named(options.directories).items():
            count = write(path, options.out / name)
            print(f"{options.out / name}: {count:,} values; look at them with tensorboard --logdir {options.out}")
        if not options.follow:
            return 0
        time.sleep(options.follow)


def write(path: Path, out: Path) -> int:
    """The event file of one run, whole; how many values it has."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as problem:
        raise ConfigError("event files need tensorboard: pip install 'sharpstream[tensorboard]'") from problem
    if not RunDirectory(path).started:
        raise RunError(f"there is no run in {path}; start one with `sharp run {path}`")
    earlier = sorted(out.glob("events.out.tfevents.*")) if out.is_dir() else []
    writer, count = EventFileWriter(str(out)), 0
    for tokens, tag, value in values(Log(RunDirectory(path).metrics_file).readable_rows()):
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(step=tokens, summary=summary, wall_time=float(tokens)))
        count += 1
    writer.close()
    for old in earlier:  # only files of this kind, which an earlier round wrote
        old.unlink()
    return count


def values(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str, float]]:
    """(tokens, tag, value) of every number that was logged."""
    for row in rows:
        for name, value in row.items():
            if name == "tokens" or isinstance(value, bool):
                continue
            if isinstance(value, (int, float)):
                yield row["tokens"], f"{row['event']}/{name}", float(value)
        for place, bits in enumerate(row["bits"] if row["event"] == "probe" else ()):
            yield row["tokens"], f"probe/segment {place}", float(bits)
        for level, told in (row["levels"] if row["event"] == "sleep" else {}).items():
            if told["loss"] is not None:
                yield row["tokens"], f"sleep/loss of memory {level}", float(told["loss"])
