"""episodic-slow: does a slow level pay, averages of what was read that scale and shift the network's hidden layer?

Books and logs in alternation, piece by piece, so that phases come back, and text8 as it is; against the learner without
it, and against a wider network of about the same time. Bits by how long ago the last switch was show where it pays.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language.episodic_sleep import letters, size, text8
from sharpstream.experiments.language.episodic_trials import (
    WITHOUT,
    Changes,
    Trial,
    better,
    by_segment,
    draw_gains,
    jobs_of,
    measured,
    rows_of,
    table,
)
from sharpstream.experiments.language.frontier_texts import BYTES, LETTERS, of_bytes
from sharpstream.experiments.language.measure import read
from sharpstream.learners.contract import Tokens
from sharpstream.report.style import BLUE, ORANGE, PURPLE, new_figure, styled
from sharpstream.streams import open_stream
from sharpstream.streams.places import data_directory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MILLION = 1_000_000
ALIKE = 0.001  # bits: a smaller difference is none
BOOKS, BOOK_PIECE = 5, 20_000  # books of a segment, and characters before the next has its turn
LOG_PIECE = 5_000  # bytes
SINCE = (0, 250, 1_000, 4_000)  # symbols since the last switch, from here to the next
SLOW = "slow level"
ARMS: dict[str, Changes] = {
    WITHOUT: {},
    SLOW: {"slow": 5},
    "slow level, two clocks": {"slow": 2},
    "network of 320": {"network": 320},
}


def in_turn(texts: Sequence[Tokens], piece: int, length: int) -> Tokens:
    """A piece of each text, then the next piece of each; whole pieces only, a text that has ended is passed over.

    >>> in_turn([np.array([1, 2, 3, 4]), np.array([7, 8, 9])], 2, 10).tolist()
    [1, 2, 7, 8, 3, 4]
    """
    turns = max(len(text) for text in texts) // piece
    pieces = [text[turn * piece : (turn + 1) * piece] for turn in range(turns) for text in texts]
    return np.concatenate([one for one in pieces if len(one) == piece])[:length]


def books(segment: int, length: int) -> Tokens:
    """Five books of PG-19 in alternation, other five in every segment, each from its beginning."""
    stream = StreamConfig(name="pg19")
    parts = open_stream(stream, seed=0).parts
    chosen = parts[segment * BOOKS : (segment + 1) * BOOKS]
    each = length // BOOKS
    return in_turn([read(stream, (p.start, min(p.start + each, p.end))) for p in chosen], BOOK_PIECE, length)


def logs(segment: int, length: int) -> Tokens:
    """The system logs of Loghub in alternation: the first third of each, the second, the last."""
    path = (data_directory() or Path()) / "loghub.zip"
    if not path.is_file():
        raise DataError("there is no loghub.zip in SHARP_DATA; put the 2,000-line logs of Loghub there, zipped")
    with zipfile.ZipFile(path) as archive:
        whole = [of_bytes(archive.read(name)) for name in sorted(archive.namelist()) if name.endswith("_2k.log")]
    thirds = [text[segment * (len(text) // 3) : (segment + 1) * (len(text) // 3)] for text in whole]
    return in_turn(thirds, LOG_PIECE, length)


TRIALS = {
    "books": Trial("five books of PG-19 in turn", LETTERS, books, ARMS),
    "logs": Trial("eight logs in turn, bytes", BYTES, logs, ARMS),
    "text8": Trial("text8", LETTERS, text8, ARMS),
    "letters": Trial("documentation as letters", LETTERS, letters, ARMS),
}
PIECES = {"books": BOOK_PIECE, "logs": LOG_PIECE}
SCALES: dict[str, dict[str, dict[str, Any]]] = {
    "quick": {"letters": size(4_000, "1MB", 2)},
    "laptop": {
        "books": size(MILLION // 2, "256MB"), "logs": size(400_000, "256MB"), "text8": size(MILLION // 2, "256MB"),
    },
    "paper": {
        "books": size(MILLION, "256MB"), "logs": size(800_000, "256MB"), "text8": size(10 * MILLION, "256MB"),
    },
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """Every arm of every trial."""
    return jobs_of(TRIALS, SCALES[scale])


def since_switch(bits: np.ndarray, piece: int) -> dict[str, float]:
    """Mean bits by how long ago the last switch was; the first eighth, before phases come back, is left out."""
    age = np.arange(len(bits)) % piece
    begun = np.arange(len(bits)) >= len(bits) // 8
    inside = [(low, begun & (age >= low) & (age < high)) for low, high in zip(SINCE, [*SINCE[1:], piece], strict=True)]
    return {f"bits_since_{low}": float(bits[part].mean()) for low, part in inside if part.any()}


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm on one segment."""
    name = job.settings["trial"]
    bits, cost = measured(TRIALS[name], job.settings)
    values = {"bits": float(bits.mean()), "bits_last_half": float(bits[len(bits) // 2 :].mean()), "microseconds": cost}
    if name in PIECES:
        values |= since_switch(bits, PIECES[name])
    return rows_of(job, values, len(bits))


def trials_of(rows: Sequence[Row]) -> list[str]:
    """Those that were run."""
    return [name for name in TRIALS if any(row["trial"] == name for row in rows)]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Against the learner without it, and against a wider network."""
    found = []
    for name in trials_of(rows):
        what = TRIALS[name].what
        found.append(better(rows, name, SLOW, WITHOUT, f"{what}: the slow level pays", ALIKE))
        wide = f"{what}: the slow level pays more than a wider network"
        found.append(better(rows, name, SLOW, "network of 320", wide, ALIKE))
    return found


def page(rows: Sequence[Row]) -> str:
    """A table a trial."""
    note = (
        "Differences are paired by segment, with 95 % intervals. Time is processor time of one thread on a shared "
        "machine; compare it within a table. The slow level averages over 16, 64, 256, 1,024 and 4,096 tokens."
    )
    return "\n\n".join([note, *(table(rows, name, TRIALS[name]) for name in trials_of(rows))])


def _draw_since(axes: "Axes", rows: Sequence[Row], name: str, colour: str) -> None:
    """Bits above without, by symbols since the switch."""
    for segment in by_segment(rows, name, SLOW, "bits_since_0"):
        metrics = [f"bits_since_{low}" for low in SINCE]
        ours, plain = ([by_segment(rows, name, arm, m).get(segment) for m in metrics] for arm in (SLOW, WITHOUT))
        pairs = [
            (x, a - b) for x, (a, b) in enumerate(zip(ours, plain, strict=True)) if a is not None and b is not None
        ]
        axes.plot(*zip(*pairs, strict=True), "o-", color=colour, label=TRIALS[name].what if segment == 0 else None)


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """What the slow level earns, trial by trial, and how long after a switch."""
    names = trials_of(rows)
    drawing = new_figure(10.0, 6.2)
    panels = drawing.subplots(2, 2, squeeze=False).ravel()
    for axes, name in zip(panels, names[:3], strict=False):
        draw_gains(axes, rows, name, TRIALS[name], BLUE)
    for axes in panels[len(names[:3]) : 3]:
        axes.set_axis_off()
    for name, colour in zip(PIECES, (ORANGE, PURPLE), strict=True):
        if by_segment(rows, name, SLOW, "bits_since_0") and by_segment(rows, name, WITHOUT, "bits_since_0"):
            _draw_since(panels[3], rows, name, colour)
    panels[3].axhline(0.0, color="black", linewidth=0.8)
    panels[3].set(xticks=range(len(SINCE)), xticklabels=[f"{low:,}+" for low in SINCE])
    panels[3].set(title="by symbols since the last switch", ylabel="bits above without")
    if panels[3].get_legend_handles_labels()[0]:
        panels[3].legend()
    return drawing


EXPERIMENT = Experiment(
    name="episodic-slow",
    title="does a slow level pay for the episodic learner?",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
    runs=lambda job: [],
)
