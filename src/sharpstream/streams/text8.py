"""text8: 100 million characters of Wikipedia in 27 symbols, found, converted once and opened as a stream.

Looked for as `text8.zip` or `text8` in SHARP_DATA, then in the cache, then on the network. A shorter text8 is
welcome and announced.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sharpstream.errors import DataError
from sharpstream.streams import places, zips
from sharpstream.streams.catalogue import TEXT8_SHA256, TEXT8_URL
from sharpstream.streams.fetch import RemoteFile, download, overridden, progress_bar
from sharpstream.streams.store import Store, has_store, open_store, write_store
from sharpstream.streams.text import LETTERS, TokenBytes, read_chunks, symbols_of

NAME = "text8"
CANONICAL = 100_000_000  # characters
SEGMENT = 10_000_000
ARCHIVE = RemoteFile(url=TEXT8_URL, sha256=TEXT8_SHA256, bound=64 << 20)
# Texts we know, by length: the algorithm and the digest of the text itself.
KNOWN = {
    CANONICAL: ("md5", "3bea1919949baf155f99411df5fada7e"),
    52_000_000: ("sha256", "530f10277687e7de3bd2d56721fe0e56cc69418a2edf8d4a5a7b6ec3d820df8e"),
}
_TO_TOKEN = bytes(LETTERS.find(chr(byte)) % 256 for byte in range(256))  # 255 marks a foreign byte


@dataclass(frozen=True)
class Found:
    """A text8 on disk and a mark that changes when it does."""

    path: Path
    mark: str


def segment(number: int) -> tuple[int, int]:
    """Start and end of segment m = 1, 2, ...

    >>> segment(2)
    (10000000, 20000000)
    """
    return (number - 1) * SEGMENT, number * SEGMENT


def text8_store(archive: RemoteFile = ARCHIVE) -> Store:
    """text8 as a token store: the one in SHARP_DATA, else the one in the cache, else a download."""
    base = places.corpus_base(NAME)
    found = find(places.data_directory())
    if has_store(base):
        store = open_store(base)
        if found is None or store.description.details.get("mark") == found.mark:
            return _announced(store)
    if found is None:
        target = places.download_path("text8.zip")
        fetch(archive, target)
        found = Found(target, _zip_mark(target))
    return _announced(convert(found, base))


def find(directory: Path | None) -> Found | None:
    """text8.zip or text8 in a directory."""
    if directory is None:
        return None
    if (archive := directory / "text8.zip").is_file():
        return Found(archive, _zip_mark(archive))
    if (plain := directory / "text8").is_file():
        stat = plain.stat()
        return Found(plain, f"plain {stat.st_size} {stat.st_mtime_ns}")
    return None


def _zip_mark(path: Path) -> str:
    with zips.opened(path) as archive:
        info = zips.member(archive, NAME, CANONICAL)
        return f"zip {info.file_size} {info.CRC}"


def fetch(archive: RemoteFile, target: Path) -> None:
    """Download the archive unless it is there; if that fails, one sentence says how to provide it."""
    if target.is_file():
        return
    remote = RemoteFile(url=overridden(archive.url, "SHARP_TEXT8_URL"), sha256=archive.sha256, bound=archive.bound)
    try:
        with progress_bar("text8") as advance:
            download(remote, target, advance)
    except DataError as problem:
        raise DataError(
            f"text8 is not on this machine; put text8.zip from {archive.url} into a directory and set SHARP_DATA to "
            f"that directory ({problem})"
        ) from problem


def convert(found: Found, base: Path) -> Store:
    """Write the token store, then hold the text against what is known of texts of its length."""
    digests = {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}
    with _text(found.path) as pieces:

        def tokens() -> Iterator[TokenBytes]:
            done = 0
            for piece in pieces:
                for digest in digests.values():
                    digest.update(piece)
                yield _tokens(piece, done, found.path)
                done += len(piece)
            _check_known(done, {name: digest.hexdigest() for name, digest in digests.items()}, found.path)

        details = {"source": str(found.path), "mark": found.mark}
        return write_store(base, tokens(), symbols_of("letters"), details=details)


@contextmanager
def _text(path: Path) -> Iterator[Iterator[bytes]]:
    if not zipfile.is_zipfile(path):
        yield read_chunks(path)
        return
    with zips.opened(path) as archive:
        yield zips.chunks(archive, NAME, CANONICAL)


def _tokens(piece: bytes, offset: int, path: Path) -> TokenBytes:
    tokens = np.frombuffer(piece.translate(_TO_TOKEN), np.uint8)
    if tokens.max() >= len(LETTERS):
        where = int(np.argmax(tokens >= len(LETTERS)))
        raise DataError(f"{path} is not text8: character {offset + where:,} is {chr(piece[where])!r}, not a-z or space")
    return tokens


def _check_known(length: int, digests: dict[str, str], path: Path) -> None:
    if length not in KNOWN:
        return
    algorithm, expected = KNOWN[length]
    if digests[algorithm] != expected:
        raise DataError(f"the text in {path} has the {algorithm} {digests[algorithm]}, expected {expected}")


def _announced(store: Store) -> Store:
    length = store.description.length
    if length < CANONICAL:
        places.notice(f"text8 here is the first {length:,} of {CANONICAL:,} characters")
    return store
