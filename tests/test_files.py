from pathlib import Path

import pytest

from sharpstream.errors import RunError
from sharpstream.files import write_whole


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "a.txt", "ℓ")
    write_whole(tmp_path / "new" / "a.txt", b"second")
    assert (tmp_path / "new" / "a.txt").read_bytes() == b"second"
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="cannot write"):
        write_whole(tmp_path / "file" / "a.txt", "x")


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(RunError, match="taken"):
        write_whole(tmp_path / "taken", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
