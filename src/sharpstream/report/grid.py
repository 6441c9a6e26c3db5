"""A table as cells, and the two ways to show it: terminal (rich) and Markdown; and long rows as CSV.

In comes a `Grid` of plain cells, out comes text; the command line and the experiments print and write them. Floats are
rounded for people and kept whole in CSV.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sharpstream.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Cell = str | int | float | None
ABSENT = "–"


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


def rows_from_csv(text: str) -> list[dict[str, Any]]:
    """Long rows back from their file, numbers as numbers; what `rows_as_csv` writes of them is the same text.

    >>> rows_from_csv("arm,seed,bits\\nsharp,0,2.5\\nrnn,1,\\n")
    [{'arm': 'sharp', 'seed': 0, 'bits': 2.5}, {'arm': 'rnn', 'seed': 1, 'bits': None}]
    """
    return [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _value(cell: str) -> str | int | float | bool | None:
    """A number only where it would be written in the same letters."""
    if cell in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[cell]
    for kind in (int, float):
        try:
            number = kind(cell)
        except ValueError:
            continue
        if str(number) == cell:
            return number
    return cell


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Long rows, which are no grid yet; columns in order of first appearance."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
