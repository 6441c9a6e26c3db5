"""Frozen probes that cost more than guessing, one by one: a single one of them can outweigh the mean it is in.

An LSTM's memory is not bounded: with learning off it can begin to count up and never come back, and then costs hundreds
of bits a character. The means stay true, and this table says where they come from.
"""

from collections.abc import Sequence

from sharpstream.evaluate.bits import PAPER_CAP
from sharpstream.evaluate.rows import Row
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import arm_style, tokens_label

GUESSING = PAPER_CAP  # log2 27: a character guessed


def runaway_table(rows: Sequence[Row], title: str) -> str:
    """Learner, text, bits and where in the probe it happened; nothing when every probe is better than guessing."""
    lines = []
    for row in rows:
        direction = row["metric"].removesuffix("_bits")
        if direction in DIRECTIONS and row["value"] > GUESSING:
            capped, parts = _capped(rows, row, direction), _parts(rows, row, direction)
            text = f"segment from {tokens_label(row['segment'])}"
            lines.append((arm_style(row["arm"]).label, text, direction, f"{row['value']:.3f}", capped, _where(parts)))
    if not lines:
        return ""
    columns = (
        "learner",
        "text",
        "probe",
        "true bits",
        "capped",
        "twentieths of the probe that are worse than guessing",
    )
    note = (
        f"Guessing costs {GUESSING:.3f} bits a character. A mean with one of these in it "
        "says that the learner broke down with learning off, not how well it predicts elsewhere."
    )
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note))


def _same(row: Row, other: Row, metric: str) -> bool:
    return bool(row["metric"] == metric and all(row[name] == other[name] for name in ("arm", "segment", "seed")))


def _capped(rows: Sequence[Row], of: Row, direction: str) -> str | None:
    return next((f"{row['value']:.3f}" for row in rows if _same(row, of, f"{direction}_bits_clipped")), None)


def _parts(rows: Sequence[Row], of: Row, direction: str) -> list[float]:
    found = {row["place"]: row["value"] for row in rows if _same(row, of, f"{direction}_part")}
    return [found[place] for place in sorted(found)]


def _where(parts: Sequence[float]) -> str | None:
    """
    >>> _where([2.0, 9.0, 2.0, 9.0, 9.0])
    '3 of 5: 2, 4, 5; the others 2.000 bits'
    """
    worse = [number for number, bits in enumerate(parts, 1) if bits > GUESSING]
    if not worse:
        return None
    others = [bits for bits in parts if bits <= GUESSING]
    rest = f"; the others {sum(others) / len(others):.3f} bits" if others else ""
    return f"{len(worse)} of {len(parts)}: {_ranges(worse)}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """
    >>> _ranges([1, 3, 4, 5, 6, 9, 10])
    '1, 3 to 6, 9, 10'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
