"""Where tokens come from: synthetic streams, corpora, files and standard input, all behind `open_stream`."""

from sharpstream.streams.base import Stream, Tokens
from sharpstream.streams.opening import open_stream

__all__ = ["Stream", "Tokens", "open_stream"]
