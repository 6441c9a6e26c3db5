"""`sharp plan NAME`: how many hours an experiment takes on this machine, per arm and in all, before it starts."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from sharpstream.commands.options import parse
from sharpstream.commands.reproduce import default_out
from sharpstream.errors import ConfigError
from sharpstream.evaluate.machine import describe
from sharpstream.experiments.planning import Arm, Plan, plan
from sharpstream.report.grid import Grid, rich_table
from sharpstream.report.progress import clock

HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Measure every kind of run of an experiment for some seconds and say how long the whole takes here."""

    name: Annotated[str, tyro.conf.Positional]
    """An experiment of `sharp reproduce`."""
    scale: Literal["quick", "laptop", "paper"] = "laptop"
    """As for `sharp reproduce`, where quick is the default: nobody plans a minute."""
    protocol: Literal["fair", "paper"] = "fair"
    """fair, or as published."""
    jobs: int = 2
    """Processes at a time, one thread each."""
    only: str = "*"
    """Plan only the jobs whose key matches this pattern, such as 'segment0-*'."""
    out: Path | None = None
    """Where the results are: jobs done there are not counted; reproduced/NAME-SCALE-PROTOCOL when not given."""
    json: bool = False
    """Print JSON instead of a table."""


def main(argv: Sequence[str]) -> int:
    """Measure, multiply, print."""
    options = parse(PlanOptions, argv, command="plan")
    if options.jobs < 1:
        raise ConfigError(f"jobs = {options.jobs}: it must be an integer ≥ 1")
    out = options.out or default_out(options.name, options.scale, options.protocol)
    found = plan(
        options.name, options.scale, options.protocol, out, workers=options.jobs, only=options.only, tell=_tell
    )
    if options.json:
        said = {"experiment": options.name, "scale": options.scale, "protocol": options.protocol}
        print(json.dumps({**said, **as_json(found), "machine": vars(describe())}))
        return 0
    if found.arms:
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else 140)
        console.print(rich_table(table(found, f"{options.name}, {options.scale}, {options.protocol}")))
    print("\n".join(summary(found)))
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def table(found: Plan, title: str) -> Grid:
    """One row per arm."""
    columns = ("jobs", "number", "learner", "tokens per job", "tokens/s", "asleep", "scoring", "h per job", "h in all")
    return Grid(title=title, columns=columns, rows=tuple(_row(arm) for arm in found.arms))


def _row(arm: Arm) -> tuple[str | int | float, ...]:
    per_job = arm.cost.seconds
    asleep, scoring = (f"{100 * part / per_job:.0f} %" for part in (arm.cost.asleep, arm.cost.scoring))
    hours = per_job / HOUR
    return arm.name, arm.jobs, arm.learner, arm.tokens, round(arm.rate), asleep, scoring, hours, arm.jobs * hours


def summary(found: Plan) -> list[str]:
    """The total, then what it rests on: one sentence each."""
    left = sum(arm.jobs for arm in found.arms)
    workers = f"{found.workers} worker{'s' * (found.workers > 1)}"
    lines = [f"{found.done} of {found.jobs} jobs are done and not counted."] if found.done else []
    if found.unknown:
        lines.append(f"{found.unknown} jobs make no run; how long they take is not known and not counted.")
    for learner in dict.fromkeys(found.missing):
        jobs = found.missing.count(learner)
        lines.append(
            f"{jobs} jobs of the {learner} are not counted: it needs PyTorch, which is not installed "
            "(pip install 'sharpstream[torch]')."
        )
    if not left:
        return lines or ["There is nothing to measure."]
    lines.append(
        f"Total: {left} jobs, {found.busy / HOUR:.2f} CPU hours; with {workers} "
        f"{clock(found.wall)} from start to end ({found.wall / HOUR:.2f} h)."
    )
    return [*lines, *basis(found)]


def basis(found: Plan) -> list[str]:
    """How the numbers came about and which way they err."""
    lines = [
        "Measured one run at a time, beside whatever else this machine was doing."
        + (" Runs side by side share caches and memory bandwidth and are slower: expect more." * (found.workers > 1)),
        "Not counted: starting processes, compiling, checkpoints, figures. Interrupted runs are counted whole.",
    ]
    if any("sharp" in arm.learner for arm in found.arms):
        lines.append(
            "SHARP was measured on the first tokens of its stream; where its gate closes later, it gets faster."
        )
    if any(arm.cost.asleep for arm in found.arms):
        lines.append(
            "Asleep: one real sleep with a full buffer of tags, before anything is learned, for each sleep to come; "
            "with fewer tags sleep is shorter."
        )
    if found.unforeseen:
        lines.append("Some learners sleep when there is something new: nobody knows how often, so it is not counted.")
    lines += [f"{name} is not on this machine: measured on uniformly drawn tokens instead." for name in found.drawn]
    return lines


def as_json(found: Plan) -> dict[str, Any]:
    """Every number of the table and the summary, for scripts."""
    arms = [
        {
            "arm": arm.name,
            "jobs": arm.jobs,
            "learner": arm.learner,
            "tokens_per_job": arm.tokens,
            "tokens_per_second": arm.rate,
            "seconds_learning": arm.cost.learning,
            "seconds_asleep": arm.cost.asleep,
            "seconds_scoring": arm.cost.scoring,
            "hours_per_job": arm.cost.seconds / HOUR,
            "hours": arm.jobs * arm.cost.seconds / HOUR,
        }
        for arm in found.arms
    ]
    return {
        "arms": arms,
        "jobs": found.jobs,
        "done": found.done,
        "unknown": found.unknown,
        "missing": list(found.missing),
        "workers": found.workers,
        "cpu_hours": found.busy / HOUR,
        "wall_hours": found.wall / HOUR,
        "drawn_tokens_for": list(found.drawn),
        "notes": basis(found) if found.arms else [],
    }
