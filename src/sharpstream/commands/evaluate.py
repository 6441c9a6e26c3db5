"""`sharp evaluate DIR`: what a run's learner knows, frozen: the future, the present and its first past."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from sharpstream import checkpoint
from sharpstream.commands.options import parse
from sharpstream.errors import RunError
from sharpstream.evaluate.probes import score_probe
from sharpstream.loop import Run, prepare
from sharpstream.rundir import RunDirectory
from sharpstream.streams import open_stream


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Forward (unseen future), current (last learned) and backward (first learned) bits, with learning off."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """A run's directory."""
    length: int = 10_000
    """Tokens in each of the three probes."""
    json: bool = False
    """Print JSON."""


def main(argv: Sequence[str]) -> int:
    """Load the newest checkpoint, score the three probes, print them."""
    options = parse(EvaluateOptions, argv, command="evaluate")
    work = opened(options.directory)
    rows = probe(work, options.length)
    if options.json:
        print(json.dumps(rows))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{options.directory}: frozen after {work.total.tokens:,} tokens")
    for heading in ("probe", "tokens", "true bits", "bits capped at 4.755", "accuracy"):
        table.add_column(heading, justify="left" if heading == "probe" else "right")
    for row in rows:
        accuracy = "-" if row["accuracy"] is None else f"{row['accuracy']:.4f}"
        table.add_row(row["probe"], f"{row['tokens']:,}", f"{row['bits']:.4f}", f"{row['bits_clipped']:.4f}", accuracy)
    Console().print(table)
    return 0


def opened(path: Path) -> Run:
    """A run with its newest checkpoint loaded, ready to be looked at."""
    directory = RunDirectory(path)
    if not directory.started:
        raise RunError(f"there is no run in {path}; start one with `sharp run {path}`")
    work = prepare(path, directory.load_config())
    saved = checkpoint.load_latest(directory.checkpoints, work.state_limit(), tell=print)
    if saved is None:
        raise RunError(f"the run in {path} has no checkpoint yet")
    work.look(saved)
    return work


def probe(work: Run, length: int) -> list[Mapping[str, Any]]:
    """The three probes of a run's own stream; forward goes on where learning ended, if the corpus does."""
    learned = work.total.tokens
    length = min(length, learned)
    stream = open_stream(replace(work.config.stream, end=None), seed=work.config.seed)
    rows: list[Mapping[str, Any]] = []
    for name, start in (("forward", learned), ("current", learned - length), ("backward", 0)):
        stream.seek(start)
        tokens = stream.take(length)
        if tokens.size:
            rows.append(vars(score_probe(work.learner, tokens, probe=name)))
    return rows
