"""A table as cells, and the four ways to show it: terminal (rich), Markdown, CSV, LaTeX.

In comes a `Grid` of plain cells, out comes text; `tables.py` fills grids from result rows, the command line and the
experiments print and write them. Floats are rounded for people and kept whole in CSV.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.errors import ConfigError
from sharpstream.evaluate.atomic import write_whole

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Cell = str | int | float | None
ABSENT = "–"

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Column names and rows of cells; `note` is the small print below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    decimals: int = 3

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ConfigError(
                    f"row {number} of {self.title!r} has {len(row)} cells for {len(self.columns)} columns"
                )

    def text(self, cell: Cell) -> str:
        """A cell as people read it."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return ABSENT
        if isinstance(cell, bool | str):
            return str(cell)
        return f"{cell:,}" if isinstance(cell, int) else f"{cell:.{self.decimals}f}"

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers only, and so stands to the right."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def rich_table(grid: Grid) -> "RichTable":
    """For the terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    # Text, not str: a cell such as "[4, 1024]" must not be read as markup.
    table = RichTable(title=Text(grid.title), caption=Text(grid.note) if grid.note else None, title_justify="left")
    for place, name in enumerate(grid.columns):
        table.add_column(Text(name), justify="right" if grid.numeric(place) else "left")
    for row in grid.rows:
        table.add_row(*(Text(grid.text(cell)) for cell in row))
    return table


def markdown(grid: Grid) -> str:
    """A GitHub-style table under its title."""

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---:" if grid.numeric(place) else "---" for place in range(len(grid.columns))) + "|"
    body = [line([grid.text(cell) for cell in row]) for row in grid.rows]
    parts = [f"**{grid.title}**", "", line(list(grid.columns)), rule, *body]
    return "\n".join([*parts, *(["", grid.note] if grid.note else [])]) + "\n"


def csv_text(grid: Grid) -> str:
    """Every digit, empty cells for what is absent, no title."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(grid.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in grid.rows])
    return text.getvalue()


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Long rows, which are no grid yet; columns in order of first appearance."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def latex(grid: Grid) -> str:
    """A booktabs table to be \\input into a paper."""
    align = "".join("r" if grid.numeric(place) else "l" for place in range(len(grid.columns)))
    rows = [" & ".join(_escape(grid.text(cell)) for cell in row) + r" \\" for row in grid.rows]
    caption = _escape(f"{grid.title}. {grid.note}" if grid.note else grid.title)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            " & ".join(map(_escape, grid.columns)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def write_grid(grid: Grid, path: Path) -> tuple[Path, Path, Path]:
    """PATH.md, PATH.csv and PATH.tex, each whole or not at all."""
    paths = tuple(path.parent / f"{path.name}.{ending}" for ending in ("md", "csv", "tex"))
    for target, show in zip(paths, (markdown, csv_text, latex), strict=True):
        write_whole(target, show(grid))
    return paths[0], paths[1], paths[2]


def _escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in text)
