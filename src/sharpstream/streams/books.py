"""Where the books of PG-19 come from: a zip archive, a directory, or the network book by book.

Each source gives the ids of a split in ascending order and the bytes of one book at a time; `pg19.py` decides which
books count. `pg19_books.csv` beside this file lists the books we download, with their sizes and checksums.
"""

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from sharpstream.errors import DataError
from sharpstream.streams import places, zips
from sharpstream.streams.catalogue import PG19_URL
from sharpstream.streams.fetch import RemoteFile, download, overridden, progress_bar

Split = Literal["train", "validation"]
LARGEST_BOOK = 64 << 20  # bytes
LISTING = Path(__file__).with_name("pg19_books.csv")
MANIFEST = "manifest.csv"
NOTHING = hashlib.sha256().hexdigest()  # of a file without a byte
_BOOK_NAME = re.compile(r"(train|validation)/([0-9]{1,9})\.txt")


class Listed(NamedTuple):
    """What a list says of a book; empty text where it says nothing."""

    size: str = ""  # bytes
    sha256: str = ""
    title: str = ""

    @property
    def empty(self) -> bool:
        """Whether the list vouches for a file without a byte: some official ones are."""
        return self.size == "0" and self.sha256 == NOTHING


class BookSource(Protocol):
    """Books by split and id, and a mark that changes when they do."""

    mark: str

    def ids(self, split: Split) -> list[int]:
        """The ids there are, ascending."""
        ...

    def read(self, split: Split, book: int) -> bytes:
        """One book's text as it is."""
        ...

    def listed(self, split: Split, book: int) -> Listed:
        """What a list that comes with the books says of it."""
        ...


def digest_of(rows: Iterable[object]) -> str:
    """A short mark for a list of files."""
    return hashlib.sha256("\n".join(map(str, rows)).encode()).hexdigest()[:16]


class ZipBooks:
    """Members train/ID.txt and validation/ID.txt of an archive; all others are passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with zips.opened(path) as archive:
            books = {m[0]: info for info in archive.infolist() if (m := _BOOK_NAME.fullmatch(info.filename))}
            self._listed = read_manifest(archive)
        self._books = set(books)
        sizes = [(name, info.file_size, info.CRC) for name, info in sorted(books.items())]
        self.mark = "zip " + digest_of([*sizes, *sorted(self._listed.items())])

    def ids(self, split: Split) -> list[int]:
        """The ids in the archive."""
        return sorted({int(m[2]) for name in self._books if (m := _BOOK_NAME.fullmatch(name)) and m[1] == split})

    def read(self, split: Split, book: int) -> bytes:
        """One member, unpacked in memory; if the archive's manifest lists it, it must be what is listed."""
        with zips.opened(self._path) as archive:
            text = b"".join(zips.chunks(archive, f"{split}/{book}.txt", LARGEST_BOOK))
        sha256 = self.listed(split, book).sha256
        if sha256 and hashlib.sha256(text).hexdigest() != sha256:
            raise DataError(f"{split}/{book}.txt in {self._path} is not the book that its manifest.csv lists (sha256)")
        return text

    def listed(self, split: Split, book: int) -> Listed:
        """From the archive's manifest."""
        return self._listed.get((split, book), Listed())


class DirectoryBooks:
    """Files train/ID.txt and validation/ID.txt under a directory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        files = sorted(path.glob("*/*.txt"))
        self._books = {str(file.relative_to(path)): file.stat() for file in files}
        self.mark = "directory " + digest_of((n, stat.st_size, stat.st_mtime_ns) for n, stat in self._books.items())

    def ids(self, split: Split) -> list[int]:
        """The ids in the directory."""
        return sorted({int(m[2]) for name in self._books if (m := _BOOK_NAME.fullmatch(name)) and m[1] == split})

    def read(self, split: Split, book: int) -> bytes:
        """One file."""
        return read_book(self._path / split / f"{book}.txt")

    def listed(self, split: Split, book: int) -> Listed:
        """A directory of texts has no list."""
        return Listed()


class DownloadedBooks:
    """The books of our list, each fetched when it is first read and kept in the cache."""

    def __init__(self, listing: Path | None = None, url: str = PG19_URL) -> None:
        self._listed = read_listing(listing or LISTING)
        self._url = overridden(url, "SHARP_PG19_URL")
        self.mark = "download " + digest_of(sorted(self._listed.items()))

    def ids(self, split: Split) -> list[int]:
        """The ids in the list."""
        return sorted(book for listed_split, book in self._listed if listed_split == split)

    def read(self, split: Split, book: int) -> bytes:
        """One book from the cache, or fetched into it."""
        target = places.download_path(f"pg19/{split}/{book}.txt")
        size, sha256 = self._listed[split, book]
        if not target.is_file() or target.stat().st_size != size:
            remote = RemoteFile(url=f"{self._url}/{split}/{book}.txt", sha256=sha256, bound=LARGEST_BOOK)
            try:
                with progress_bar(f"pg19 {split} {book}") as advance:
                    download(remote, target, advance)
            except DataError as problem:
                raise DataError(
                    "PG-19 is not on this machine; put pg19.zip, or a directory pg19 with train/ID.txt and "
                    f"validation/ID.txt, into a directory and set SHARP_DATA to that directory ({problem})"
                ) from problem
        return read_book(target)

    def listed(self, split: Split, book: int) -> Listed:
        """From our list of books, which has no titles."""
        size, sha256 = self._listed[split, book]
        return Listed(str(size), sha256)


def read_book(path: Path) -> bytes:
    """A book's bytes, if it is of a book's size."""
    try:
        if path.stat().st_size > LARGEST_BOOK:
            raise DataError(f"{path} is larger than a book ({LARGEST_BOOK:,} bytes at most)")
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem


def read_manifest(archive: zipfile.ZipFile) -> dict[tuple[str, int], Listed]:
    """(split, id) → what the archive's manifest.csv says of it; nothing when there is no manifest."""
    if MANIFEST not in archive.namelist():
        return {}
    try:
        text = b"".join(zips.chunks(archive, MANIFEST, LARGEST_BOOK)).decode("utf-8")
        rows = csv.DictReader(io.StringIO(text))
        return {
            (row["split"], int(row["id"])): Listed(row["bytes"], row["sha256"], printable(row["title"])) for row in rows
        }
    except (KeyError, ValueError, TypeError, csv.Error) as problem:
        raise DataError(
            f"{MANIFEST} in {archive.filename} is not a list of id, split, bytes, sha256, title"
        ) from problem


def printable(title: str) -> str:
    """A title as one printable line of bounded length.

    >>> printable("Moby\\nDick\\x07")
    'Moby Dick '
    """
    return "".join(letter if letter.isprintable() else " " for letter in title)[:100]


@cache
def read_listing(path: Path) -> dict[tuple[str, int], tuple[int, str]]:
    """(split, id) → (bytes, sha256) from the list of books."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(r["split"], int(r["id"])): (int(r["bytes"]), r["sha256"]) for r in csv.DictReader(file)}


def find(directory: Path | None) -> BookSource | None:
    """pg19.zip or pg19/ in a directory."""
    if directory is None:
        return None
    if (archive := directory / "pg19.zip").is_file():
        return ZipBooks(archive)
    if (folder := directory / "pg19").is_dir():
        return DirectoryBooks(folder)
    return None
