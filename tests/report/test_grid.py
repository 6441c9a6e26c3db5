"""A table as people read it: what is absent, what is rounded, what would break the markup."""

import io

import pytest

from sharpstream.errors import ConfigError
from sharpstream.report.grid import Grid, markdown, rich_table

GRID = Grid(
    title="50% of [it]",
    columns=("arm", "value", "n"),
    rows=(("a_b|c", 1 / 3, 1200), ("[red]d", None, 3)),
    note="small",
    decimals=2,
)


def test_markdown() -> None:
    assert markdown(GRID).splitlines() == [
        "**50% of [it]**",
        "",
        "| arm | value | n |",
        "|---|---:|---:|",
        "| a_b\\|c | 0.33 | 1,200 |",
        "| [red]d | – | 3 |",
        "",
        "small",
    ]


def test_rich_prints_cells_as_they_are() -> None:
    from rich.console import Console

    screen = io.StringIO()
    Console(file=screen, width=80).print(rich_table(GRID))
    assert "[red]d" in screen.getvalue()
    assert "0.33" in screen.getvalue()


def test_a_ragged_grid_is_refused() -> None:
    with pytest.raises(ConfigError, match="row 0"):
        Grid(title="t", columns=("a", "b"), rows=((1,),))
