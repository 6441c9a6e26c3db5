"""A file of the person's own as a stream: regular files whole and seekable, pipes and devices live.

Small files are held in memory; large ones become a token store in the cache, named by their contents, so that a
file that changed is never mistaken for the old one.
"""

import hashlib
import os
from pathlib import Path

import numpy as np

from sharpstream.errors import StreamError
from sharpstream.streams import places
from sharpstream.streams.arrays import ArrayStream
from sharpstream.streams.base import Stream
from sharpstream.streams.live import from_descriptor
from sharpstream.streams.store import Store, has_store, open_store, sha256_of, write_store
from sharpstream.streams.text import Alphabet, encode_file, symbols_of

LARGEST_IN_MEMORY = 64 << 20  # bytes


def open_file(path: Path, alphabet: Alphabet = "letters", *, start: int = 0, end: int | None = None) -> Stream:
    """The file's text as 27 letters, or its bytes."""
    if path.is_dir():
        raise StreamError(f"{path} is a directory; give the path of a file")
    if not path.is_file():
        return from_descriptor(_descriptor(path), alphabet, name=str(path), start=start, end=end)
    symbols = symbols_of(alphabet)
    if path.stat().st_size > LARGEST_IN_MEMORY:
        told = stored_file(path, alphabet)
        tokens, sha256 = told.tokens(), told.description.sha256
    else:
        tokens = np.concatenate([np.empty(0, np.uint8), *encode_file(path, alphabet)])
        sha256 = hashlib.sha256(tokens.tobytes()).hexdigest()
    return ArrayStream(tokens, name=path.name, symbols=symbols, sha256=sha256, start=start, end=end)


def stored_file(path: Path, alphabet: Alphabet) -> Store:
    """The file's token store in the cache, made if there is none for these contents."""
    base = places.cache_directory() / "files" / f"{sha256_of(path)}-{alphabet}"
    if has_store(base):
        return open_store(base)
    return write_store(base, encode_file(path, alphabet), symbols_of(alphabet), details={"source": str(path)})


def _descriptor(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY)
    except OSError as problem:
        raise StreamError(f"cannot open {path}: {problem.strerror or problem}") from problem
