"""text8 is found in SHARP_DATA, then in the cache, then on the network, and is never taken for what it is not."""

import hashlib
import logging
import os
import zipfile
from pathlib import Path

import pytest
from local_web import Web

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.streams import open_stream, text8
from sharpstream.streams.fetch import RemoteFile
from sharpstream.streams.text import decode
from sharpstream.streams.text8 import segment, text8_store

TEXT = b" anarchism originated as a term of abuse"
REAL_DATA = os.environ.get("SHARP_DATA", "")  # before the fixtures hide it


def archive_of(path: Path, text: bytes = TEXT, member: str = "text8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, text)
    return path


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    monkeypatch.setenv("SHARP_DATA", str(directory))
    return directory


def shown(count: int = 100) -> str:
    stream = open_stream(StreamConfig(name="text8"), seed=0)
    return decode(stream.take(count), stream.symbols)


def test_zip_in_sharp_data(data: Path) -> None:
    archive_of(data / "text8.zip")
    assert shown() == TEXT.decode()


def test_plain_file_in_sharp_data(data: Path) -> None:
    (data / "text8").write_bytes(TEXT)
    assert shown() == TEXT.decode()


def test_sharp_data_comes_before_the_cache(data: Path) -> None:
    archive_of(data / "text8.zip", b"old text")
    assert shown() == "old text"
    archive_of(data / "text8.zip", b"new text")
    assert shown() == "new text"


def test_cache_serves_when_sharp_data_is_gone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive_of(data / "text8.zip")
    shown()
    monkeypatch.delenv("SHARP_DATA")
    monkeypatch.setattr(text8, "download", None)  # nothing may be fetched
    assert shown() == TEXT.decode()


def test_converted_only_once(data: Path, cache: Path) -> None:
    archive_of(data / "text8.zip")
    shown()
    before = (cache / "corpora" / "text8.tokens").stat().st_mtime_ns
    shown()
    assert (cache / "corpora" / "text8.tokens").stat().st_mtime_ns == before


def test_shorter_text_is_announced_once(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    archive_of(data / "text8.zip")
    with caplog.at_level(logging.WARNING, "sharpstream"):
        shown()
        shown()
    assert [record.getMessage() for record in caplog.records] == [
        "text8 here is the first 40 of 100,000,000 characters"
    ]


@pytest.mark.parametrize("text", [b"Not lower case", b"a line\n", b"caf\xc3\xa9", b""])
def test_other_text_is_refused_and_not_kept(data: Path, cache: Path, text: bytes) -> None:
    archive_of(data / "text8.zip", text)
    with pytest.raises(DataError, match=r"is not text8: character|no tokens"):
        shown()
    assert not list(cache.rglob("text8.*"))


def test_known_length_with_other_text_is_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(text8.KNOWN, len(TEXT), ("sha256", "0" * 64))
    archive_of(data / "text8.zip")
    with pytest.raises(DataError, match=hashlib.sha256(TEXT).hexdigest()):
        shown()


def test_zip_without_the_member_is_refused(data: Path) -> None:
    archive_of(data / "text8.zip", member="../text8")
    with pytest.raises(DataError, match="no member named 'text8'"):
        shown()


def test_sharp_data_must_be_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARP_DATA", "/nowhere/at/all")
    with pytest.raises(DataError, match="SHARP_DATA names /nowhere/at/all"):
        shown()


def test_downloaded_and_verified(web: Web, tmp_path: Path) -> None:
    body = archive_of(tmp_path / "served.zip").read_bytes()
    web.bodies["/text8.zip"] = body
    remote = RemoteFile(url=web.url + "/text8.zip", sha256=hashlib.sha256(body).hexdigest(), bound=10_000)
    assert text8_store(remote).description.length == len(TEXT)
    assert text8_store(remote).description.length == len(TEXT)
    assert web.requests == ["/text8.zip"]


def test_a_mirror_must_give_the_same_archive(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web.bodies["/mirror.zip"] = archive_of(tmp_path / "served.zip").read_bytes()
    monkeypatch.setenv("SHARP_TEXT8_URL", web.url + "/mirror.zip")
    with pytest.raises(DataError, match=f"expected {text8.ARCHIVE.sha256}"):
        shown()


def test_offline_says_in_one_sentence_how_to_provide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARP_TEXT8_URL", "http://127.0.0.1:9/text8.zip")
    with pytest.raises(DataError) as caught:
        shown()
    message = str(caught.value)
    assert message.startswith("text8 is not on this machine; put text8.zip")
    assert "SHARP_DATA" in message
    assert "\n" not in message


def test_segments_are_ten_million_long() -> None:
    assert [segment(m) for m in (1, 2, 5)] == [(0, 10**7), (10**7, 2 * 10**7), (4 * 10**7, 5 * 10**7)]


@pytest.mark.data
def test_the_real_text8(monkeypatch: pytest.MonkeyPatch) -> None:
    if not REAL_DATA:
        return
    monkeypatch.setenv("SHARP_DATA", REAL_DATA)
    start, end = segment(2)
    stream = open_stream(StreamConfig(name="text8", start=start, end=end), seed=0)
    assert stream.length == 10_000_000
    assert shown(39) == " anarchism originated as a term of abuse"[:39]
