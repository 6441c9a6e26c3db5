"""Talking to a run and comparing runs: what is asked comes out, and the run on disk stays as it is."""

import hashlib
import json
from pathlib import Path

import pytest

from sharpstream.cli import main
from sharpstream.commands.compare import mean, named
from sharpstream.commands.talk import shade

TOKENS = "6000"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for name, words in {
        "letters": ["--stream", "python-docs", "--learner", "counts"],
        "unigram": ["--stream", "python-docs", "--learner", "unigram"],
        "ring": ["--stream", "linear", "--learner", "counts", "--counts.order", "2"],
    }.items():
        assert main(["run", str(root / name), *words, "--tokens", TOKENS, "--log-every", "1000"]) == 0
    return root


def fingerprint(directory: Path) -> str:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def test_a_text_is_continued_and_the_run_stays_as_it_is(runs, capsys):
    before = fingerprint(runs / "ring")
    words = ["sample", str(runs / "ring"), "--prompt", "ABC", "--length", "9", "--temperature", "0", "--json"]
    capsys.readouterr()
    assert main(words) == 0
    written = json.loads(capsys.readouterr().out)
    assert (written["prompt"], written["text"]) == ("ABC", "DEFGABCDE")
    assert fingerprint(runs / "ring") == before


def test_the_same_seed_writes_the_same_text_and_another_another(runs, capsys):
    texts = []
    for seed in ("0", "0", "1"):
        capsys.readouterr()
        assert main(["sample", str(runs / "letters"), "--prompt", "the ", "--length", "60", "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].startswith("the ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--prompt", "xyz"], "'x' is no symbol of this stream; its symbols are: A B C"),
        (["--length", "0"], "--length 0: it must be in 1.."),
        (["--temperature", "nan"], "--temperature nan: it must be a number"),
    ],
)
def test_what_cannot_be_continued_is_told_in_one_line(runs, words, told, capsys):
    assert main(["sample", str(runs / "ring"), *words]) == 2
    assert told in capsys.readouterr().err


def test_surprise_tells_bits_and_what_was_expected(runs, tmp_path, capsys):
    text = tmp_path / "text"
    text.write_text("ABCDEFGABGDEFG")
    before = fingerprint(runs / "ring")
    capsys.readouterr()
    assert main(["surprise", str(runs / "ring"), str(text), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "".join(row["symbol"] for row in rows) == "ABCDEFGABGDEFG"
    worst = max(range(1, len(rows)), key=lambda i: rows[i]["bits"])
    assert (rows[worst]["symbol"], rows[worst]["expected"][0]["symbol"]) == ("G", "C")
    assert fingerprint(runs / "ring") == before


def test_surprise_in_colour_shows_the_text_and_markup_in_it_stays_text(runs, tmp_path, capsys):
    text = tmp_path / "text"
    text.write_text("hello [red]world[/]")
    assert main(["surprise", str(runs / "letters"), str(text)]) == 0
    out = capsys.readouterr().out
    assert "hello red world" in out
    assert "bits each" in out
    assert main(["surprise", str(runs / "letters"), str(text), "--frozen", "--json"]) == 0
    assert '"expected": []' in capsys.readouterr().out
    assert shade(0.1) != shade(20.0)


def test_a_file_with_nothing_to_read_is_told(runs, tmp_path, capsys):
    (tmp_path / "empty").write_text("")
    assert main(["surprise", str(runs / "letters"), str(tmp_path / "empty")]) == 2
    assert "has nothing that this run's learner knows" in capsys.readouterr().err


def test_runs_stand_side_by_side_over_what_all_have_read(runs, tmp_path, capsys):
    words = [str(runs / "letters"), str(runs / "unigram")]
    capsys.readouterr()
    assert main(["compare", *words, "--json", "--out", str(tmp_path / "both.png")]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[0])
    assert [row["run"] for row in rows] == ["letters", "unigram"]
    assert rows[0]["bits"] < rows[1]["bits"]
    assert (tmp_path / "both.png").stat().st_size > 0
    assert main(["compare", *words, str(runs / "ring")]) == 0
    assert "do not all read the same stream" in " ".join(capsys.readouterr().out.split())


def test_a_curve_is_drawn_where_asked_and_nothing_else_is_a_run(runs, tmp_path, capsys):
    assert main(["plot", str(runs / "letters"), "--out", str(tmp_path / "curve.png")]) == 0
    assert (tmp_path / "curve.png").stat().st_size > 0
    assert main(["plot", str(tmp_path)]) == 2
    assert main(["plot", str(runs / "letters"), "--out", str(tmp_path / "curve.svg")]) == 2
    assert main(["compare"]) == 2


def test_intervals_weigh_by_their_length_and_names_are_as_short_as_they_can_be():
    assert mean([(100, 2.0), (400, 1.0)]) == pytest.approx(1.25)
    assert list(named([Path("/a/x"), Path("/b/y")])) == ["x", "y"]
    assert list(named([Path("/a/x"), Path("/b/x")])) == ["a/x", "b/x"]
