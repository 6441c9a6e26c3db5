"""Books as subwords: raw text through a tokenizer, book after book, with frozen vectors of the symbols beside it.

pg19-subword: the first 217 books of at least 20,000 normalised characters, whole, line ends as one character each.
pg19-subword-validation: five held-out books, cut at 1M characters. python-docs-subword needs no data: Python's help
topics through a small tokenizer trained on them, with drawn vectors. Stored once for each tokenizer.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import StreamConfig
from sharpstream.config_subword import SubwordConfig
from sharpstream.errors import DataError
from sharpstream.streams import books, pg19, places, python_docs
from sharpstream.streams.books import BookSource, DownloadedBooks, Split
from sharpstream.streams.embeddings import Vectors, load_vectors
from sharpstream.streams.pg19 import Rules
from sharpstream.streams.store import Section, Store, StoreStream, has_store, open_store, sha256_of, write_store
from sharpstream.streams.tokenizer import Tokenizer, characters_of, files_of, load_tokenizer, train_tokenizer

NAMES: dict[str, Split] = {"pg19-subword": "train", "pg19-subword-validation": "validation"}
BUILT_IN = "python-docs-subword"
RULES: dict[Split, Rules] = {
    "train": Rules(cut=1 << 40, total=1 << 40, books=217),
    "validation": Rules(cut=1_000_000, total=1 << 40, books=5),
}
IN_DATA = ("wordllama", "gpt2")  # directories of SHARP_DATA with a tokenizer, the first that is there
EMBEDDING = "embedding.safetensors"
SMALL, SMALL_SIZE = 512, 16  # symbols of the built-in tokenizer, and the size of their vectors


class SubwordStream(StoreStream):
    """A store of subwords; `characters` says how much text each symbol is, `vectors` what a learner may read."""

    def __init__(
        self, store: Store, name: str, vectors: Callable[[int], tuple[Vectors, str]], start: int, end: int | None
    ) -> None:
        super().__init__(store, start=start, end=end)
        self.name, self._load = name, vectors
        self.characters = characters_of(self.symbols, str(store.description.details.get("pieces")))
        self._vectors_sha256 = ""

    def vectors(self) -> Vectors:
        """Frozen vectors of the symbols, (V, D); from now on they belong to the stream's identity."""
        table, self._vectors_sha256 = self._load(self.vocabulary)
        return table

    def identity(self) -> Mapping[str, str | int]:
        """The tokens, and the frozen vectors where they were asked for."""
        told = super().identity()
        return {**told, "vectors": self._vectors_sha256} if self._vectors_sha256 else told


def open_subword(config: StreamConfig) -> SubwordStream:
    """The subword stream that a config names."""
    if config.name == BUILT_IN:
        return SubwordStream(_built_in_store(), BUILT_IN, _drawn, config.start, config.end)
    store = subword_store(config.name, config.subword)
    return SubwordStream(
        store, config.name, lambda vocabulary: frozen_vectors(config.subword, vocabulary), config.start, config.end
    )


def subword_store(name: str, config: SubwordConfig, downloads: BookSource | None = None) -> Store:
    """The books of a split as subwords of this tokenizer: stored already, or made now."""
    path = tokenizer_path(config)
    mark = hashlib.sha256("".join(map(sha256_of, files_of(path))).encode()).hexdigest()
    base = places.corpus_base(f"{name}-{mark[:12]}")
    source = books.find(places.data_directory())
    if has_store(base):
        store = open_store(base)
        if source is None or store.description.details.get("mark") == source.mark:
            return store
    source = source or downloads or DownloadedBooks()
    split, sections, tokenizer = NAMES[name], list[Section](), load_tokenizer(path)
    places.notice(f"{name}: cutting books into subwords, once for this tokenizer")
    pieces = encoded(pg19.texts_of(source, split), RULES[split], tokenizer, sections)
    details = {"mark": source.mark, "tokenizer": tokenizer.sha256, "pieces": tokenizer.pieces}
    return write_store(base, pieces, tokenizer.symbols, sections=sections, details=details)


def encoded(
    texts: Iterable[tuple[str, bytes]], rules: Rules, tokenizer: Tokenizer, sections: list[Section]
) -> Iterator[npt.NDArray[np.uint16]]:
    """The tokens, book by book; which books count is decided by their normalised length, as for characters."""
    length = 0
    for book, text in texts:
        if len(pg19.normalised(text)) < rules.shortest:
            continue
        tokens = tokenizer.encode(text.decode("utf-8").replace("\r\n", "\n")[: rules.cut])
        sections.append(Section(book, length, length + len(tokens)))
        yield tokens
        length += len(tokens)
        if len(sections) == rules.books:
            return


def tokenizer_path(config: SubwordConfig) -> Path:
    """The tokenizer that is named, or the first of those in SHARP_DATA."""
    if config.tokenizer:
        return Path(config.tokenizer).expanduser()
    directory = places.data_directory()
    for name in IN_DATA if directory is not None else ():
        if directory is not None and (directory / name).is_dir():
            return directory / name
    wanted = " or ".join(IN_DATA)
    raise DataError(f"no tokenizer: name one with stream.subword.tokenizer, or put {wanted} into SHARP_DATA")


def frozen_vectors(config: SubwordConfig, vocabulary: int) -> tuple[Vectors, str]:
    """The vectors that are named, or those beside the tokenizer, and the sha256 of their file."""
    if config.embedding:
        path = Path(config.embedding).expanduser()
    else:
        path = files_of(tokenizer_path(config))[0].with_name(EMBEDDING)
    table = load_vectors(path, config.key, vocabulary)
    return table, f"{sha256_of(path)} {config.key}".rstrip()


def _built_in_store() -> Store:
    text = python_docs.help_topics().decode()
    digest = hashlib.sha256(text.encode()).hexdigest()
    base = places.corpus_base(f"{BUILT_IN}-{digest[:12]}")
    if has_store(base):
        return open_store(base)
    tokenizer = train_tokenizer([text], SMALL, digest)
    return write_store(base, [tokenizer.encode(text)], tokenizer.symbols, details={"pieces": tokenizer.pieces})


def _drawn(vocabulary: int) -> tuple[Vectors, str]:
    """Vectors that know nothing of their symbols but tell them apart."""
    table: Any = np.random.default_rng(19).standard_normal((vocabulary, SMALL_SIZE))
    return table, hashlib.sha256(table.tobytes()).hexdigest()
