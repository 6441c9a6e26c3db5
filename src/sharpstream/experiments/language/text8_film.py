"""text8-film: does a level still hear the one above? How much of its FiLM is stuck at ±1 as learning goes on.

Ours, not the paper's: it asks why live upper levels are worth hardly more than dead ones in `text8-sleep`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.evaluate.atomic import write_whole
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.saturation import film_saturation
from sharpstream.experiments.harness import Experiment, Finding, Job, Row
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.arms import BETWEEN, SIZES, run_of
from sharpstream.experiments.language.measure import Span, measured, read
from sharpstream.experiments.language.segments import MILLION
from sharpstream.frozen import opened
from sharpstream.learners.sharp import Sharp
from sharpstream.loop import run
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import BLUE, GREEN, PURPLE, VERMILLION, arm_style, new_figure, styled, tokens_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = ("sharp", BETWEEN)
KEPT = "saturation.json"  # mark → share per level: what was looked at before a stop is not lost
MARKS = (10_000, 30_000, 100_000, 300_000, MILLION, 3 * MILLION, 10 * MILLION)
COLOURS = (PURPLE, VERMILLION, BLUE, GREEN)
MOSTLY = 0.5  # a level that has more of its FiLM stuck than this hears little


@dataclass(frozen=True)
class Scale:
    """Which parts of which text, where it is looked at, and over how many characters."""

    stream: str
    size: str
    parts: tuple[Span, ...]
    look: int
    log_every: int

    def marks(self, part: int) -> list[int]:
        """After how many tokens, within this part."""
        start, end = self.parts[part]
        return [mark for mark in MARKS if mark < end - start] + [end - start]


SCALES = {
    "quick": Scale("python-docs", "tiny", ((0, 12_000),), 50, 2_000),
    "laptop": Scale("text8", "128", ((0, 3 * MILLION), (10 * MILLION, 13 * MILLION)), 1_000, 50_000),
    "paper": Scale("text8", "512", ((0, 10 * MILLION),), 1_000, 100_000),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """One run for each arm and part."""
    return [
        Job(f"part{part}-{arm}", {"scale": scale, "protocol": protocol, "arm": arm, "part": part})
        for part in range(len(SCALES[scale].parts))
        for arm in ARMS
    ]


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job, to its end."""
    scale, part = SCALES[settings["scale"]], settings["part"]
    start, end = scale.parts[part]
    return run_of(settings["arm"], SIZES[scale.size], settings["protocol"]).replace(
        stream=StreamConfig(name=scale.stream, start=start, end=end),
        tokens=end - start,
        seed=part,
        log_every=scale.log_every,
    )


def work(job: Job, directory: Path) -> list[Row]:
    """Learn up to each mark and look; then the rows of the whole run."""
    settings, config = job.settings, config_of(job.settings)
    scale = SCALES[settings["scale"]]
    seen = _kept(directory / KEPT)
    for mark in scale.marks(settings["part"]):
        if str(mark) not in seen:
            run(directory, config.replace(tokens=mark))
            seen[str(mark)] = _look(directory, config, mark, scale.look)
            write_whole(directory / KEPT, json.dumps(seen))
    rows = measured(directory, config, settings["arm"], protocol_named(settings["protocol"]), {})
    stamp = {**rows[0], "metric": "stuck"}
    return rows + [
        {**stamp, "tokens": int(mark), "place": level, "value": share}
        for mark, shares in seen.items()
        for level, share in enumerate(shares, 1)
    ]


def _kept(path: Path) -> dict[str, list[float]]:
    try:
        kept: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept


def _look(directory: Path, config: RunConfig, mark: int, length: int) -> list[float]:
    """A copy of the learner goes on for a little; the run itself does not."""
    learner = opened(directory).learner
    assert isinstance(learner, Sharp)
    start = config.stream.start + mark
    return film_saturation(learner, read(config.stream, (start, start + length)))


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
    runs=lambda job: [config_of(job.settings)],
    page=page,
)
