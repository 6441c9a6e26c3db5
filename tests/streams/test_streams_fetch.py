"""Downloads arrive whole and right or leave nothing behind; archives of others cannot hurt."""

import hashlib
import socket
import zipfile
from pathlib import Path

import pytest
from local_web import Web

from sharpstream.errors import DataError
from sharpstream.streams import zips
from sharpstream.streams.fetch import ATTEMPTS, RemoteFile, download, overridden


def remote(url: str, sha256: str | None = None, bound: int = 1_000) -> RemoteFile:
    return RemoteFile(url=url, sha256=sha256, bound=bound)


def test_a_file_arrives_with_its_checksum(web: Web, tmp_path: Path) -> None:
    web.bodies["/a"] = b"some bytes"
    seen: list[tuple[int, int | None]] = []
    digest = hashlib.sha256(b"some bytes").hexdigest()
    download(remote(web.url + "/a", digest), tmp_path / "deep" / "a", lambda *step: seen.append(step))
    assert (tmp_path / "deep" / "a").read_bytes() == b"some bytes"
    assert seen[-1] == (10, 10)


def test_wrong_checksum_names_both_and_leaves_nothing(web: Web, tmp_path: Path) -> None:
    web.bodies["/a"] = b"some bytes"
    found = hashlib.sha256(b"some bytes").hexdigest()
    with pytest.raises(DataError, match=f"{found}, expected {'0' * 64}"):
        download(remote(web.url + "/a", "0" * 64), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_truncated_body_is_tried_again_and_then_said(web: Web, tmp_path: Path) -> None:
    web.bodies["/a"] = b"some bytes"
    web.truncated.add("/a")
    with pytest.raises(DataError, match="ended after 5 of 10 bytes, 3 times"):
        download(remote(web.url + "/a"), tmp_path / "a")
    assert len(web.requests) == ATTEMPTS
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_that_broke_once_succeeds(web: Web, tmp_path: Path) -> None:
    web.bodies["/a"] = b"some bytes"
    web.truncated.add("/a")
    download(remote(web.url + "/a"), tmp_path / "a", lambda received, expected: web.truncated.clear())
    assert (tmp_path / "a").read_bytes() == b"some bytes"
    assert len(web.requests) == 2


def test_404_is_said_in_one_line(web: Web, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the server answers 404") as caught:
        download(remote(web.url + "/nothing"), tmp_path / "a")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_server_down_is_said(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"
    with pytest.raises(DataError, match=r"cannot fetch .*refused"):
        download(remote(url), tmp_path / "a")


def test_too_large_a_body_is_stopped(web: Web, tmp_path: Path) -> None:
    web.bodies["/a"] = b"x" * 2_000
    with pytest.raises(DataError, match="larger than the 1,000 bytes"):
        download(remote(web.url + "/a"), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/a", "text8.zip"])
def test_only_web_addresses_are_opened(url: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not an http or https address"):
        download(remote(url), tmp_path / "a")


def test_mirrors_are_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert overridden("http://a/b", "SHARP_TEST_URL") == "http://a/b"
    monkeypatch.setenv("SHARP_TEST_URL", "http://mirror/")
    assert overridden("http://a/b", "SHARP_TEST_URL") == "http://mirror"


def read_member(path: Path, name: str, bound: int) -> bytes:
    with zips.opened(path) as archive:
        return b"".join(zips.chunks(archive, name, bound))


def test_members_are_read_by_exact_name(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../text8", "evil")
        archive.writestr("text8", "good")
    assert read_member(path, "text8", 100) == b"good"
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text8", b"\0" * 10_000_000)
    with pytest.raises(DataError, match="unpacks to 10,000,000 bytes"):
        read_member(path, "text8", 1_000_000)


def test_a_bomb_that_lies_about_its_size_gives_no_more_than_it_declares(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text8", b"\0" * 1_000_000)
    raw = path.read_bytes().replace((1_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    path.write_bytes(raw)
    with pytest.raises(DataError, match="not a sound zip"):
        read_member(path, "text8", 1_000)


def test_missing_member_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", "x")
    with pytest.raises(DataError, match="no member named 'text8'"):
        read_member(path, "text8", 100)


@pytest.mark.parametrize("where", [0, 31, -30])
def test_damaged_archives_are_data_errors(tmp_path: Path, where: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text8", "some text " * 100)
    raw = bytearray(path.read_bytes())
    raw[where : where + 8] = b"\xff" * 8
    path.write_bytes(raw)
    with pytest.raises(DataError):
        read_member(path, "text8", 10_000)


def test_no_archive_at_all_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        read_member(tmp_path / "missing.zip", "text8", 1)
    (tmp_path / "text.zip").write_text("this is no archive")
    with pytest.raises(DataError, match="not a sound zip"):
        read_member(tmp_path / "text.zip", "text8", 1)
