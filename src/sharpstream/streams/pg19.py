"""PG-19 as characters: whole books, one after the other, in 27 symbols, with the place of each book remembered.

Training: ascending id, books under 20,000 characters passed over, each cut at 2M, until there are 100M. Validation: the
first 5 such books, cut at 1M. Lengths are those of the normalised text; one space stands between two books.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sharpstream.errors import DataError
from sharpstream.streams import books, places
from sharpstream.streams.books import BookSource, DownloadedBooks, Split
from sharpstream.streams.store import Section, Store, has_store, open_store, write_store
from sharpstream.streams.text import Encoder, TokenBytes, symbols_of

NAMES: dict[str, Split] = {"pg19": "train", "pg19-validation": "validation"}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which books count, and how much of each."""

    shortest: int = 20_000  # characters
    cut: int
    total: int  # characters of the whole stream
    books: int


RULES: dict[Split, Rules] = {
    "train": Rules(cut=2_000_000, total=100_000_000, books=1_000_000),
    "validation": Rules(cut=1_000_000, total=100_000_000, books=5),
}


def normalised(text: bytes) -> TokenBytes:
    """A book's characters, without spaces at either end."""
    return _without_last_space(Encoder("letters", after_space=True).encode(text))


def _without_last_space(tokens: TokenBytes) -> TokenBytes:
    return tokens[:-1] if len(tokens) and tokens[-1] == 0 else tokens


def sound(name: str, text: bytes) -> bytes:
    """A book's bytes, if they are text."""
    if not text:
        raise DataError(f"{name} is empty; a book has text: get the file again, or take it out")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as problem:
        told = f"{name} is not UTF-8 at byte {problem.start:,}; PG-19's books are: get the file again"
        raise DataError(told) from problem
    return text


def texts_of(source: BookSource, split: Split) -> Iterator[tuple[str, bytes]]:
    """Name and text of each book, ascending by id; a file that its list calls empty is passed over as a short book."""
    ids = source.ids(split)
    if not ids:
        raise DataError(f"there are no PG-19 books named {split}/ID.txt in SHARP_DATA")
    for book in ids:
        listed, text = source.listed(split, book), source.read(split, book)
        if text or not listed.empty:
            yield f"{book} {listed.title}".rstrip(), sound(f"{split}/{book}.txt", text)


def chosen(texts: Iterable[tuple[str, bytes]], rules: Rules, sections: list[Section]) -> Iterator[TokenBytes]:
    """The stream's tokens, book by book; `sections` receives each book's place as it is given out."""
    length = 0
    for book, text in texts:
        tokens = normalised(text)
        if len(tokens) < rules.shortest:
            continue
        if sections:
            yield np.zeros(1, np.uint8)
            length += 1
        tokens = _without_last_space(tokens[: min(rules.cut, rules.total - length)])
        sections.append(Section(book, length, length + len(tokens)))
        yield tokens
        length += len(tokens)
        # A separator and a token must still fit before another book is read, or even downloaded.
        if len(sections) == rules.books or length + 2 > rules.total:
            return


def pg19_store(name: str = "pg19", downloads: BookSource | None = None) -> Store:
    """PG-19 as a token store: from SHARP_DATA, else the cache, else downloads."""
    split, base = NAMES[name], places.corpus_base(name)
    source = books.find(places.data_directory())
    if has_store(base):
        store = open_store(base)
        if source is None or store.description.details.get("mark") == source.mark:
            return _announced(store, split)
    return _announced(convert(source or downloads or DownloadedBooks(), name), split)


def convert(source: BookSource, name: str) -> Store:
    """Read the books by the rules and write the store."""
    split = NAMES[name]
    sections: list[Section] = []
    return write_store(
        places.corpus_base(name),
        chosen(texts_of(source, split), RULES[split], sections),
        symbols_of("letters"),
        sections=sections,
        details={"mark": source.mark},
    )


def pg19_books(name: str = "pg19") -> tuple[Section, ...]:
    """The books of a split in order, each with its place in the stream: [:3] the first three, [-3:] the last."""
    return pg19_store(name).description.sections


def _announced(store: Store, split: Split) -> Store:
    length, wanted = store.description.length, RULES[split].total
    if split == "train" and length < wanted:
        count = len(store.description.sections)
        places.notice(f"pg19 here has {length:,} of {wanted:,} characters, from {count} books")
    return store
