"""Result pages say what their rows say, and what people write around the made part stays."""

import re
from pathlib import Path

import pytest

from sharpstream.cli import main
from sharpstream.errors import RunError
from sharpstream.experiments.harness import END, MADE, page_from_rows, placed
from sharpstream.experiments.summaries import PLACE, filled
from sharpstream.report.grid import rows_as_csv, rows_from_csv

RESULTS = Path(__file__).parents[2] / "results"
PAGES = [path.parent for path in sorted(RESULTS.rglob("RESULTS.md")) if MADE in path.read_text(encoding="utf-8")]
NUMBER = "| with the gate, at the end | 0.000 | 0.000 |"


@pytest.mark.parametrize("directory", PAGES, ids=lambda path: path.name)
def test_a_committed_page_is_what_its_rows_say(directory):
    told = "`sharp pages` makes it again"
    assert page_from_rows(directory) == (directory / "RESULTS.md").read_text(encoding="utf-8"), told


def test_there_are_pages_to_check():
    assert len(PAGES) >= 5


@pytest.mark.parametrize("path", sorted(RESULTS.rglob("rows.csv")), ids=lambda path: path.parent.name)
def test_rows_come_back_from_their_file_to_the_last_letter(path):
    text = path.read_text(encoding="utf-8")
    assert rows_as_csv(rows_from_csv(text)) == text


def test_prose_around_the_made_part_stays_and_a_changed_number_does_not(tmp_path, monkeypatch, capsys):
    source, page = RESULTS / "simulations" / "drift", tmp_path / "RESULTS.md"
    (tmp_path / "rows.csv").write_text((source / "rows.csv").read_text())
    made = (source / "RESULTS.md").read_text()
    assert NUMBER in made
    page.write_text(f"Mine, above.\n\n{made.replace(NUMBER, NUMBER.replace('0.000', '0.111'))}\nMine, below.\n")
    assert main(["pages", str(tmp_path)]) == 0
    assert page.read_text() == f"Mine, above.\n\n{made}\nMine, below.\n"
    assert "written" in capsys.readouterr().out
    assert main(["pages", str(tmp_path)]) == 0
    assert "as its rows say" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.png"))
    assert main(["pages", str(tmp_path), "--pictures"]) == 0
    assert page.read_text() == f"Mine, above.\n\n{made}\nMine, below.\n"
    assert (tmp_path / "drift.png").stat().st_size > 10_000
    assert main(["pages", str(tmp_path / "nowhere")]) == 2
    assert "has no rows.csv" in capsys.readouterr().err


def test_a_page_without_marks_is_made_anew():
    assert placed("old", "new\n") == f"{MADE}\nnew\n{END}\n"


WITH_TABLES = [RESULTS.parent / "README.md", *sorted(RESULTS.rglob("RESULTS.md"))]
WITH_TABLES = [page for page in WITH_TABLES if PLACE.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_TABLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_tables_of_a_page_are_what_the_rows_say(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text, RESULTS) == text, "`sharp pages` makes them again"


def test_readme_has_tables_that_are_made():
    assert RESULTS.parent / "README.md" in WITH_TABLES


def test_a_number_changed_by_hand_comes_back_and_the_prose_stays():
    text = (RESULTS.parent / "README.md").read_text(encoding="utf-8")
    number = re.search(r"\| counts, order 5 \| (\d\.\d{3})", text).group(1)
    changed = text.replace(number, "0.123")
    assert "0.123" not in filled(changed, RESULTS)
    assert filled("before\n\nafter", RESULTS) == "before\n\nafter"


def test_a_table_that_nobody_makes_is_an_error():
    with pytest.raises(RunError, match="there is no table 'none'; there are: text8"):
        filled("<!-- table none -->\n<!-- end of table -->", RESULTS)
