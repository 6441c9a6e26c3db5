"""What is said of a line: a row of JSON for programs, a line of text with the surprising part marked for people."""

import json
from collections.abc import Mapping
from typing import Any

RED, DIM, PLAIN = "\x1b[31;1m", "\x1b[2m", "\x1b[0m"
Row = Mapping[str, Any]


def as_json(row: Row) -> str:
    """One line of JSON."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def as_text(row: Row, *, colour: bool) -> str:
    """One line for a person, and for an alert a second one that says why.

    >>> row = {"time": "2031-03-04T09:14:05", "time_from": "arrival", "source": "/var/log/app.log",
    ...        "line": 7, "score": 9.25, "tail": 0.002, "alert": True, "count": 1, "group": "3fa9c1d2", "span": [0, 5],
    ...        "expected": "INFO", "got": "FATAL", "text": "FATAL disk gone"}
    >>> print(as_text(row, colour=False), end="")
    ! 2031-03-04T09:14:05 app.log:7   9.2  FATAL disk gone
      └ 1 line in 500 is this unusual · expected INFO, got FATAL · group 3fa9c1d2
    """
    if "symbol" in row:
        return f"{row['line']:>7} {row['symbol']:<5} {row['bits']:7.3f} bits\n"
    mark, text, (start, end) = ("!" if row["alert"] else " "), row["text"], row["span"]
    before, span, after = _clean(text[:start]), _clean(text[start:end]), _clean(text[end:])
    when = "" if row["time_from"] == "line" else row["time"] + " "  # else it stands in the text already
    where = _clean(f"{when}{row['source'].rpartition('/')[2]}:{row['line']}")
    if colour:
        where, span = f"{DIM}{where}{PLAIN}", f"{RED}{span}{PLAIN}" if row["alert"] and span else span
    head = f"{mark} {where} {row['score']:5.1f}  {before}{span}{after}\n"
    return head + (f"  └ {_why(row)}\n" if row["alert"] else "")


def _why(row: Row) -> str:
    parts = [f"1 line in {1 / row['tail']:,.0f} is this unusual"]
    if row["expected"]:
        parts.append(f"expected {_clean(row['expected'])}, got {_clean(row['got'])}")
    parts.append(f"group {row['group']}" + (f", {row['count']:,} so far" if row["count"] > 1 else ""))
    return " · ".join(parts)


def _clean(text: str) -> str:
    """Control characters of a log must not reach the terminal."""
    return "".join(char if char.isprintable() or char == "\t" else f"\\x{ord(char):02x}" for char in text)
