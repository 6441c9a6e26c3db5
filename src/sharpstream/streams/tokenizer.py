"""A tokenizer from a local file, in GPT-2's format (encoder.json, vocab.bpe) or Hugging Face's (tokenizer.json).

In comes a path, out comes a `Tokenizer`: text to ids, the symbols by id, and how many characters of text each stands
for. The `tokenizers` library (extra `subword`) is imported here and nowhere else, when a tokenizer is asked for.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError, DataError
from sharpstream.streams.store import DTYPES, sha256_of

MOST_SYMBOLS = 1 << 8 * DTYPES["uint16"].itemsize
LARGEST_FILE = 256 << 20  # bytes
HF_FILE, GPT2_FILES = "tokenizer.json", ("encoder.json", "vocab.bpe")
Pieces = Literal["bytes", "text"]  # what the symbols are written in: GPT-2's letters for bytes, or plain text
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # a byte of a character that has no symbol of its own


@dataclass(frozen=True)
class Tokenizer:
    """Text to ids; `symbols` by id, written in `pieces`; `sha256` changes when the file does."""

    inner: Any
    symbols: tuple[str, ...]
    pieces: Pieces
    sha256: str

    def encode(self, text: str) -> npt.NDArray[np.uint16]:
        """The ids of a text, without any that the tokenizer would put around it."""
        return np.array(self.inner.encode(text, add_special_tokens=False).ids, dtype=np.uint16)


def library() -> Any:
    """The `tokenizers` library, or how to get it."""
    try:
        import tokenizers
    except ImportError as problem:
        raise ConfigError("subwords need the tokenizers library: pip install 'sharpstream[subword]'") from problem
    return tokenizers


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file or directory."""
    files = files_of(path)
    for file in files:
        if file.stat().st_size > LARGEST_FILE:
            raise DataError(f"{file} is larger than any tokenizer ({LARGEST_FILE:,} bytes at most)")
    made = library()
    sha256 = hashlib.sha256("".join(map(sha256_of, files)).encode()).hexdigest()
    try:
        if len(files) == 1:
            inner = made.Tokenizer.from_file(str(files[0]))
        else:
            inner = made.Tokenizer(made.models.BPE.from_file(*map(str, files)))
            _by_bytes(inner)
        inner.no_truncation()
        inner.no_padding()
    except Exception as problem:  # the library raises bare ones
        raise DataError(f"{path} is not a tokenizer: {str(problem).splitlines()[0]}") from problem
    return _described(inner, str(path), sha256)


def files_of(path: Path) -> tuple[Path, ...]:
    """tokenizer.json, or encoder.json and vocab.bpe; either itself or its directory may be named."""
    folder = path.parent if path.name in GPT2_FILES else path
    pair = tuple(folder / name for name in GPT2_FILES)
    if folder.is_dir() and not (folder / HF_FILE).is_file():
        missing = [file.name for file in pair if not file.is_file()]
        if missing:
            wanted = f"{HF_FILE}, or {' and '.join(GPT2_FILES)}"
            raise DataError(f"there is no tokenizer in {folder}: it must hold {wanted}")
        return pair
    file = path / HF_FILE if path.is_dir() else path
    if not file.is_file():
        raise DataError(
            f"there is no tokenizer {file}; give a {HF_FILE}, or a directory with {' and '.join(GPT2_FILES)}"
        )
    return (file,)


def train_tokenizer(texts: Iterable[str], symbols: int, sha256: str) -> Tokenizer:
    """A byte-level BPE of its own for these texts, with at most so many symbols; 256 of them are the bytes.

    >>> tiny = train_tokenizer(["low lower lowest"] * 9, 262, sha256="")
    >>> len(tiny.symbols), len(tiny.encode("lower")), len(tiny.encode("zzz"))
    (262, 3, 3)
    """
    made = library()
    inner, alphabet = made.Tokenizer(made.models.BPE()), made.pre_tokenizers.ByteLevel.alphabet()
    _by_bytes(inner)
    trainer = made.trainers.BpeTrainer(vocab_size=symbols, initial_alphabet=alphabet, show_progress=False)
    inner.train_from_iterator(texts, trainer)
    return _described(inner, "this text", sha256)


def _by_bytes(inner: Any) -> None:
    """Read and write text as GPT-2 does: by its bytes."""
    inner.pre_tokenizer = library().pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = library().decoders.ByteLevel()


def _described(inner: Any, name: str, sha256: str) -> Tokenizer:
    """The tokenizer with its symbols; an id that no symbol has is shown by its number."""
    by_id = {number: symbol for symbol, number in inner.get_vocab(with_added_tokens=True).items()}
    count = max(by_id, default=-1) + 1
    if not 2 <= count <= MOST_SYMBOLS:
        raise DataError(f"the tokenizer of {name} has {count:,} symbols; it must have 2 to {MOST_SYMBOLS:,}")
    symbols = tuple(by_id.get(number) or f"<{number}>" for number in range(count))
    pieces: Pieces = "bytes" if "ByteLevel" in str(inner.pre_tokenizer) else "text"
    return Tokenizer(inner, symbols, pieces, sha256)


def characters_of(symbols: Iterable[str], pieces: str) -> npt.NDArray[np.int64]:
    """How many characters of text each symbol stands for, (V,): their sum over tokens is the length of the text.

    Of a character in several pieces only the first byte counts, so the sum is exact wherever the cuts are.

    >>> characters_of(["▁the", "<0xC3>", "<0xA9>"], "text").tolist()
    [4, 1, 0]
    """
    count = _characters_in_bytes if pieces == "bytes" else _characters_in_text
    return np.array([count(symbol) for symbol in symbols], dtype=np.int64)


def _characters_in_bytes(symbol: str) -> int:
    return sum(not 0x80 <= byte < 0xC0 for byte in map(byte_of, symbol))


def _characters_in_text(symbol: str) -> int:
    byte = _BYTE.fullmatch(symbol)
    return len(symbol) if byte is None else int(not 0x80 <= int(byte[1], 16) < 0xC0)


def byte_of(letter: str) -> int:
    """The byte that GPT-2's alphabet writes as this letter: printable ones as themselves, the others from Ā on.

    >>> [byte_of(letter) for letter in "aĠĊ"]
    [97, 32, 10]
    """
    return ord(letter) if letter in _SHOWN else _HIDDEN.get(letter, 0)


_SHOWN = frozenset(map(chr, (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))))
_HIDDEN = {chr(0x100 + place): byte for place, byte in enumerate(b for b in range(256) if chr(b) not in _SHOWN)}
