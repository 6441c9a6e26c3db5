"""Result pages say what their rows say, and what people write around the made part stays."""

from pathlib import Path

import pytest

from sharpstream.cli import main
from sharpstream.experiments.harness import END, MADE, page_from_rows, placed
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
    assert main(["pages", str(tmp_path / "nowhere")]) == 2
    assert "has no rows.csv" in capsys.readouterr().err


def test_a_page_without_marks_is_made_anew():
    assert placed("old", "new\n") == f"{MADE}\nnew\n{END}\n"
