"""What an old log teaches before the watch begins: its lines are learned and judged, and nothing is said of them."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from sharpstream.errors import StreamError
from sharpstream.watching.lines import Line, LineBuffer
from sharpstream.watching.sources import PIECE
from sharpstream.watching.watch import Watch


def learn_first(watch: Watch, path: Path) -> None:
    """Learn a whole file, plain or .gz, once: a directory that has learned something is left as it is."""
    if watch.totals.lines:
        watch.say(f"{path} is not learned: this directory has learned {watch.totals.lines:,} lines already")
        return
    watch.say(f"learning {path} first")
    with watch.listening():
        for line in lines_of(path, watch.config.line_limit):
            watch.learn(line)
            if watch.stop_signal:
                return
    watch.memory.save()
    watch.say(f"learned {watch.totals.lines:,} lines of {path}")


def lines_of(path: Path, limit: int) -> Iterator[Line]:
    """The lines of a whole file."""
    buffer = LineBuffer(str(path), limit)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while piece := file.read(PIECE):
                buffer.add(piece)
                while line := buffer.next():
                    yield line
                    buffer.take(line)
    except (OSError, EOFError) as problem:
        raise StreamError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}") from problem
    if rest := buffer.rest():
        yield rest
