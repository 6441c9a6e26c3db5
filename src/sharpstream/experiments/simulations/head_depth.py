"""head-depth: how deep the pattern blocks should be: the paper's, and `film-normed` with both places of its GELU."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig, SharpConfig
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.recipes import film_normed, gelu_between, head_depth
from sharpstream.experiments.regimes import under
from sharpstream.experiments.simulations.common import (
    ALIKE,
    draw_error_levels,
    draw_quartiles,
    error_curve,
    final_errors,
    median_of,
    near,
    select,
    token_axis,
)
from sharpstream.experiments.simulations.halfway import table
from sharpstream.report.style import new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPTHS = (1, 2, 3, 4, 5)
PAPERS = "film"
BLOCKS: dict[str, Callable[[SharpConfig], SharpConfig]] = {
    PAPERS: lambda sharp: sharp,
    "film-normed": film_normed,
    "film-normed-between": lambda sharp: gelu_between(film_normed(sharp)),
}
EVERY = 10_000  # tokens per point of the curve; the published final error is over the last 1000 predictions
SIZES: dict[str, dict[str, Any]] = {
    "quick": {"repetitions": 1, "tokens": 20_000, "depths": (1, 3)},
    "laptop": {"repetitions": 5, "tokens": 1_000_000, "depths": DEPTHS},
    "paper": {"repetitions": 10, "tokens": 1_000_000, "depths": DEPTHS},
}
TITLES = {
    PAPERS: "The paper's block",
    "film-normed": "film-normed, GELU before all but the last",
    "film-normed-between": "film-normed, GELU between",
}
PUBLISHED = {1: 0.325, 2: 0.217, 3: 0.215, 4: 0.274, 5: 0.327}
COLOURS = {1: "#56B4E9", 2: "#0072B2", 3: "#D55E00", 4: "#CC79A7", 5: "#000000"}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Repetitions first, so that an unfinished experiment has whole repetitions."""
    size = SIZES[scale]
    blocks = (PAPERS,) if protocol == "paper" else tuple(BLOCKS)
    return [
        Job(
            f"{block}-depth{depth}-{seed}",
            {"block": block, "depth": depth, "seed": seed, "tokens": size["tokens"], "protocol": protocol},
        )
        for seed in range(size["repetitions"])
        for block in blocks
        for depth in size["depths"]
    ]


def runs(job: Job) -> list[RunConfig]:
    """The one run of a job."""
    s, base = job.settings, head_depth()
    sharp = BLOCKS[s["block"]](replace(base.sharp, depth=s["depth"]))
    return [under(protocol_named(s["protocol"]), base.replace(sharp=sharp, seed=s["seed"], tokens=s["tokens"]))]


def work(job: Job, directory: Path) -> list[Cells]:
    """One run; its error along the stream."""
    s, (config,) = job.settings, runs(job)
    stamp = {"block": s["block"], "depth": s["depth"], "seed": s["seed"]}
    return [{**stamp, **point} for point in error_curve(directory, config, EVERY)]


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Error along the stream for each depth, one panel per block."""
    blocks = [block for block in BLOCKS if select(rows, block=block)]
    drawing = new_figure(5.0 * len(blocks), 4.4)
    panels = drawing.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    for axes, block in zip(panels, blocks, strict=True):
        for depth in sorted({row["depth"] for row in rows}):
            part = select(rows, block=block, depth=depth)
            draw_quartiles(axes, part, "tokens", "error", colour=COLOURS[depth], label=f"depth {depth}")
        draw_error_levels(axes)
        axes.set(title=TITLES[block], ylabel="share of wrong guesses")
        token_axis(axes)
        axes.legend()
    drawing.suptitle("How deep a pattern block should be: nonlinear(4), median and interquartile range")
    return drawing


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The five published errors, and which depth is best in each block."""
    last = max(row["tokens"] for row in rows)
    found = []
    for block in BLOCKS:
        here = select(rows, block=block)
        if not here:
            continue
        errors = {
            depth: final_errors(select(here, depth=depth), last, EVERY) for depth in sorted({r["depth"] for r in here})
        }
        if block == PAPERS:
            found += [near(f"final error at depth {depth}", PUBLISHED[depth], error) for depth, error in errors.items()]
        found.append(_best(block, errors))
    return found


def _best(block: str, errors: Mapping[int, Mapping[int, float]]) -> Finding:
    """Depth 3 against each of the others, paired by seed."""
    medians = {depth: median_of(each.values()) for depth, each in errors.items()}
    shown = ", ".join(f"{depth}: {error:.3f}" for depth, error in medians.items())
    best = min(medians, key=lambda depth: medians[depth])
    others = [difference_where_both(errors.get(3, {}), errors[depth]) for depth in errors if depth != 3]
    claim = f"best depth is 3 ({block})"
    return judged(claim, "3", f"{best} ({shown})", others, Claim("below", ALIKE))


def page(rows: Sequence[Row]) -> str:
    """Every repetition."""
    last = max(row["tokens"] for row in rows)
    parts = []
    for block in BLOCKS:
        here = select(rows, block=block)
        depths = {f"depth {depth}": select(here, depth=depth) for depth in sorted({row["depth"] for row in here})}
        if depths:
            parts.append(table(TITLES[block], depths, last, EVERY).strip("\n"))
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
