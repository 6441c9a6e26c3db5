"""Every stream there is to name: the built-in ones, the corpora, and what the person added.

`opening.py` resolves names with it and `commands.py` lists it. Nothing here reads a corpus.
"""

import re
from dataclasses import dataclass
from typing import Literal

from sharpstream.errors import DataError
from sharpstream.streams import places
from sharpstream.streams.store import has_store, open_store

Status = Literal["built in", "ready", "in SHARP_DATA", "to download", "damaged"]
TEXT8_URL = "http://mattmahoney.net/dc/text8.zip"
TEXT8_SHA256 = "a6640522afe85d1963ad56c05b0ede0a0c000dddc9671758a6cc09b7a38e5232"  # of the archive
PG19_URL = "https://storage.googleapis.com/deepmind-gutenberg"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A stream that has a name."""

    name: str
    what: str
    kind: Literal["synthetic", "built in", "corpus", "added"]
    files: tuple[str, ...] = ()  # what is looked for in SHARP_DATA
    url: str = ""
    sha256: str = ""  # of the one file at the URL; the books of PG-19 have theirs in pg19_books.csv
    download_bytes: int = 0  # about
    vocabulary: int = 27  # of a corpus; with subwords that of the tokenizer we expect


ENTRIES = (
    Entry(name="linear", what="A B C D E F G repeated", kind="synthetic"),
    Entry(name="random", what="7 tokens, uniform and independent", kind="synthetic"),
    Entry(name="nonlinear", what="two rings and a hub; the last k visits decide the direction", kind="synthetic"),
    Entry(name="python-docs", what="Python's help topics as 27 letters", kind="built in"),
    Entry(name="python-docs-subword", what="Python's help topics as 512 subwords", kind="built in"),
    Entry(
        name="text8",
        what="Wikipedia as 27 letters, 100M characters",
        kind="corpus",
        files=("text8.zip", "text8"),
        url=TEXT8_URL,
        sha256=TEXT8_SHA256,
        download_bytes=31_344_016,
    ),
    Entry(
        name="pg19",
        what="books as 27 letters, 100M characters",
        kind="corpus",
        files=("pg19.zip", "pg19"),
        url=PG19_URL,
        download_bytes=112_000_000,
    ),
    Entry(
        name="pg19-validation",
        what="5 held-out books as 27 letters",
        kind="corpus",
        files=("pg19.zip", "pg19"),
        url=PG19_URL,
        download_bytes=1_100_000,
    ),
    Entry(
        name="pg19-subword",
        vocabulary=32_000,
        what="217 whole books as subwords; needs a tokenizer",
        kind="corpus",
        files=("pg19.zip", "pg19"),
        url=PG19_URL,
        download_bytes=35_000_000,
    ),
    Entry(
        name="pg19-subword-validation",
        vocabulary=32_000,
        what="5 held-out books as subwords",
        kind="corpus",
        files=("pg19.zip", "pg19"),
        url=PG19_URL,
        download_bytes=1_100_000,
    ),
)
BUILT_IN_NAMES = tuple(entry.name for entry in ENTRIES)
SYNTHETIC = tuple(entry.name for entry in ENTRIES if entry.kind == "synthetic")


def added_names() -> tuple[str, ...]:
    """What `sharp data add` has stored, by name."""
    folder = places.added_base("x").parent
    names = (path.name.removesuffix(".json") for path in folder.glob("*.json"))
    return tuple(sorted(name for name in names if _NAME.fullmatch(name)))


def all_names() -> tuple[str, ...]:
    """Every name `open_stream` knows beside paths and `-`."""
    return BUILT_IN_NAMES + added_names()


def check_new_name(name: str) -> None:
    """Refuse a name that cannot be added."""
    if not _NAME.fullmatch(name):
        raise DataError(f"{name!r} cannot name a stream; use up to 64 letters, digits, dots, dashes and underscores")
    if name in BUILT_IN_NAMES:
        raise DataError(f"{name!r} is a stream of our own; choose another name")


def entries() -> tuple[Entry, ...]:
    """Everything that has a name, with what was added."""
    return ENTRIES + tuple(Entry(name=name, what="added by you", kind="added") for name in added_names())


def status_of(entry: Entry) -> tuple[Status, int | None]:
    """Whether a stream can be read now, and how many tokens it has where that is known."""
    if entry.kind in ("synthetic", "built in"):
        return "built in", None
    base = places.added_base(entry.name) if entry.kind == "added" else places.corpus_base(entry.name)
    if has_store(base):
        try:
            return "ready", open_store(base).description.length
        except DataError:
            return "damaged", None
    directory = places.data_directory()
    if directory is not None and any((directory / file).exists() for file in entry.files):
        return "in SHARP_DATA", None
    return "to download", None
