"""Names become streams, wrong names get help, and `sharp data` shows, adds, fetches and checks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError, StreamError
from sharpstream.streams import Stream, open_stream
from sharpstream.streams.commands import main
from sharpstream.streams.text import decode


def opened(name: str, **settings: int) -> Stream:
    return open_stream(StreamConfig(name=name, **settings), seed=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["linear", "random", "nonlinear"])
def test_synthetic_streams_by_name(name: str) -> None:
    whole, part = opened(name), opened(name, start=10, end=15)
    assert whole.name == name
    assert whole.length is None
    assert part.take(99).tolist() == whole.take(15)[10:].tolist()


def test_k_and_seed_reach_the_stream() -> None:
    assert opened("nonlinear", k=5).identity() == {"name": "nonlinear", "seed": 3, "start": 0, "k": 5}


def test_python_docs_by_name() -> None:
    assert opened("python-docs", end=50).length == 50
    with pytest.raises(StreamError, match=r"python-docs has .* tokens, so it cannot be read up to end = 999,999,999"):
        opened("python-docs", end=999_999_999)


def test_a_path_is_a_stream(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello")
    assert opened(str(tmp_path / "a.txt")).take(9).tolist() == [8, 5, 12, 12, 15]


@pytest.mark.parametrize(("name", "guess"), [("text9", "text8"), ("nonlinar", "nonlinear"), ("PG19", "pg19")])
def test_unknown_names_are_answered_with_the_nearest(name: str, guess: str) -> None:
    with pytest.raises(StreamError, match=f"Did you mean {guess}\\? Streams: linear, random"):
        opened(name)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "no/such/file.txt"])
def test_impossible_names_are_stream_errors(name: str) -> None:
    with pytest.raises(StreamError, match="there is no stream or file"):
        opened(name)


def test_importing_streams_is_light() -> None:
    program = (
        "import sys, sharpstream.streams\n"
        "heavy = {'rich', 'tyro', 'urllib.request', 'zipfile', 'numba', 'torch'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_add_then_open_list_and_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.txt").write_text("Error, error!")
    assert main(["add", str(tmp_path / "log.txt"), "my-log"]) == 0
    assert "my-log is ready: 12 tokens of 27 symbols" in capsys.readouterr().out
    stream = opened("my-log", start=6)
    assert decode(stream.take(99), stream.symbols) == "error "
    main(["list", "--json"])
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["streams"]}
    assert (rows["my-log"]["status"], rows["my-log"]["tokens"]) == ("ready", 12)
    assert rows["text8"]["status"] == "to download"
    main(["verify", "my-log", "--json"])
    assert json.loads(capsys.readouterr().out) == [{"name": "my-log", "sound": True, "problem": ""}]


def test_add_bytes(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"\0\1\xff")
    main(["add", str(tmp_path / "raw"), "raw", "--alphabet", "bytes"])
    assert opened("raw").take(9).tolist() == [0, 1, 255]


@pytest.mark.parametrize("name", ["text8", "../evil", "", "a/b", ".hidden"])
def test_names_that_cannot_be_added(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(DataError, match=r"cannot name a stream|a stream of our own"):
        main(["add", str(tmp_path / "a.txt"), name])


def test_adding_what_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        main(["add", str(tmp_path / "missing"), "x"])
    (tmp_path / "b").write_bytes(b"\0\0")
    with pytest.raises(StreamError, match="NUL byte"):
        main(["add", str(tmp_path / "b"), "x"])


def test_verify_finds_damage(tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("some text")
    main(["add", str(tmp_path / "a.txt"), "mine"])
    (cache / "added" / "mine.tokens").write_bytes(b"\1" * 9)
    with pytest.raises(DataError, match="is damaged"):
        main(["verify"])
    assert "damaged" in capsys.readouterr().out


def test_commands_with_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list"])
    main(["verify"])
    assert "Nothing is stored yet" in capsys.readouterr().out
    with pytest.raises(DataError, match="needs no fetching"):
        main(["fetch", "linear"])
    with pytest.raises(StreamError, match="Did you mean text8"):
        main(["fetch", "text88"])
    with pytest.raises(DataError, match="is not stored on this machine"):
        main(["verify", "text8"])


def test_fetch_from_sharp_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text8").write_text("just a little")
    monkeypatch.setenv("SHARP_DATA", str(tmp_path))
    main(["list", "--json"])
    assert '"in SHARP_DATA"' in capsys.readouterr().out
    main(["fetch", "text8", "--json"])
    assert json.loads(capsys.readouterr().out)["tokens"] == 13
