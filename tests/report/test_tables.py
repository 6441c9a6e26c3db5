import dataclasses
import io
from pathlib import Path

import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.rows import Regime, ResultRow, Table
from sharpstream.report.grid import Grid, csv_text, latex, markdown, rich_table, write_grid
from sharpstream.report.tables import Published, compare, comparison_grid, estimates, regime_note, results_grid

REGIME = Regime(
    protocol="fair",
    clip=None,
    train_context=4,
    score_context="carried",
    carry="aligned",
    update_interval=1,
    token_budget=1_000_000,
    seed=0,
    hardware="a processor, 2 cores",
    software="Python 3.11",
    command="sharp reproduce text8",
)


def row(arm: str, value: float, *, seed: int = 0, metric: str = "bits_clipped", **regime: object) -> ResultRow:
    changed = dataclasses.replace(REGIME, seed=seed, **regime)
    return ResultRow(experiment="text8", arm=arm, stream="text8", metric=metric, value=value, regime=changed)


PUBLISHED = [
    Published("sharp", "bits_clipped", 2.32),
    Published("rnn", "bits_clipped", 2.47),
    Published("gru", "bits_clipped", 2.41),
]


def test_verdicts_by_hand() -> None:
    table = Table([row("sharp", 2.40), row("sharp", 2.44, seed=1), row("rnn", 2.60), row("counts", 1.9)])
    verdicts = {one.arm: (one.verdict, one.difference) for one in compare(table, PUBLISHED, tolerance=0.1)}
    assert verdicts["sharp"] == ("agrees", pytest.approx(0.10))  # on the edge, and still within
    assert verdicts["rnn"] == ("differs", pytest.approx(0.13))
    assert verdicts["gru"] == ("not run", None)
    assert verdicts["counts"] == ("not published", None)


def test_true_bits_are_not_compared_with_capped_ones() -> None:
    (first, *_) = compare(Table([row("sharp", 2.32, metric="bits")]), PUBLISHED, tolerance=0.1)
    assert first.verdict == "not run"


def test_means_and_intervals_are_over_repetitions() -> None:
    table = Table([row("sharp", 1.0), row("sharp", 3.0, seed=1)])
    (estimate,) = estimates(table).values()
    assert (estimate.mean, estimate.n) == (2.0, 2)
    assert estimate.half_width == pytest.approx(12.7062, abs=1e-3)  # t(0.975, 1) · √2 / √2


def test_one_repetition_counted_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="seed 0"):
        estimates(Table([row("sharp", 1.0), row("sharp", 1.0)]))


def test_mixed_regimes_get_lines_of_their_own_and_a_column() -> None:
    table = Table([row("sharp", 2.3), row("sharp", 2.5, token_budget=5)], mixed=True)
    grid = comparison_grid(compare(table, PUBLISHED, tolerance=0.05), title="t")
    assert grid.columns[-1] == "regime"
    assert [line[-1] for line in grid.rows[:2]] == ["token budget 1,000,000", "token budget 5"]
    results = results_grid(table, ["bits_clipped"], title="t")
    assert [line[1] for line in results.rows] == ["2.300", "2.500"]


def test_results_grid_says_what_is_shared_and_leaves_gaps_open() -> None:
    table = Table([row("sharp", 2.3), row("sharp", 2.5, seed=1), row("counts", 1.9, metric="bits", carry="-")])
    grid = results_grid(table, ["bits", "bits_clipped"], title="text8", decimals=2)
    assert grid.rows == (("SHARP", None, "2.40 ± 1.27"), ("Counts", "1.90", None))
    assert "protocol fair" in grid.note
    assert "carry aligned" in regime_note(table)


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


def test_csv_keeps_every_digit() -> None:
    assert csv_text(GRID) == f"arm,value,n\na_b|c,{1 / 3!r},1200\n[red]d,,3\n"


def test_latex_escapes_what_would_break_it() -> None:
    text = latex(GRID)
    assert r"\caption{50\% of [it]. small}" in text
    assert r"a\_b|c & 0.33 & 1,200 \\" in text
    assert r"\begin{tabular}{lrr}" in text


def test_rich_prints_cells_as_they_are() -> None:
    from rich.console import Console

    screen = io.StringIO()
    Console(file=screen, width=80).print(rich_table(GRID))
    assert "[red]d" in screen.getvalue()
    assert "0.33" in screen.getvalue()


def test_write_grid_writes_three_files(tmp_path: Path) -> None:
    paths = write_grid(GRID, tmp_path / "out" / "table")
    assert [path.name for path in paths] == ["table.md", "table.csv", "table.tex"]
    assert paths[0].read_text(encoding="utf-8") == markdown(GRID)


def test_a_ragged_grid_is_refused() -> None:
    with pytest.raises(ConfigError, match="row 0"):
        Grid(title="t", columns=("a", "b"), rows=((1,),))
