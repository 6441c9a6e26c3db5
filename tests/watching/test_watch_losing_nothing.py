"""Random histories of a log: appended, renamed, copied and truncated, watched, killed. No complete line is ever lost,
and none is reported twice unless it is marked.

The reader here is the real one (files, marks, checkpoint places) with a list for a learner, so that hundreds of
histories take seconds; `test_killed_around_a_rotation` does the same with the real program.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watch_child import Start

from sharpstream.watching.files import Files
from sharpstream.watching.reported import Reported

MISSED = 3  # rotations in a row that nobody watches
STEP = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 5)),
    st.tuples(st.just("half"), st.just(0)),
    st.tuples(st.sampled_from(["rotate", "copytruncate", "save", "kill", "stop"]), st.just(0)),
    st.tuples(st.just("watch"), st.integers(1, 12)),
    st.tuples(st.just("die writing"), st.booleans()),
)


class History:
    """A log, its writer, and a watcher that can be killed at any moment."""

    def __init__(self, directory: Path) -> None:
        self.log, self.directory = directory / "app.log", directory / "watch"
        self.directory.mkdir()
        self.log.touch()
        self.written: list[str] = []  # complete lines, in order
        self.rows: list[tuple[str, bool]] = []  # what came out: the line, and whether it is marked
        self.places: Mapping[str, Any] = {}
        self.half = ""
        self.here: set[str] = set()  # lines of the present file
        self.source: Files | None = None

    # ---- the writer ------------------------------------------------------------------------------------------------

    def append(self, count: int) -> None:
        for _ in range(count):
            line = self.half or f"line {len(self.written)} "
            self._write(line[len(self.half) :] + "\n")
            self.written.append(line)
            self.here.add(line)
            self.half = ""

    def write_half(self) -> None:
        if not self.half:
            self.half = f"line {len(self.written)} "
            self._write(self.half)

    def _write(self, text: str) -> None:
        with self.log.open("a") as file:
            file.write(text)

    def rotate(self) -> None:
        """As logrotate does: app.log.1 becomes app.log.2. A writer completes its line before it turns."""
        if self.half:
            self.append(1)
        self._shift()
        self.log.rename(self.log.with_name("app.log.1"))
        self.log.touch()
        self.here = set()

    def copytruncate(self) -> None:
        """Of a file of which nothing was read nobody can know that a copy is its rest; that is documented."""
        if not self.here & {line for line, _ in self.rows}:
            return
        if self.half:
            self.append(1)
        self._shift()
        shutil.copyfile(self.log, self.log.with_name("app.log.1"))
        os.truncate(self.log, 0)
        self.here = set()

    def _shift(self) -> None:
        for number in range(8, 0, -1):
            old = self.log.with_name(f"app.log.{number}")
            if old.exists():
                old.rename(self.log.with_name(f"app.log.{number + 1}"))

    # ---- the watcher -----------------------------------------------------------------------------------------------

    def watch(self, lines: int, *, die: bool | None = None) -> None:
        """Report so many lines; with `die`, stop dead before (True) or after the row of the last one is written."""
        source = self.source = self.source or self._start()
        for number in range(lines):
            line = source.next(0.0)
            if source.turned:
                self.save()
            if line is None:
                continue
            last = die is not None and number == lines - 1
            if not line.quiet:
                source.reporting(line)
                if not (last and die):
                    self.rows.append((line.data.decode(), line.again))
            if last:
                return self.kill()
            source.taken(line)

    def _start(self) -> Files:
        reported = Reported(self.directory)
        return Files([str(self.log)], lambda text: None, limit=1_000, places=self.places, reported=reported)

    def save(self) -> None:
        if self.source is not None:
            self.places = {name: dict(place) for name, place in self.source.places().items()}
            self.source.saved()

    def kill(self) -> None:
        if self.source is not None:
            self.source.close()
        self.source = None

    def stop(self) -> None:
        self.save()
        self.kill()


@given(st.lists(STEP, max_size=25))
@settings(max_examples=300, deadline=None)
def test_every_line_is_reported_once_or_marked(steps: list[tuple[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        history = History(Path(name))
        history.append(1)
        history.watch(2)
        since = 0  # rotations that the watcher has not seen
        for what, argument in steps:
            if what in ("rotate", "copytruncate") and history.log.stat().st_size and since < MISSED:
                getattr(history, what)()
                since += 1
            elif what == "append":
                history.append(argument)
            elif what == "half":
                history.write_half()
            elif what == "watch":
                history.watch(argument)
            elif what == "die writing":
                history.watch(3, die=argument)
            elif what in ("save", "kill", "stop"):
                getattr(history, what)()
            if what == "watch":
                history.watch(200)
                since = 0
        history.watch(400)
        history.append(1)
        history.watch(400)
        check(history)


def check(history: History) -> None:
    first = [line for line, again in history.rows if not again]
    marked = {line for line, again in history.rows if again}
    assert len(first) == len(set(first)), "a line was reported twice without a mark"
    assert set(first) | marked == set(history.written), "a line was lost, or made up"
    order = list(dict.fromkeys(line for line, _ in history.rows))
    assert order == history.written


def test_a_line_whose_row_was_about_to_be_written_is_marked(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append(5)
    history.watch(2)  # the first look finds the file, the checkpoint follows
    history.watch(2, die=False)
    history.watch(10)
    assert [again for _, again in history.rows].count(True) == 1
    check(history)


def test_a_mark_in_a_file_that_was_written_anew_hides_nothing(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append(6)
    history.watch(4)
    history.kill()
    history.log.write_text("".join(f"other {i} \n" for i in range(20)))
    history.watch(30)
    assert [line for line, _ in history.rows][-20:] == [f"other {i} " for i in range(20)]


@pytest.mark.parametrize("how", ["rename", "copytruncate"])
def test_killed_around_a_rotation(start: Start, tmp_path: Path, how: str) -> None:
    """The real program, killed before its next checkpoint would be due: each line comes once, numbers go on."""
    log, quick = tmp_path / "app.log", ["--learner", "unigram"]
    log.write_text("".join(f"a {i}\n" for i in range(300)))
    child = start("w", str(log), *quick)
    rows = [child.row() for _ in range(300)]
    if how == "rename":
        log.rename(tmp_path / "app.log.1")
    else:
        shutil.copyfile(log, tmp_path / "app.log.1")
        os.truncate(log, 0)
    with log.open("a") as file:
        file.writelines(f"b {i}\n" for i in range(400))
    rows += [child.row() for _ in range(400)]
    rows += child.end(signal.SIGKILL)[1]
    with log.open("a") as file:
        file.write("c\n")
    again = start("w", str(log), *quick)
    while rows[-1]["text"] != "c":
        rows.append(again.row())
    texts = [row["text"] for row in rows if not row.get("again")]
    assert texts == [f"a {i}" for i in range(300)] + [f"b {i}" for i in range(400)] + ["c"]
    assert rows[-1]["line"] == 701
    assert sum(row.get("again", False) for row in rows) == 1
