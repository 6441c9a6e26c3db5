"""`sharp reproduce NAME`: a figure or table of the paper: rows, picture, and published beside ours."""

import functools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from sharpstream.commands.options import parse
from sharpstream.errors import ConfigError
from sharpstream.experiments.harness import EXPERIMENTS, WorkOff, reproduce
from sharpstream.experiments.ray_workers import work_off_with_ray
from sharpstream.experiments.workers import work_off


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Run one of the paper's experiments. Repeat the command to go on where it stopped."""

    name: Annotated[str, tyro.conf.Positional]
    """Which one; a name that there is not lists them all."""
    scale: Literal["quick", "laptop", "paper"] = "quick"
    """quick: about a minute; laptop: a few hours on two cores; paper: the published size."""
    protocol: Literal["fair", "paper"] = "fair"
    """fair, or as published."""
    jobs: int = 2
    """Processes at a time, one thread each."""
    only: str = "*"
    """Run only the jobs whose key matches this pattern, such as 'segment0-*'; what is done before is still shown."""
    engine: Literal["local", "ray"] = "local"
    """local: processes of this machine; ray: tasks of a Ray cluster (extra `ray`)."""
    address: str = ""
    """ray only: the cluster to join, such as ray://head:10001 or auto; one is started here when not given."""
    out: Path | None = None
    """Where everything goes; reproduced/NAME-SCALE-PROTOCOL when not given."""


def main(argv: Sequence[str]) -> int:
    """Run what is missing and say where the results are."""
    options = parse(ReproduceOptions, argv, command="reproduce")
    if options.jobs < 1:
        raise ConfigError(f"jobs = {options.jobs}: it must be an integer ≥ 1")
    if options.name not in EXPERIMENTS:
        raise ConfigError(f"there is no experiment {options.name!r}; there are: {', '.join(EXPERIMENTS)}")
    out = options.out or default_out(options.name, options.scale, options.protocol)
    command = whole_command(options, out)
    if options.address and options.engine != "ray":
        raise ConfigError(f"--address {options.address} goes with --engine ray")
    work: WorkOff = work_off
    if options.engine == "ray":
        work = functools.partial(work_off_with_ray, address=options.address)
    reproduce(
        options.name,
        options.scale,
        options.protocol,
        out,
        workers=options.jobs,
        command=command,
        only=options.only,
        work=work,
    )
    print((out / "RESULTS.md").read_text())
    print(f"written: {out}")
    return 0


def default_out(name: str, scale: str, protocol: str) -> Path:
    """Where an experiment goes when nobody says; `sharp plan` looks there for what is done."""
    return Path("reproduced") / f"{name}-{scale}-{protocol}"


def whole_command(options: ReproduceOptions, out: Path) -> str:
    """What makes all rows again: without --only, which says what was done this time."""
    words = ["--scale", options.scale, "--protocol", options.protocol, "--jobs", str(options.jobs), "--out", str(out)]
    return shlex.join(["sharp", "reproduce", options.name, *words])
