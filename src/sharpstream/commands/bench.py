"""`sharp bench`: how fast this machine is at this, as ratios measured in one run; tables, rows and a figure."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from sharpstream.commands.options import parse
from sharpstream.evaluate.machine import describe
from sharpstream.files import write_whole
from sharpstream.report.grid import rows_as_csv

What = Literal["engine", "learners", "growth", "output", "all"]


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Time the engine against its reference and the floor, every learner beside it, and how cost grows."""

    what: Annotated[What, tyro.conf.Positional] = "engine"
    """engine: fused, reference and floor; learners: all of them; growth: cost against sizes; output: the
    output layer of a large vocabulary against its floor; all: the four."""
    widths: tuple[int, ...] = (128, 512)
    """Widths of the text8 recipe to measure."""
    vocabulary: int = 32_000
    """Symbols of the output layer (output)."""
    rounds: int = 5
    """Each thing is timed this often, in turn with the others."""
    out: Path | None = None
    """Write rows (CSV with the machine's description) and figures there."""
    json: bool = False
    """Print JSON instead of tables."""


def main(argv: Sequence[str]) -> int:
    """Measure what was asked for and print it."""
    options = parse(BenchOptions, argv, command="bench")
    results: dict[str, list[dict[str, Any]]] = {}
    for name, measure in MEASURES.items():
        if options.what in (name, "all"):
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            results[name] = measure(options)
    machine = describe()
    if options.json:
        print(json.dumps({"machine": vars(machine), **results}))
    else:
        for name, rows in results.items():
            _print(name, rows)
        print(f"machine: {machine.hardware}; {machine.software}")
    if options.out is not None:
        command = f"sharp bench {' '.join(argv)}"
        for name, rows in results.items():
            stamped = [
                {**row, "machine": machine.hardware, "software": machine.software, "command": command} for row in rows
            ]
            write_whole(options.out / f"bench-{name}.csv", rows_as_csv(stamped))
            print(f"wrote {options.out / f'bench-{name}.csv'}", file=sys.stderr)
    return 0


def _engine(options: BenchOptions) -> list[dict[str, Any]]:
    from sharpstream.bench.engine import measure_engine, recipe
    from sharpstream.bench.memories import measure_memories

    return [
        row
        for width in options.widths
        for rows in (
            measure_engine(width, rounds=options.rounds).rows(),
            measure_memories(recipe(width), rounds=options.rounds),
        )
        for row in rows
    ]


def _learners(options: BenchOptions) -> list[dict[str, Any]]:
    from sharpstream.bench.learners import measure_learners

    return [
        {"width": width, **row}
        for width in options.widths
        for row in measure_learners(width, rounds=max(2, options.rounds // 2))
    ]


def _growth(options: BenchOptions) -> list[dict[str, Any]]:
    from sharpstream.bench.growth import growth_figure, measure_growth, measure_memory

    growth, memory = measure_growth(), measure_memory()
    if options.out is not None:
        from sharpstream.report.style import save_figure

        save_figure(growth_figure(growth, memory), options.out / "bench-growth.png")
    rows: list[dict[str, Any]] = [{"axis": "stream", "size": int(row["tokens"]), **row} for row in memory]
    return [*growth, *rows]


def _output(options: BenchOptions) -> list[dict[str, Any]]:
    from sharpstream.bench.output import measure_output

    widths = options.widths
    return [row for width in widths for row in measure_output(width, options.vocabulary, rounds=options.rounds)]


MEASURES = {"engine": _engine, "learners": _learners, "growth": _growth, "output": _output}


def _print(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    for name in columns:
        table.add_column(name.replace("_", " "), justify="left" if isinstance(rows[0].get(name), str) else "right")
    for row in rows:
        table.add_row(*(_shown(row.get(name)) for name in columns))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
