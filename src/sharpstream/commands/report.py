"""`sharp report DIR… --out page.html`: runs and experiments on one page that opens anywhere, without a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sharpstream.commands.options import parse
from sharpstream.errors import ConfigError, RunError
from sharpstream.files import write_whole
from sharpstream.rundir import RunDirectory
from sharpstream.showing.page import Section, page
from sharpstream.showing.runs import run_section
from sharpstream.showing.studies import study_section


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """One HTML file: what was run, published beside ours, curves, sleeps, what is kept, and what surprised."""

    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Runs (`sharp run`) and experiments (`sharp reproduce`), in the order of the page."""
    out: Path = Path("page.html")
    """Where the page goes."""
    title: str = "sharpstream"
    """Its heading."""
    passage: int = 600
    """Symbols that each run reads in the surprise reader; 0 for none."""


def main(argv: Sequence[str]) -> int:
    """Read everything, then write the page whole."""
    options = parse(ReportOptions, argv, command="report")
    if not options.directories:
        raise ConfigError("name at least one directory of a run or an experiment: sharp report DIR ...")
    if not 0 <= options.passage <= 20_000:
        raise ConfigError(f"--passage {options.passage}: it must be in 0..20,000 symbols")
    sections = [section_of(path, number, options.passage) for number, path in enumerate(options.directories)]
    write_whole(options.out, page(options.title, sections))
    print(f"wrote {options.out} ({len(sections)} parts)")
    return 0


def section_of(path: Path, number: int, passage: int) -> Section:
    """A run or an experiment, whichever the directory holds."""
    if RunDirectory(path).started:
        return run_section(path, number, passage)
    if (path / "rows.csv").is_file():
        return study_section(path, number)
    raise RunError(f"{path} holds neither a run (config.toml) nor an experiment (rows.csv)")
