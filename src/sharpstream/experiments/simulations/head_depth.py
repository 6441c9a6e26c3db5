"""head-depth: how deep the pattern blocks should be, with both placements of the activation."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig
from sharpstream.experiments.harness import Experiment, Finding, Job, Row
from sharpstream.experiments.recipes import head_depth
from sharpstream.experiments.simulations.common import (
    draw_error_levels,
    draw_quartiles,
    error_curve,
    final_error,
    holds,
    near,
    select,
    token_axis,
)
from sharpstream.experiments.simulations.halfway import table
from sharpstream.report.style import new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPTHS = (1, 2, 3, 4, 5)
PLACEMENTS = ("pre", "between")
EVERY = 10_000  # tokens per point of the curve; the published final error is over the last 1000 predictions
SIZES: dict[str, dict[str, Any]] = {
    "quick": {"repetitions": 1, "tokens": 20_000, "depths": (1, 3)},
    "laptop": {"repetitions": 5, "tokens": 1_000_000, "depths": DEPTHS},
    "paper": {"repetitions": 10, "tokens": 1_000_000, "depths": DEPTHS},
}
TITLES = {"pre": "GELU before every linear but the last (published)", "between": "GELU between the linears"}
PUBLISHED = {1: 0.325, 2: 0.217, 3: 0.215, 4: 0.274, 5: 0.327}
COLOURS = {1: "#56B4E9", 2: "#0072B2", 3: "#D55E00", 4: "#CC79A7", 5: "#000000"}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Repetitions first, so that an unfinished experiment has whole repetitions."""
    size = SIZES[scale]
    placements = ("pre",) if protocol == "paper" else PLACEMENTS
    return [
        Job(
            f"{placement}-depth{depth}-{seed}",
            {"placement": placement, "depth": depth, "seed": seed, "tokens": size["tokens"]},
        )
        for seed in range(size["repetitions"])
        for placement in placements
        for depth in size["depths"]
    ]


def runs(job: Job) -> list[RunConfig]:
    """The one run of a job."""
    s, base = job.settings, head_depth()
    sharp = replace(base.sharp, depth=s["depth"], activation=s["placement"])
    return [base.replace(sharp=sharp, seed=s["seed"], tokens=s["tokens"])]


def work(job: Job, directory: Path) -> list[Row]:
    """One run; its error along the stream."""
    s, (config,) = job.settings, runs(job)
    stamp = {"placement": s["placement"], "depth": s["depth"], "seed": s["seed"]}
    return [{**stamp, **point} for point in error_curve(directory, config, EVERY)]


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Error along the stream for each depth, one panel per placement."""
    placements = [placement for placement in PLACEMENTS if select(rows, placement=placement)]
    drawing = new_figure(6.0 * len(placements), 4.4)
    panels = drawing.subplots(1, len(placements), sharey=True, squeeze=False)[0]
    for axes, placement in zip(panels, placements, strict=True):
        for depth in sorted({row["depth"] for row in rows}):
            part = select(rows, placement=placement, depth=depth)
            draw_quartiles(axes, part, "tokens", "error", colour=COLOURS[depth], label=f"depth {depth}")
        draw_error_levels(axes)
        axes.set(title=TITLES[placement], ylabel="share of wrong guesses")
        token_axis(axes)
        axes.legend()
    drawing.suptitle("How deep a pattern block should be: nonlinear(4), median and interquartile range")
    return drawing


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The five published errors, and which depth is best in each placement."""
    last = max(row["tokens"] for row in rows)
    found = []
    for placement in PLACEMENTS:
        here = select(rows, placement=placement)
        if not here:
            continue
        errors = {
            depth: final_error(select(here, depth=depth), last, EVERY) for depth in sorted({r["depth"] for r in here})
        }
        if placement == "pre":
            found += [near(f"final error at depth {depth}", PUBLISHED[depth], error) for depth, error in errors.items()]
        best = min(errors, key=lambda depth: errors[depth])
        shown = ", ".join(f"{depth}: {error:.3f}" for depth, error in errors.items())
        found.append(holds(f"best depth is 3 ({placement})", "3", f"{best} ({shown})", best == 3))
    return found


def page(rows: Sequence[Row]) -> str:
    """Every repetition."""
    last = max(row["tokens"] for row in rows)
    parts = []
    for placement in PLACEMENTS:
        here = select(rows, placement=placement)
        depths = {f"depth {depth}": select(here, depth=depth) for depth in sorted({row["depth"] for row in here})}
        if depths:
            parts.append(table(TITLES[placement], depths, last, EVERY).strip("\n"))
    return "\n\n".join(parts)


EXPERIMENT = Experiment(
    name="head-depth",
    title="depth of the pattern blocks",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=runs,
    page=page,
)
