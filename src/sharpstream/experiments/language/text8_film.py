"""text8-film: does a level still hear the one above? How much of its FiLM is stuck at ±1 as learning goes on.

Ours, not the paper's: it asks why live upper levels are worth hardly more than dead ones in `text8-sleep`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sharpstream.config import RunConfig
from sharpstream.evaluate.atomic import write_whole
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.saturation import film_saturation
from sharpstream.experiments.harness import Experiment, Finding, Job, Row
from sharpstream.experiments.language import pictures, tables, variants
from sharpstream.experiments.language.arms import BETWEEN
from sharpstream.experiments.language.measure import measured, read
from sharpstream.experiments.language.segments import MILLION
from sharpstream.experiments.language.variants import SCALES
from sharpstream.frozen import opened
from sharpstream.learners.sharp import Sharp
from sharpstream.loop import run
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import BLUE, GREEN, PURPLE, VERMILLION, arm_style, new_figure, styled, tokens_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = ("sharp", BETWEEN)
KEPT = "saturation.json"  # mark → share per level: what was looked at before a stop is not lost
MARKS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, MILLION, 3 * MILLION, 10 * MILLION)
LOOK = 1_000  # characters of each look
COLOURS = (PURPLE, VERMILLION, BLUE, GREEN)
MOSTLY = 0.5  # a level that has more of its FiLM stuck than this hears little


def jobs(scale: str, protocol: str) -> list[Job]:
    """One run for each arm, on each part of the ablations' text."""
    return [
        Job(f"part{part}-{arm}", {"scale": scale, "protocol": protocol, "arm": arm, "part": part})
        for part in range(len(SCALES[scale].parts))
        for arm in ARMS
    ]


def config_of(job: Job) -> RunConfig:
    """The run of a job, to its end: that of the ablations with nothing taken away."""
    arm = job.settings["arm"]
    return variants.config_of(job, {arm: lambda sharp: sharp}, of=arm)


def marks_of(config: RunConfig) -> list[int]:
    """After how many tokens it is looked at; the last time at the end."""
    return [mark for mark in MARKS if mark < config.tokens] + [config.tokens]


def work(job: Job, directory: Path) -> list[Row]:
    """Learn up to each mark and look; then the rows of the whole run."""
    config, seen = config_of(job), _kept(directory / KEPT)
    for mark in marks_of(config):
        if str(mark) not in seen:
            run(directory, config.replace(tokens=mark))
            seen[str(mark)] = _look(directory, config, mark)
            write_whole(directory / KEPT, json.dumps(seen))
    rows = measured(directory, config, job.settings["arm"], protocol_named(job.settings["protocol"]), {})
    stamp = {**rows[0], "metric": "stuck"}
    return rows + [
        {**stamp, "tokens": int(mark), "place": level, "value": share}
        for mark, shares in seen.items()
        for level, share in enumerate(shares, 1)
    ]


def _kept(path: Path) -> dict[str, list[float]]:
    """What earlier looks found; nothing when it cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _look(directory: Path, config: RunConfig, mark: int) -> list[float]:
    """A copy of the learner goes on for a little; the run itself does not."""
    learner = opened(directory).learner
    assert isinstance(learner, Sharp)
    start = config.stream.start + mark
    return film_saturation(learner, read(config.stream, (start, start + LOOK)))


def shares(rows: Sequence[Row], arm: str, level: int) -> pictures.Curve:
    """The share that is stuck after so many tokens, the mean over parts."""
    return pictures.mean_curve([row for row in rows if row["place"] == level], arm, "stuck")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Nobody published this; the claim is what the hierarchy is for."""
    return [_hears(rows, arm) for arm in ARMS]


def _hears(rows: Sequence[Row], arm: str) -> Finding:
    marks, found = shares(rows, arm, 1)
    claim = f"{arm_style(arm).label}: level 1 hears the levels above"
    if not found:
        return Finding(claim, "-", "-", "not run")
    ours = f"{found[-1]:.0%} of its FiLM is stuck after {tokens_label(marks[-1])}"
    return Finding(claim, "-", ours, "holds" if found[-1] < MOSTLY else "does not hold")


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """One panel an arm, one line a level."""
    drawn = new_figure(8.0, 3.6)
    arms = [arm for arm in ARMS if shares(rows, arm, 1)[0]]
    for axes, arm in zip(drawn.subplots(1, len(arms), sharey=True, squeeze=False)[0], arms, strict=True):
        for level in _levels(rows):
            axes.plot(
                *shares(rows, arm, level), marker="os^D"[level % 4], color=COLOURS[level % 4], label=f"level {level}"
            )
        axes.set(title=arm_style(arm).label, xscale="log", xlabel="characters learned", ylim=(-0.03, 1.03))
        axes.xaxis.set_major_formatter(tokens_label)
    drawn.axes[0].set_ylabel("share of FiLM stuck at ±1")
    drawn.axes[0].legend(title="what it is told from above", loc="upper left")
    return drawn


def _levels(rows: Sequence[Row]) -> list[int]:
    return sorted({row["place"] for row in rows if row["metric"] == "stuck"})


def page(rows: Sequence[Row]) -> str:
    """Every share at every mark."""
    marks = sorted({row["tokens"] for row in rows if row["metric"] == "stuck"})
    lines = [_line(rows, arm, level, marks) for arm in tables.arms_of(rows) for level in _levels(rows)]
    note = "Gains and shifts with |tanh| ≥ 0.9999, the mean over parts of the text; they have no slope to learn by."
    columns = ("arm", "level", *(f"after {tokens_label(mark)}" for mark in marks))
    return markdown(Grid(title="Share of FiLM stuck at ±1", columns=columns, rows=tuple(lines), note=note))


def _line(rows: Sequence[Row], arm: str, level: int, marks: Sequence[int]) -> tuple[Cell, ...]:
    found = dict(zip(*shares(rows, arm, level), strict=True))
    return (arm_style(arm).label, level, *(f"{found[mark]:.1%}" if mark in found else "-" for mark in marks))


EXPERIMENT = Experiment(
    name="text8-film",
    title="whether a level still hears the one above",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [config_of(job)],
    page=page,
)
