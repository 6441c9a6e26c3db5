"""`sharp compare RUN…` and `sharp plot RUN`: runs side by side, as a table and one figure of their curves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import tyro

from sharpstream.commands.options import parse
from sharpstream.errors import ConfigError, RunError
from sharpstream.report.curves import prequential_curves
from sharpstream.report.grid import Grid, rich_table
from sharpstream.report.style import save_figure
from sharpstream.rundir import Log, RunDirectory


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Runs side by side: what each reads, its bits over what all have seen and over all; a picture if asked."""

    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Directories of runs, finished or not."""
    out: Path | None = None
    """Where the figure of their curves goes (a .png; a .pdf lies beside it)."""
    json: bool = False
    """Print JSON."""


@dataclass(frozen=True, kw_only=True)
class PlotOptions:
    """Draw a run's bits along its stream."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's directory."""
    out: Path | None = None
    """Where the figure goes; RUN/curve.png when not given."""


def main(argv: Sequence[str]) -> int:
    """The table, and the figure if asked."""
    options = parse(CompareOptions, argv, command="compare")
    if not options.directories:
        raise ConfigError("name at least one run: sharp compare RUN RUN ...")
    runs = {name: look(path) for name, path in named(options.directories).items()}
    shared = min(run["tokens"] for run in runs.values())
    rows = [{"run": name, **summary(run, shared)} for name, run in runs.items()]
    if options.json:
        print(json.dumps(rows))
    else:
        _print(rows, shared)
    if options.out is not None:
        draw({name: run["curve"] for name, run in runs.items()}, options.out)
    return 0


def main_plot(argv: Sequence[str]) -> int:
    """One run's curve."""
    options = parse(PlotOptions, argv, command="plot")
    run = look(options.directory)
    draw({options.directory.name: run["curve"]}, options.out or options.directory / "curve.png")
    return 0


def named(directories: Sequence[Path]) -> dict[str, Path]:
    """Each run under the shortest name that no other has: its own, or as much of its path as it takes."""
    paths = list(dict.fromkeys(path.resolve() for path in directories))
    for length in range(1, 1 + max(len(path.parts) for path in paths)):
        names = {"/".join(path.parts[-length:]): path for path in paths}
        if len(names) == len(paths):
            return names
    return {str(path): path for path in paths}


def look(path: Path) -> dict[str, Any]:
    """What a run has logged so far."""
    directory = RunDirectory(path)
    if not directory.started:
        raise RunError(f"there is no run in {path}; start one with `sharp run {path}`")
    config = directory.load_config()
    intervals = [row for row in Log(directory.metrics_file).readable_rows() if row["event"] == "interval"]
    if not intervals:
        raise RunError(
            f"the run in {path} has logged nothing yet; its first line comes after {config.log_every:,} tokens"
        )
    curve = [(row["tokens"], row["bits"]) for row in intervals]
    return {"config": config, "curve": curve, "tokens": curve[-1][0], "finished": directory.summary is not None}


def summary(run: Mapping[str, Any], shared: int) -> dict[str, Any]:
    """One line of the table."""
    curve, config = run["curve"], run["config"]
    first = [point for point in curve if point[0] <= shared]
    return {
        "learner": config.learner,
        "stream": config.stream.name,
        "seed": config.seed,
        "tokens": run["tokens"],
        "finished": run["finished"],
        "bits_shared": mean(first) if first else None,
        "bits": mean(curve),
        "last": curve[-1][1],
    }


def mean(curve: Sequence[tuple[int, float]]) -> float:
    """Of the intervals, each weighed by its length."""
    ends = [0, *(tokens for tokens, _ in curve)]
    lengths = [end - start for start, end in pairwise(ends)]
    return sum(bits * n for (_, bits), n in zip(curve, lengths, strict=True)) / sum(lengths)


def _print(rows: Sequence[Mapping[str, Any]], shared: int) -> None:
    from rich.console import Console

    columns = ("run", "learner", "stream", "seed", "tokens", f"bits, first {shared:,}", "bits, all", "last interval")
    cells = tuple(
        (r["run"], r["learner"], r["stream"], r["seed"], r["tokens"], r["bits_shared"], r["bits"], r["last"])
        for r in rows
    )
    streams = {(r["stream"], r["seed"]) for r in rows}
    note = "" if len(streams) == 1 else "These runs do not all read the same stream: their bits do not compare."
    Console().print(
        rich_table(Grid(title="Runs, bits before learning", columns=columns, rows=cells, note=note, decimals=4))
    )


def draw(curves: Mapping[str, Sequence[tuple[int, float]]], out: Path) -> None:
    """All curves in one figure."""
    if out.suffix != ".png":
        raise ConfigError(f"--out {out}: the figure is a .png (a .pdf is written beside it)")
    lines = {name: ([x for x, _ in curve], [y for _, y in curve]) for name, curve in curves.items()}
    save_figure(prequential_curves(lines, legend="run, bits at the end"), out)
    print(f"wrote {out}")
