"""`sharp pages [DIR ...]`: make result pages and the tables of the README again from rows; what people wrote stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sharpstream.commands.options import parse
from sharpstream.errors import RunError
from sharpstream.experiments.harness import page_from_rows
from sharpstream.experiments.summaries import PLACE, draw_frontier, filled
from sharpstream.files import write_whole


@dataclass(frozen=True, kw_only=True)
class PagesOptions:
    """Make RESULTS.md again from rows.csv: after a claim or a table of an experiment changed, without its jobs."""

    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")] = ()
    """Where rows.csv lies; when not given, all below `results`, and the tables in README.md and on pages there."""
    pictures: bool = False
    """Draw their pictures again, too: after a drawing changed."""


def main(argv: Sequence[str]) -> int:
    """Say which pages changed."""
    options = parse(PagesOptions, argv, command="pages")
    chosen = options.directories
    directories = chosen or tuple(sorted(path.parent for path in Path("results").rglob("rows.csv")))
    if not directories:
        raise RunError("there is no results/**/rows.csv here; name the directory of an experiment")
    for directory in directories:
        if not (directory / "rows.csv").is_file():
            raise RunError(f"{directory} has no rows.csv; `sharp reproduce` writes one")
        _write(directory / "RESULTS.md", page_from_rows(directory, draw=options.pictures))
    for page in () if chosen else (Path("README.md"), *sorted(Path("results").rglob("RESULTS.md"))):
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        if PLACE.search(text):
            _write(page, filled(text, Path("results")))
    if not chosen and (Path("results") / "frontier" / "paper" / "rows.csv").is_file():
        print(f"{draw_frontier(Path('results'))}: drawn")
    return 0


def _write(page: Path, made: str) -> None:
    same = page.is_file() and page.read_text(encoding="utf-8") == made
    if not same:
        write_whole(page, made)
    print(f"{page}: {'as its rows say' if same else 'written'}")
