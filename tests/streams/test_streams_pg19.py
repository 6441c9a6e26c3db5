"""PG-19 keeps its rules: which books, in which order, how much of each, and where each lies."""

import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from local_web import Web

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.streams import open_stream, pg19
from sharpstream.streams.books import DownloadedBooks, read_listing
from sharpstream.streams.pg19 import Rules, chosen, normalised, pg19_books, pg19_store
from sharpstream.streams.store import Section
from sharpstream.streams.text import decode, symbols_of

LETTERS = symbols_of("letters")
REAL_DATA = os.environ.get("SHARP_DATA", "")  # before the fixtures hide it
BOOKS = {
    "train/9.txt": b"\r\n NINE nine, nine!\r\n",
    "train/10.txt": b"ten TEN ten ten ten",
    "train/2.txt": b"two two",
    "train/3.txt": b"no",
    "validation/4.txt": b"four four",
}


@pytest.fixture(autouse=True)
def small_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pg19.RULES, "train", Rules(shortest=4, cut=10, total=100, books=99))
    monkeypatch.setitem(pg19.RULES, "validation", Rules(shortest=4, cut=6, total=100, books=2))


def run(texts: list[tuple[str, bytes]], rules: Rules) -> tuple[str, list[Section]]:
    sections: list[Section] = []
    return decode(np.concatenate(list(chosen(texts, rules, sections))), LETTERS), sections


def shown(name: str) -> str:
    stream = open_stream(StreamConfig(name=name), seed=0)
    return decode(stream.take(1000), stream.symbols)


def provide(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.mkdir(exist_ok=True)
    monkeypatch.setenv("SHARP_DATA", str(directory))


def test_books_are_normalised_without_outer_spaces() -> None:
    assert decode(normalised("\r\n  «Ça» 1 va!\r\n".encode()), LETTERS) == "a va"
    assert len(normalised(b"  \r\n")) == 0
    assert len(normalised(b"")) == 0


def test_short_books_are_skipped_and_long_ones_cut() -> None:
    books = [("1", b"abc"), ("2", b"abcd"), ("3", b"abcdefgh")]
    text, sections = run(books, Rules(shortest=4, cut=5, total=99, books=9))
    assert text == "abcd abcde"
    assert sections == [Section("2", 0, 4), Section("3", 5, 10)]


def test_length_is_measured_after_normalising() -> None:
    text, _ = run([("1", b"a.........b"), ("2", b"abcd")], Rules(shortest=4, cut=9, total=99, books=9))
    assert text == "abcd"


@pytest.mark.parametrize("total", range(4, 14))
def test_the_whole_never_exceeds_its_total(total: int) -> None:
    text, sections = run([(str(n), b"abcd") for n in range(9)], Rules(shortest=4, cut=9, total=total, books=9))
    assert text == ("abcd " * 9)[: total - (total % 5 == 0)]
    assert sections[-1].end == len(text)


def test_a_cut_at_a_space_leaves_no_double_space() -> None:
    text, sections = run([("1", b"abcd efgh"), ("2", b"ijkl")], Rules(shortest=4, cut=5, total=99, books=9))
    assert text == "abcd ijkl"
    assert sections == [Section("1", 0, 4), Section("2", 5, 9)]


def test_no_book_is_read_beyond_the_last_one_needed() -> None:
    read: list[int] = []

    def texts() -> Iterator[tuple[str, bytes]]:
        for n in range(9):
            read.append(n)
            yield str(n), b"abcd"

    list(chosen(texts(), Rules(shortest=4, cut=9, total=99, books=2), []))
    assert read == [0, 1]


def test_zip_in_sharp_data_gives_books_by_ascending_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path / "data", monkeypatch)
    with zipfile.ZipFile(tmp_path / "data" / "pg19.zip", "w") as archive:
        for name, text in {
            **BOOKS,
            "manifest.csv": b"id",
            "../train/1.txt": b"evil book",
            "train/x.txt": b"evil",
        }.items():
            archive.writestr(name, text)
    assert shown("pg19") == "two two nine nine ten ten te"
    assert shown("pg19-validation") == "four f"
    assert [book.name for book in pg19_books()] == ["2", "9", "10"]
    last = pg19_books()[-1]
    stream = open_stream(StreamConfig(name="pg19", start=last.start, end=last.end), seed=0)
    assert decode(stream.take(99), LETTERS) == "ten ten te"


def archive_of(directory: Path, books: dict[str, bytes], manifest: str = "") -> None:
    with zipfile.ZipFile(directory / "pg19.zip", "w") as archive:
        for name, text in books.items():
            archive.writestr(name, text)
        if manifest:
            archive.writestr("manifest.csv", manifest)


def manifest_of(books: dict[str, bytes]) -> str:
    rows = ["id,split,bytes,sha256,year,title"]
    for name, text in books.items():
        split, book = name.removesuffix(".txt").split("/")
        rows.append(f"{book},{split},{len(text)},{hashlib.sha256(text).hexdigest()},1900,Book {book} by Nobody")
    return "\n".join(rows)


def test_the_manifest_gives_titles_and_vouches_for_the_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path / "data", monkeypatch)
    archive_of(tmp_path / "data", BOOKS, manifest_of(BOOKS))
    assert [book.name for book in pg19_books()] == [f"{n} Book {n} by Nobody" for n in (2, 9, 10)]
    archive_of(tmp_path / "data", {**BOOKS, "train/9.txt": b"another nine"}, manifest_of(BOOKS))
    with pytest.raises(DataError, match=r"train/9\.txt in .* is not the book that its manifest\.csv lists"):
        shown("pg19")


@pytest.mark.parametrize(
    ("text", "said"), [(b"", r"train/9\.txt is empty"), (b"nine \xff\xfe nine", r"train/9\.txt is not UTF-8 at byte 5")]
)
def test_a_book_that_is_no_text_is_refused_and_nothing_is_left(
    text: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    provide(tmp_path / "data", monkeypatch)
    archive_of(tmp_path / "data", {**BOOKS, "train/9.txt": text})
    with pytest.raises(DataError, match=said):
        shown("pg19")
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_book_that_the_manifest_calls_empty_is_short_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(tmp_path / "data", monkeypatch)
    books = {**BOOKS, "train/9.txt": b""}
    archive_of(tmp_path / "data", books, manifest_of(books))
    assert shown("pg19") == "two two ten ten te"


def test_an_empty_book_that_the_manifest_does_not_call_empty_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(tmp_path / "data", monkeypatch)
    books = {**BOOKS, "train/9.txt": b""}
    unlisted = manifest_of({name: text for name, text in books.items() if name != "train/9.txt"})
    archive_of(tmp_path / "data", books, unlisted)
    with pytest.raises(DataError, match=r"train/9\.txt is empty"):
        shown("pg19")
    archive_of(tmp_path / "data", books, manifest_of(books).replace("9,train,0,", "9,train,18,"))
    with pytest.raises(DataError, match=r"train/9\.txt is empty"):
        shown("pg19")


def test_a_book_with_text_that_the_manifest_calls_empty_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(tmp_path / "data", monkeypatch)
    archive_of(tmp_path / "data", BOOKS, manifest_of({**BOOKS, "train/9.txt": b""}))
    with pytest.raises(DataError, match=r"train/9\.txt in .* is not the book that its manifest\.csv lists"):
        shown("pg19")


def test_a_listed_empty_book_can_be_downloaded(web: Web, tmp_path: Path) -> None:
    books = {**BOOKS, "train/9.txt": b""}
    web.bodies = {f"/{name}": text for name, text in books.items()}
    store = pg19_store("pg19", DownloadedBooks(listing_of(tmp_path / "list.csv", books), web.url))
    assert decode(store.stream().take(99), LETTERS) == "two two ten ten te"


def test_directory_in_sharp_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path / "data", monkeypatch)
    for name, text in BOOKS.items():
        path = tmp_path / "data" / "pg19" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    assert shown("pg19") == "two two nine nine ten ten te"
    (tmp_path / "data" / "pg19" / "train" / "1.txt").write_bytes(b"one more")
    assert shown("pg19").startswith("one more two two")


def test_no_books_in_the_directory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path / "data", monkeypatch)
    (tmp_path / "data" / "pg19").mkdir()
    with pytest.raises(DataError, match=r"no PG-19 books named train/ID\.txt"):
        shown("pg19")


def listing_of(path: Path, books: dict[str, bytes]) -> Path:
    rows = ["split,id,bytes,sha256"]
    for name, text in books.items():
        split, book = name.removesuffix(".txt").split("/")
        rows.append(f"{split},{book},{len(text)},{hashlib.sha256(text).hexdigest()}")
    path.write_text("\n".join(rows))
    return path


def test_downloaded_book_by_book_and_kept(web: Web, tmp_path: Path) -> None:
    web.bodies = {f"/{name}": text for name, text in BOOKS.items()}
    listing = listing_of(tmp_path / "list.csv", BOOKS)
    store = pg19_store("pg19", DownloadedBooks(listing, web.url))
    assert decode(store.stream().take(99), LETTERS) == "two two nine nine ten ten te"
    assert web.requests == ["/train/2.txt", "/train/3.txt", "/train/9.txt", "/train/10.txt"]
    DownloadedBooks(listing, web.url).read("train", 9)
    assert len(web.requests) == 4


def test_a_book_that_arrives_wrong_is_refused(web: Web, tmp_path: Path, cache: Path) -> None:
    listing = listing_of(tmp_path / "list.csv", BOOKS)
    web.bodies = {f"/{name}": text + b"!" for name, text in BOOKS.items()}
    with pytest.raises(DataError, match="expected " + hashlib.sha256(BOOKS["train/2.txt"]).hexdigest()):
        pg19_store("pg19", DownloadedBooks(listing, web.url))
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_offline_says_in_one_sentence_how_to_provide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARP_PG19_URL", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"^PG-19 is not on this machine; put pg19\.zip.*SHARP_DATA") as caught:
        shown("pg19")
    assert "\n" not in str(caught.value)


def test_the_list_of_books_is_whole() -> None:
    listed = read_listing(Path(pg19.__file__).with_name("pg19_books.csv"))
    assert len(listed) == 703
    assert all(len(sha256) == 64 for _, sha256 in listed.values())


@pytest.mark.data
def test_the_real_pg19_validation_books(monkeypatch: pytest.MonkeyPatch) -> None:
    if not REAL_DATA:
        return
    monkeypatch.setenv("SHARP_DATA", REAL_DATA)
    monkeypatch.setitem(pg19.RULES, "validation", Rules(cut=1_000_000, total=100_000_000, books=5))
    assert len(pg19_books("pg19-validation")) == 5
    assert pg19_store("pg19-validation").description.length > 800_000
