"""Growing files: waiting, rotation, copy and truncate, rewriting, and going on at the right byte after a restart."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sharpstream.errors import StreamError
from sharpstream.watching.files import Files
from sharpstream.watching.follow import FollowedFile
from sharpstream.watching.reported import Reported


class Reader:
    """Follows a file and takes every line that is there."""

    def __init__(self, path: Path, place: Mapping[str, Any] | None = None, *, at_end: bool = False) -> None:
        self.said: list[str] = []
        self.file = FollowedFile(path, self.said.append, limit=1_000, place=place, at_end=at_end)

    def all(self) -> list[str]:
        found: list[str] = []
        while (line := self.file.poll()) or self.file.turned:
            self.file.turned = False
            if line:
                self.file.taken(line)
                found.append(line.data.decode() + ("…" if line.end == "unfinished" else ""))
        return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_bytes(b"one\n")
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_what_is_added_is_read_once(log: Path) -> None:
    reader = Reader(log)
    assert reader.all() == ["one"]
    append(log, b"two\n" * 10_000)
    assert reader.all() == ["two"] * 10_000
    assert reader.all() == []


def test_a_line_that_was_not_learned_is_given_again(log: Path) -> None:
    reader = Reader(log)
    reader.file.poll()
    reader.file.turned = False
    assert reader.file.poll() == reader.file.poll() != None  # noqa: E711


def test_a_file_that_does_not_exist_yet_is_waited_for(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "later.log")
    assert reader.all() == reader.all() == []
    (tmp_path / "later.log").write_bytes(b"here\n")
    assert reader.all() == ["here"]
    assert len(reader.said) == 1
    assert "waiting" in reader.said[0]


def test_rotation_reads_the_rest_of_the_old_file_first(log: Path) -> None:
    reader = Reader(log)
    reader.all()
    log.rename(log.with_name("app.log.1"))
    append(log.with_name("app.log.1"), b"late\n")
    log.write_bytes(b"")  # the new file is there, but the writer may not have turned to it yet
    assert reader.all() == ["late"]
    append(log.with_name("app.log.1"), b"later\nunfinished")
    assert reader.all() == ["later"]
    append(log, b"new\n")
    assert reader.all() == ["unfinished…", "new"]
    assert "rotated" in reader.said[0]


def test_a_deleted_file_that_comes_back_is_read_from_its_start(log: Path) -> None:
    reader = Reader(log)
    reader.all()
    log.unlink()
    assert reader.all() == []
    log.write_bytes(b"again\n")
    assert reader.all() == ["again"]


def test_truncation_starts_again(log: Path) -> None:
    reader = Reader(log)
    append(log, b"two\n")
    reader.all()
    os.truncate(log, 0)
    append(log, b"new\n")
    assert reader.all() == ["new"]
    assert "truncated or written anew" in reader.said[0]


def test_a_file_cut_and_grown_past_the_old_place_is_not_taken_for_one_that_grew(log: Path) -> None:
    reader = Reader(log)
    reader.all()
    os.truncate(log, 0)
    append(log, b"this is longer than what was there\n")
    assert reader.all() == ["this is longer than what was there"]


def test_of_a_copied_and_truncated_file_the_rest_of_the_copy_comes_first(log: Path) -> None:
    reader = Reader(log)
    append(log, b"tw")
    assert reader.all() == ["one"]
    append(log, b"o\nthree\n")
    log.with_name("app.log.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)
    append(log, b"four\n")
    assert reader.all() == ["two", "three", "four"]
    assert "copied and truncated" in reader.said[0]


@pytest.mark.parametrize("rewritten", [False, True])
def test_copied_or_rewritten_while_nobody_watched(log: Path, rewritten: bool) -> None:
    before = Reader(log)
    before.all()
    append(log, b"two\n")
    if not rewritten:
        log.with_name("app.log.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)
    append(log, b"a new beginning\n")
    after = Reader(log, before.file.place())
    assert after.all() == ["a new beginning"] if rewritten else ["two", "a new beginning"]
    assert ("no longer the file" if rewritten else "first the rest of") in after.said[0]


def test_a_restart_goes_on_at_the_byte_and_the_number_where_it_was(log: Path) -> None:
    before = Reader(log)
    before.all()
    append(log, b"two\n")
    after = Reader(log, before.file.place())
    line = after.file.poll()
    assert line is not None
    assert (line.data, line.number) == (b"two", 2)


def test_files_rotated_several_times_while_nobody_watched_are_read_in_order(log: Path) -> None:
    before = Reader(log)
    before.all()
    append(log, b"two\n")
    log.rename(log.with_name("app.log.2"))
    log.with_name("app.log.1").write_bytes(b"three\n")
    log.write_bytes(b"four\n")
    after = Reader(log, before.file.place())
    assert after.all() == ["two", "three", "four"]


def test_a_compressed_file_is_not_read_as_text(log: Path) -> None:
    before = Reader(log)
    before.all()
    log.rename(log.with_name("app.log.2"))
    log.with_name("app.log.1.gz").write_bytes(b"\x1f\x8b")
    log.write_bytes(b"four\n")
    assert Reader(log, before.file.place()).all() == ["four"]


def test_only_what_comes_from_now_on(log: Path) -> None:
    reader = Reader(log, at_end=True)
    append(log, b"two\n")
    assert reader.all() == ["two"]


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="not a regular file"):
        Reader(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(StreamError, match="not a regular file"):
        Reader(tmp_path / "fifo")


# ---- several ---------------------------------------------------------------------------------------------------------


def files(tmp_path: Path, *names: str, places: Mapping[str, Any] | None = None) -> Files:
    wanted = [str(tmp_path / name) for name in names]
    return Files(wanted, lambda text: None, limit=1_000, places=places or {}, reported=Reported(tmp_path))


def taken(source: Files) -> list[tuple[str, str]]:
    found = []
    while (line := source.next(0.0)) or source.turned:
        source.turned = False
        if line:
            source.taken(line)
            found.append((Path(line.source).name, line.data.decode()))
    return found


def test_several_files_are_read_in_turn_and_each_has_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"1\n2\n3\n")
    (tmp_path / "b.log").write_bytes(b"x\n")
    assert taken(files(tmp_path, "a.log", "b.log")) == [("a.log", "1"), ("b.log", "x"), ("a.log", "2"), ("a.log", "3")]


def test_a_glob_finds_files_that_appear_later_and_no_rotated_file_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sharpstream.watching.files.SCAN", 0.0)
    (tmp_path / "a.log").write_bytes(b"1\n")
    source = files(tmp_path, "*.log*")
    assert taken(source) == [("a.log", "1")]
    (tmp_path / "b.log").write_bytes(b"x\n")
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    (tmp_path / "a.log").write_bytes(b"2\n")
    assert sorted(taken(source)) == [("a.log", "2"), ("b.log", "x")]


def test_a_matched_file_that_is_deleted_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sharpstream.watching.files.SCAN", 0.0)
    (tmp_path / "pod.log").write_bytes(b"1\n")
    source = files(tmp_path, "*.log")
    taken(source)
    (tmp_path / "pod.log").unlink()
    assert taken(source) == []
    assert source.places() == {}


def test_each_file_goes_on_where_it_was(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(b"old\n")
    first = files(tmp_path, "*.log")
    taken(first)
    append(tmp_path / "b.log", b"new\n")
    assert taken(files(tmp_path, "*.log", places=first.places())) == [("b.log", "new")]
