"""`sharp pages [DIR ...]`: make result pages again from their rows; what people wrote around the made part stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sharpstream.commands.options import parse
from sharpstream.errors import RunError
from sharpstream.experiments.harness import page_from_rows
from sharpstream.files import write_whole


@dataclass(frozen=True, kw_only=True)
class PagesOptions:
    """Make RESULTS.md again from rows.csv: after a claim or a table of an experiment changed, without its jobs."""

    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")] = ()
    """Where rows.csv lies; everything below `results` that has both files when not given."""


def main(argv: Sequence[str]) -> int:
    """Say which pages changed."""
    chosen = parse(PagesOptions, argv, command="pages").directories
    found = chosen or tuple(sorted(path.parent for path in Path("results").rglob("rows.csv")))
    if not found:
        raise RunError("there is no results/**/rows.csv here; name the directory of an experiment")
    for directory in found:
        if not (directory / "rows.csv").is_file():
            raise RunError(f"{directory} has no rows.csv; `sharp reproduce` writes one")
        page, made = directory / "RESULTS.md", page_from_rows(directory)
        same = page.is_file() and page.read_text(encoding="utf-8") == made
        if not same:
            write_whole(page, made)
        print(f"{page}: {'as its rows say' if same else 'written'}")
    return 0
