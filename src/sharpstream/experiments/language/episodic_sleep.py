"""episodic-sleep: does sleep pay for the episodic learner, as replay of stored inputs or as house-keeping of its slots?

Replay: mixers and network learn from stored inputs once more, one for every four tokens, against as many second looks
at the present token, awake. House-keeping: other rules of who gives way where memory is scarce. Paired by segment.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language.episodic_trials import (
    WHOLE,
    WITHOUT,
    Changes,
    Trial,
    better,
    draw_gains,
    jobs_of,
    measured,
    rows_of,
    table,
)
from sharpstream.experiments.language.frontier_texts import BYTES, LETTERS, of_bytes
from sharpstream.experiments.language.measure import read
from sharpstream.learners.contract import Tokens
from sharpstream.report.style import BLUE, GREEN, new_figure, styled
from sharpstream.streams.python_docs import help_topics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MILLION = 1_000_000
STEP = 10 * MILLION  # characters of text8 between two segments
ALIKE = 0.001  # bits: a smaller difference is none
SLEEPS: dict[str, Changes] = {
    WITHOUT: {},
    "again": {"replay": "again"},
    "uniform": {"replay": "uniform"},
    "recent": {"replay": "recent"},
    "surprising": {"replay": "surprising"},
    "again, step 0.3": {"replay": "again", "replay_step": 0.3},
    "uniform, step 0.3": {"replay": "uniform", "replay_step": 0.3},
    "uniform, network only": {"replay": "uniform", "replay_into": "network"},
}
SECOND_LOOK = {  # replay → as many second looks at the present token, steps as large
    "uniform": "again", "recent": "again", "surprising": "again", "uniform, step 0.3": "again, step 0.3",
}  # fmt: skip
KEEPINGS: dict[str, Changes] = {
    WITHOUT: {},
    "challenged": {"keeping": "challenged"},
    "said": {"keeping": "said"},
    "thrifty": {"keeping": "thrifty"},
    "aged": {"keeping": "aged"},
    "swept": {"keeping": "swept"},
}
FEWER_KEEPINGS = {arm: KEEPINGS[arm] for arm in (WITHOUT, "thrifty", "aged")}


def text8(segment: int, length: int) -> Tokens:
    """From 0, 10M and 20M on."""
    return read(StreamConfig(name="text8"), (segment * STEP, segment * STEP + length))


def documentation(segment: int, length: int) -> Tokens:
    """Python's help topics as bytes: one piece after the other."""
    return of_bytes(help_topics())[segment * length : (segment + 1) * length]


def letters(segment: int, length: int) -> Tokens:
    """The help topics in 27 letters: for a look without any corpus."""
    return read(StreamConfig(name="python-docs"), (segment * length, (segment + 1) * length))


FAST = replace(WHOLE, network=0)
TRIALS = {
    "replay-text8": Trial("replay, text8", LETTERS, text8, SLEEPS),
    "replay-docs": Trial("replay, documentation as bytes", BYTES, documentation, SLEEPS),
    "keeping-16MB": Trial("house-keeping, text8, 16 MB", LETTERS, text8, KEEPINGS, FAST),
    "keeping-64MB": Trial("house-keeping, text8, 64 MB", LETTERS, text8, FEWER_KEEPINGS, FAST),
    "replay-letters": Trial("replay, documentation as letters", LETTERS, letters, SLEEPS),
    "keeping-letters": Trial("house-keeping, documentation as letters", LETTERS, letters, KEEPINGS, FAST),
}


def size(tokens: int, memory: str, segments: int = 3) -> dict[str, Any]:
    return {"tokens": tokens, "memory": memory, "segments": segments}


SCALES: dict[str, dict[str, dict[str, Any]]] = {
    "quick": {"replay-letters": size(4_000, "1MB", 2), "keeping-letters": size(4_000, "64kB", 2)},
    "laptop": {
        "replay-text8": size(MILLION // 2, "256MB"), "keeping-16MB": size(3 * MILLION, "16MB"),
        "replay-docs": size(155_000, "256MB"), "keeping-64MB": size(3 * MILLION, "64MB"),
    },
    "paper": {
        "replay-text8": size(10 * MILLION, "256MB"), "keeping-16MB": size(10 * MILLION, "16MB"),
        "replay-docs": size(155_000, "256MB"), "keeping-64MB": size(10 * MILLION, "64MB"),
    },
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """Every arm of every trial."""
    return jobs_of(TRIALS, SCALES[scale])


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm on one segment."""
    bits, cost = measured(TRIALS[job.settings["trial"]], job.settings)
    last = float(np.mean(bits[len(bits) // 2 :]))
    return rows_of(job, {"bits": float(bits.mean()), "bits_last_half": last, "microseconds": cost}, len(bits))


def trials_of(rows: Sequence[Row]) -> list[str]:
    """Those that were run."""
    return [name for name in TRIALS if any(row["trial"] == name for row in rows)]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Replay against nothing and against as many second looks awake; each rule against the present one."""
    found = []
    for name in trials_of(rows):
        what = TRIALS[name].what
        for arm in (*SECOND_LOOK, "uniform, network only") * name.startswith("replay"):
            found.append(better(rows, name, arm, WITHOUT, f"{what}: {arm} pays", ALIKE))
        for arm, again in SECOND_LOOK.items() if name.startswith("replay") else ():
            found.append(better(rows, name, arm, again, f"{what}: {arm} pays more than a second look awake", ALIKE))
        for arm in tuple(TRIALS[name].arms)[1:] * name.startswith("keeping"):
            found.append(better(rows, name, arm, WITHOUT, f"{what}: {arm} keeps better than the present rule", ALIKE))
    return found


def page(rows: Sequence[Row]) -> str:
    """A table a trial."""
    note = (
        "Differences are paired by segment, with 95 % intervals. Time is processor time of one thread on a shared "
        "machine; compare it within a table. Tags of a replay (4,096, some 25 MB) lie beside the budget of the memory."
    )
    return "\n\n".join([note, *(table(rows, name, TRIALS[name]) for name in trials_of(rows))])


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """What each arm earns, trial by trial."""
    names = trials_of(rows)
    drawing = new_figure(10.0, 2.9 * ((len(names) + 1) // 2) + 0.4)
    panels = drawing.subplots((len(names) + 1) // 2, 2, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        draw_gains(axes, rows, name, TRIALS[name], BLUE if name.startswith("replay") else GREEN)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    return drawing


EXPERIMENT = Experiment(
    name="episodic-sleep",
    title="does sleep pay for the episodic learner?",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
    runs=lambda job: [],
)
