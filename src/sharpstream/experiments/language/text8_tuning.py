"""text8-tuning: the same small grid of steps and β2 for every neural learner, on text that is reported nowhere else.

Characters 50M to 51M of text8. The choice goes into `recipes.TEXT8_STEPS` by hand, with these numbers beside it: the
fewest prequential bits over the last fifth of the slice. The reported runs are twenty times longer, and over the whole
slice a step too large for them wins by its quick start.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sharpstream.config import AdamConfig, RunConfig, StreamConfig
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language.arms import SIZES, run_of
from sharpstream.experiments.language.measure import Span, measured
from sharpstream.experiments.language.segments import MILLION
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import arm_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETA2 = (0.999, 0.99)
GRID = tuple((lr, beta2) for lr in (1e-4, 3e-4, 1e-3) for beta2 in BETA2)
ACROSS = 5  # panels of the picture
GAMMA = "-gamma-"
TAIL = 0.2  # of the slice: where a choice is judged

Point = tuple[float, float]  # step size, β2

LOWER, HIGHER = (3e-5, 0.999), (3e-3, 0.999)
GAMMAS = (0.1, 0.4, 1.0)  # SHARP has one more setting: how much slower each pattern block learns than the one below
WIDER = {
    "film-normed": LOWER,  # its two best, 3e-4 and 1e-4, cannot be told apart, and one of them stands at the edge
    "rnn": LOWER,
    "gru": LOWER,
    "clockwork": LOWER,
    "transformer-small": HIGHER,
    "transformer-10m": (3e-3, 0.99),
}


@dataclass(frozen=True)
class Scale:
    """Which learners on which text."""

    stream: str
    size: str
    span: Span
    log_every: int
    wider: Mapping[str, Point] = field(default_factory=dict)
    """One more step size for a learner whose best stood at the edge of the grid, at the β2 of that best."""


SCALES = {
    "quick": Scale("python-docs", "tiny", (0, 3_000), 1_000),
    "laptop": Scale("text8", "128", (50 * MILLION, 50 * MILLION + MILLION // 2), 50_000, WIDER),
    "paper": Scale("text8", "512", (50 * MILLION, 51 * MILLION), 100_000),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Learner by learner, the wider points last."""
    learners = [arm for arm in SIZES[SCALES[scale].size].neural if arm != "sharp"]
    points = [(arm, *point) for arm in (*map(with_gamma, GAMMAS), *learners) for point in GRID]
    points += [(arm, *point) for arm, point in SCALES[scale].wider.items()]
    return [
        Job(
            f"{arm}-lr{lr:g}-beta{beta2:g}",
            {"scale": scale, "protocol": protocol, "arm": arm, "lr": lr, "beta2": beta2},
        )
        for arm, lr, beta2 in points
    ]


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """One point of the grid."""
    scale = SCALES[settings["scale"]]
    arm, _, gamma = settings["arm"].partition(GAMMA)
    config = run_of(arm, SIZES[scale.size], settings["protocol"])
    if gamma:
        config = config.replace(sharp=replace(config.sharp, gamma=float(gamma)))
    return with_steps(config, settings["lr"], settings["beta2"]).replace(
        stream=StreamConfig(name=scale.stream, start=scale.span[0], end=scale.span[1]),
        tokens=scale.span[1] - scale.span[0],
        log_every=scale.log_every,
    )


def with_gamma(gamma: float) -> str:
    """The name of SHARP's line of the grid at this slow-down."""
    return f"sharp{GAMMA}{gamma:g}"


def with_steps(config: RunConfig, lr: float, beta2: float) -> RunConfig:
    """The run with another Adam, whichever learner it is."""

    def changed(adam: AdamConfig) -> AdamConfig:
        return replace(adam, lr=lr, beta2=beta2)

    return config.replace(
        sharp=replace(config.sharp, adam=changed(config.sharp.adam)),
        recurrent=replace(config.recurrent, adam=changed(config.recurrent.adam)),
        clockwork=replace(config.clockwork, adam=changed(config.clockwork.adam)),
        transformer=replace(config.transformer, adam=changed(config.transformer.adam)),
    )


def work(job: Job, directory: Path) -> list[Cells]:
    """One run; its prequential bits and their curve."""
    s = job.settings
    rows = measured(directory, config_of(s), s["arm"], protocol_named(s["protocol"]), {})
    return [{**row, "lr": s["lr"], "beta2": s["beta2"]} for row in rows]


def grid(rows: Sequence[Row], part: float = TAIL) -> dict[str, dict[Point, float]]:
    """Prequential bits of each learner at each point over the last part of the slice; inf where it diverged."""
    runs: dict[tuple[str, Point], list[Row]] = {}
    for row in rows:
        runs.setdefault((row["arm"], (row["lr"], row["beta2"])), []).append(row)
    found: dict[str, dict[Point, float]] = {}
    for (arm, point), run in runs.items():
        found.setdefault(arm, {})[point] = _end_of(run, part)
    return found


def _end_of(run: Sequence[Row], part: float) -> float:
    """Mean over the intervals of the log (all of one length) that end in the last part."""
    total = next(row for row in run if row["metric"] == "bits")
    if not math.isfinite(total["value"]):
        return math.inf
    return fmean(
        row["value"] for row in run if row["metric"] == "curve" and row["tokens"] > (1 - part) * total["tokens"]
    )


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Bits against the step size, one panel per learner, one line per β2."""
    found = grid(rows)
    columns = min(ACROSS, len(found))
    down = -(-len(found) // columns)
    drawing = new_figure(2.3 * columns + 1.0, 3.0 * down + 0.4)
    panels = drawing.subplots(down, columns, sharex=True, sharey=True, squeeze=False)
    for axes in panels.flat[len(found) :]:
        axes.set_visible(False)
    for axes, (arm, points) in zip(panels.flat, found.items(), strict=False):
        for beta2, line, mark in zip(BETA2, ("-", "--"), ("o", "s"), strict=True):
            at = sorted(lr for lr, beta in points if beta == beta2)
            bits = [points[lr, beta2] for lr in at]
            axes.plot(at, bits, line, marker=mark, color=arm_style(arm).colour, label=f"β2 = {beta2:g}")
        axes.set(title=arm_style(arm).label, xscale="log")
        axes.legend(fontsize=8)
    drawing.supxlabel("step size", fontsize=10)
    drawing.supylabel("bits per character over the last fifth (lower is better)", fontsize=10)
    drawing.suptitle("Every learner's grid of step sizes, on text that is reported nowhere else", fontsize=11)
    return drawing


def findings(rows: Sequence[Row]) -> list[Finding]:
    """What was chosen, beside what the paper used for everyone."""
    found = []
    for arm, points in grid(rows).items():
        lr, beta2 = min(points, key=lambda point: points[point])
        used = recipes.text8_steps(arm.partition(GAMMA)[0])
        ours = f"step {lr:g}, β2 {beta2:g}: {points[lr, beta2]:.4f} bits, best of {len(points)} points"
        verdict = "in the recipe" if (used.lr, used.beta2) == (lr, beta2) else "not in the recipe"
        if lr in (min(points)[0], max(points)[0]):
            verdict += ", at the edge of its grid"
        found.append(Finding(f"best for {arm_style(arm).label}", "step 0.0001, β2 0.999", ours, verdict))
    return found


def page(rows: Sequence[Row]) -> str:
    """The whole grid, as it was judged and over the whole slice."""
    last = "Prequential bits per character over the last fifth of the slice, by which the steps are chosen."
    whole = "What the same runs have over all of it; columns are step size and β2."
    return f"{_table('The grid', rows, TAIL, last)}\n\n{_table('The whole slice', rows, 1.0, whole)}"


def _table(title: str, rows: Sequence[Row], part: float, note: str) -> str:
    found = grid(rows, part)
    columns = sorted({point for points in found.values() for point in points}, key=lambda point: (point[0], -point[1]))
    lines = tuple(
        (arm_style(arm).label, *(_cell(points.get(point)) for point in columns)) for arm, points in found.items()
    )
    names = ("learner", *(f"{lr:g}, β2 {beta2:g}" for lr, beta2 in columns))
    return markdown(Grid(title=title, columns=names, rows=lines, note=note, decimals=4))


def _cell(bits: float | None) -> Cell:
    return "diverged" if bits == math.inf else bits


EXPERIMENT = Experiment(
    name="text8-tuning",
    title="the step sizes of the fair tables, chosen on text that is reported nowhere else",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [config_of(job.settings)],
    page=page,
)
