"""Rows to standard output, each gone before the next is learned; and a reader that leaves or does not read.

When the reader has closed the pipe, or does not read although we were told to stop, the rest is swallowed and `gone` is
true: the watch loop then saves and ends. What a person should know goes to standard error through `say`.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import BinaryIO

from sharpstream.watching.rows import Row, as_json, as_text
from sharpstream.watching.settings import WatchConfig


class Unread(Exception):
    """A stop was asked for, but the reader of our output lets us wait; raised by a signal handler."""


class Rows:
    """Writes rows while there is somebody to read them."""

    def __init__(self, out: BinaryIO, form: Callable[[Row], str] = as_json) -> None:
        self.out, self.form = out, form
        self.gone = False  # nobody reads any more
        self.problem = ""  # why, if not because the reader went away
        self.writing = False  # inside a write that may wait for its reader

    def write(self, rows: list[Row]) -> None:
        """Write and flush; the first broken pipe ends all writing."""
        if self.gone or not rows:
            return
        text = "".join(map(self.form, rows))
        try:
            self.writing = True
            self._send(text.encode())
            self.writing = False  # inside, so that no `Unread` can come once the block is left
        except Unread:
            self.writing, self.gone = False, True

    def _send(self, data: bytes) -> None:
        try:
            self.out.write(data)
            self.out.flush()
        except BrokenPipeError:
            self.gone = True
        except OSError as problem:
            self.gone, self.problem = True, problem.strerror or str(problem)


def standard_output(config: WatchConfig) -> Rows:
    """Standard output, in the format asked for: text on a terminal and JSON elsewhere if it is `auto`."""
    terminal = sys.stdout.isatty()
    if config.format == "json" or (config.format == "auto" and not terminal):
        return Rows(sys.stdout.buffer)
    return Rows(sys.stdout.buffer, lambda row: as_text(row, colour=terminal))


def say(text: str) -> None:
    """One line for the person, on standard error; a closed standard error is no reason to stop."""
    with contextlib.suppress(OSError, AttributeError):
        print(f"sharp watch: {text}", file=sys.stderr, flush=True)
