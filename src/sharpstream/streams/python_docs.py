"""English that every Python brings along: the language reference behind `help()`, as letters, without a download.

A few hundred thousand characters; they differ from one Python version to the next, and the identity says so.
"""

import hashlib
from functools import cache

from sharpstream.errors import DataError
from sharpstream.streams.arrays import ArrayStream
from sharpstream.streams.text import Encoder, TokenBytes, symbols_of

NAME = "python-docs"


def help_topics() -> bytes:
    """All topics in the order of their names, as they are."""
    try:
        from pydoc_data.topics import topics
    except ImportError as problem:
        raise DataError("this Python came without its help topics (pydoc_data); choose another stream") from problem
    return "\n".join(topics[name] for name in sorted(topics)).encode()


@cache
def documentation() -> TokenBytes:
    """The topics as letters."""
    return Encoder("letters").encode(help_topics())


def open_python_docs(start: int = 0, end: int | None = None) -> ArrayStream:
    """The help topics as a stream.

    >>> open_python_docs(end=1000).length
    1000
    """
    tokens = documentation()
    sha256 = hashlib.sha256(tokens.tobytes()).hexdigest()
    return ArrayStream(tokens, name=NAME, symbols=symbols_of("letters"), sha256=sha256, start=start, end=end)
