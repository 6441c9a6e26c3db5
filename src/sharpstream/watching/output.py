"""Rows of JSON to standard output, each gone before the next is learned; and a reader that leaves or does not read.

When the reader has closed the pipe, or a stop arrives while it lets us wait, the rest is swallowed and `gone` is true:
the watch loop then saves and ends. Everything a person should know goes to standard error through `say`.
"""

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO


class Unread(Exception):
    """A stop was asked for while the reader of our output let us wait; raised by the signal handler."""


class Rows:
    """Writes rows while there is somebody to read them."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.gone = False  # nobody reads any more
        self.problem = ""  # why, if not because the reader went away
        self.writing = False  # inside a write that may wait for its reader

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write and flush; the first broken pipe ends all writing."""
        if self.gone or not rows:
            return
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        try:
            self.writing = True
            self.out.write(text.encode())
            self.out.flush()
        except (BrokenPipeError, Unread):
            self.gone = True
        except OSError as problem:
            self.gone, self.problem = True, problem.strerror or str(problem)
        finally:
            self.writing = False


def say(text: str) -> None:
    """One line for the person, on standard error; a closed standard error is no reason to stop."""
    with contextlib.suppress(OSError, AttributeError):
        print(f"sharp watch: {text}", file=sys.stderr, flush=True)
