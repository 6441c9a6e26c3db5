"""A growing file: waiting for it, rotation, truncation, and going on at the right byte after a restart."""

import os
from pathlib import Path

import pytest

from sharpstream.errors import StreamError
from sharpstream.watching.follow import FollowedFile
from sharpstream.watching.sources import Place


class Reader:
    """Follows a file and takes everything that is there."""

    def __init__(self, path: Path, place: Place | None = None, *, at_end: bool = False) -> None:
        self.said: list[str] = []
        self.file = FollowedFile(path, self.said.append, place=place, at_end=at_end)

    def all(self) -> bytes:
        found = b""
        while piece := self.file.read(0.0):
            self.file.taken(len(piece))
            found += piece
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
    assert reader.all() == b"one\n"
    append(log, b"two\n" * 1000)
    assert reader.all() == b"two\n" * 1000
    assert reader.all() == b""


def test_bytes_that_were_not_learned_are_given_again(log: Path) -> None:
    reader = Reader(log)
    assert reader.file.read(0.0) == reader.file.read(0.0) == b"one\n"


def test_a_file_that_does_not_exist_yet_is_waited_for(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "later.log")
    assert reader.all() == reader.all() == b""
    (tmp_path / "later.log").write_bytes(b"here\n")
    assert reader.all() == b"here\n"
    assert len(reader.said) == 1
    assert "waiting" in reader.said[0]


def test_rotation_reads_the_rest_of_the_old_file_first(log: Path) -> None:
    reader = Reader(log)
    reader.all()
    log.rename(log.with_suffix(".1"))
    append(log.with_suffix(".1"), b"late\n")
    log.write_bytes(b"")  # the new file is there, but the writer may not have turned to it yet
    assert reader.all() == b"late\n"
    append(log.with_suffix(".1"), b"later\n")
    assert reader.all() == b"later\n"
    append(log, b"new\n")
    assert reader.all() == b"new\n"
    assert reader.file.broken
    assert "rotated" in reader.said[0]


def test_a_deleted_file_that_comes_back_is_read_from_its_start(log: Path) -> None:
    reader = Reader(log)
    reader.all()
    log.unlink()
    assert reader.all() == b""
    log.write_bytes(b"again\n")
    assert reader.all() == b"again\n"


def test_truncation_starts_again(log: Path) -> None:
    reader = Reader(log)
    append(log, b"two\n")
    reader.all()
    os.truncate(log, 0)
    append(log, b"new\n")
    assert reader.all() == b"new\n"
    assert "truncated" in reader.said[0]


def test_a_restart_goes_on_at_the_byte_where_it_was(log: Path) -> None:
    before = Reader(log)
    before.all()
    append(log, b"two\n")
    assert Reader(log, before.file.place()).all() == b"two\n"


def test_a_file_rotated_while_nobody_watched_is_finished_first(log: Path) -> None:
    before = Reader(log)
    before.all()
    append(log, b"two\n")
    log.rename(log.with_suffix(".1"))
    log.write_bytes(b"three\n")
    after = Reader(log, before.file.place())
    assert after.all() == b"two\nthree\n"
    assert "first the rest of" in after.said[0]


def test_another_file_under_the_same_name_is_read_from_its_start(log: Path) -> None:
    before = Reader(log)
    before.all()
    place = before.file.place()
    before.file.close()
    log.write_bytes(b"other content, same inode\n")
    after = Reader(log, place)
    assert after.all() == b"other content, same inode\n"
    assert after.file.broken
    assert "no longer the file" in after.said[0]


def test_a_place_in_another_file_is_not_used(log: Path, tmp_path: Path) -> None:
    before = Reader(log)
    before.all()
    other = tmp_path / "other.log"
    other.write_bytes(b"from the start\n")
    assert Reader(other, before.file.place()).all() == b"from the start\n"


def test_only_what_comes_from_now_on(log: Path) -> None:
    reader = Reader(log, at_end=True)
    append(log, b"two\n")
    assert reader.all() == b"two\n"


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="not a regular file"):
        Reader(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(StreamError, match="not a regular file"):
        Reader(tmp_path / "fifo")
