"""Result rows on disk: one CSV line per row, regime included, safe against crashes and against two writers.

`write_rows` replaces a file as a whole; `append_rows` adds lines under a lock and mends a line torn by a crash;
`read_rows` gives the same rows back, floats exact. Experiments write, the report reads.
"""

import csv
import fcntl
import io
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from sharpstream.errors import ConfigError
from sharpstream.evaluate.atomic import write_whole
from sharpstream.evaluate.rows import Regime, ResultRow

ROW_FIELDS = tuple(field.name for field in fields(ResultRow) if field.name != "regime")
REGIME_FIELDS = tuple(field.name for field in fields(Regime))
HEADER = (*ROW_FIELDS, *REGIME_FIELDS)


def write_rows(path: Path, rows: Sequence[ResultRow]) -> None:
    """Write all rows, or leave the file as it was."""
    write_whole(path, _lines([HEADER, *map(_cells, rows)]))


def append_rows(path: Path, rows: Sequence[ResultRow]) -> None:
    """Add rows at the end; several processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # let go when the file closes
        file.seek(0)
        present = file.read()
        whole = present[: present.rfind(b"\n") + 1]  # a crash may have left half a line
        if whole:
            _check_header(path, whole.split(b"\n", 1)[0].decode("utf-8"))
        if len(whole) < len(present):
            file.truncate(len(whole))
        file.write(_lines([*([] if whole else [HEADER]), *map(_cells, rows)]).encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())


def read_rows(path: Path) -> list[ResultRow]:
    """Every whole row of the file; half a line at its end, left by a crash, is passed over."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as problem:
        raise ConfigError(f"cannot read the results {path}: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path} is not a results file: it is not UTF-8 text") from problem
    lines = text[: text.rfind("\n") + 1].splitlines()
    if not lines:
        return []
    _check_header(path, lines[0])
    return [_row(path, number, cells) for number, cells in enumerate(csv.reader(lines[1:]), start=2)]


def _lines(cells: Sequence[Sequence[str]]) -> str:
    """CSV text; no cell holds a line break (ResultRow sees to it), so one line is one row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()


def _cells(row: ResultRow) -> list[str]:
    """A row in the header's order; repr keeps every digit of a float."""
    values = [getattr(row, name) for name in ROW_FIELDS] + [getattr(row.regime, name) for name in REGIME_FIELDS]
    return ["" if value is None else repr(float(value)) if isinstance(value, float) else str(value) for value in values]


def _row(path: Path, number: int, cells: Sequence[str]) -> ResultRow:
    """A row back from its cells."""
    if len(cells) != len(HEADER):
        raise ConfigError(f"{path}, line {number}: {len(cells)} cells where {len(HEADER)} were expected")
    text = dict(zip(HEADER, cells, strict=True))
    try:
        regime = Regime(
            protocol=text["protocol"],
            clip=float(text["clip"]) if text["clip"] else None,
            train_context=_count_or_word(text["train_context"]),
            score_context=_count_or_word(text["score_context"]),
            carry=text["carry"],
            update_interval=int(text["update_interval"]),
            token_budget=int(text["token_budget"]),
            seed=int(text["seed"]),
            hardware=text["hardware"],
            software=text["software"],
            command=text["command"],
        )
        named = {name: text[name] for name in ("experiment", "arm", "stream", "metric")}
        return ResultRow(value=float(text["value"]), regime=regime, **named)
    except ValueError as problem:
        raise ConfigError(f"{path}, line {number}: {problem}") from problem


def _count_or_word(text: str) -> int | str:
    """A context is a number of tokens or a word such as `carried`."""
    return int(text) if text.isdecimal() else text


def _check_header(path: Path, line: str) -> None:
    """Refuse a file whose columns are not ours, before anything is written to it."""
    if tuple(next(csv.reader([line]), [])) != HEADER:
        raise ConfigError(f"{path} has other columns than result rows have; expected: {', '.join(HEADER)}")
