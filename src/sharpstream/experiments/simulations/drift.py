"""drift: how much the states of a fixed probe sequence move while a context block learns, with and without its gate."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig
from sharpstream.evaluate.drift import mean_distance
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.recipes import drift as recipe
from sharpstream.experiments.recipes import no_gate
from sharpstream.experiments.simulations.common import by_seed, draw_quartiles, median_of, near_rows, select, token_axis
from sharpstream.learners.sharp import Sharp
from sharpstream.report.style import new_figure, styled
from sharpstream.streams import open_stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERY, PROBE = 1_000, 1_000
SIZES: dict[str, dict[str, int]] = {
    "quick": {"repetitions": 2, "tokens": 20_000},
    "laptop": {"repetitions": 10, "tokens": 200_000},
    "paper": {"repetitions": 10, "tokens": 200_000},
}
ARMS = {"gated": ("gated at τ = 1e-3", "#D55E00"), "ungated": ("every step learns", "#0072B2")}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Both arms share data and initialisation in each repetition."""
    size = SIZES[scale]
    return [
        Job(f"{arm}-{seed}", {"arm": arm, "seed": seed, "tokens": size["tokens"]})
        for seed in range(size["repetitions"])
        for arm in ARMS
    ]


def runs(job: Job) -> list[RunConfig]:
    """What a job learns, as a run; its data has a seed of its own."""
    s, base = job.settings, recipe()
    sharp = base.sharp if s["arm"] == "gated" else no_gate(base.sharp)
    return [base.replace(sharp=sharp, seed=s["seed"], tokens=s["tokens"])]


def scored(job: Job) -> int:
    """Tokens of the probe over a whole job; walking through them costs no more than scoring them."""
    return int((job.settings["tokens"] // EVERY + 1) * PROBE)


def work(job: Job, directory: Path) -> list[Cells]:
    """Mean L2 distance between the probe's states now and 1000 steps ago, along the stream."""
    s, (config,) = job.settings, runs(job)
    learner = Sharp(config.sharp, 7, seed=s["seed"])
    stream = open_stream(config.stream, seed=1_000 + s["seed"])
    probe = open_stream(config.stream, seed=2_000 + s["seed"]).take(PROBE)
    fresh = Sharp(recipe().sharp, 7, seed=s["seed"])  # the probe always starts from an empty memory
    before, rows = _states(learner, fresh, probe), []
    for step in range(EVERY, s["tokens"] + 1, EVERY):
        learner.learn(stream.take(EVERY))
        now = _states(learner, fresh, probe)
        updates = int(learner.mind.updates[0])
        rows.append(
            {
                "arm": s["arm"],
                "seed": s["seed"],
                "tokens": step,
                "drift": mean_distance(before, now),
                "updates": updates,
            }
        )
        before = now
    return rows


def _states(learner: Sharp, fresh: Sharp, probe: Any) -> Any:
    """h¹ along the probe from an empty memory, with the learner's present weights."""
    fresh.model.p[:] = learner.model.p
    return fresh.hidden_states(probe)


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Drift against tokens, both arms, on a logarithmic scale with an honest zero."""
    drawing = new_figure(7.5, 4.4)
    axes = drawing.subplots()
    for arm, (label, colour) in ARMS.items():
        draw_quartiles(axes, select(rows, arm=arm), "tokens", "drift", colour=colour, label=label)
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.set(
        title="How far the memory of a fixed sequence moves in 1000 steps",
        ylabel="mean L2 distance of its states (0 below the lowest tick)",
    )
    token_axis(axes)
    axes.legend(title="median and interquartile range")
    return drawing


def span(rows: Sequence[Row], arm: str, low: float, high: float) -> list[Row]:
    """The rows of an arm over a span of the stream."""
    return [row for row in select(rows, arm=arm) if low < row["tokens"] <= high]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published start and end of both curves, and the claim that the gate stops the drift."""
    last = max(row["tokens"] for row in rows)
    free, held = (span(rows, arm, 0.9 * last, last) for arm in ("ungated", "gated"))
    found = [
        near_rows(claim, published, part, "drift", close=close)
        for claim, published, part, close in (
            ("without the gate, first 1000 steps", 0.55, span(rows, "ungated", 0, EVERY), 0.15),
            ("without the gate, at the end", 0.116, free, 0.05),
            ("with the gate, first 1000 steps", 0.59, span(rows, "gated", 0, EVERY), 0.15),
            ("with the gate, steps 4000 to 5000", 0.02, span(rows, "gated", 4 * EVERY, 5 * EVERY), 0.05),
            ("with the gate, at the end", 0.0, held, 0.005),
        )
    ]
    shown = " against ".join(f"{median_of(row['drift'] for row in part):.4f}" for part in (held, free))
    allowed = {seed: 0.1 * drift for seed, drift in by_seed(free, "drift").items()}
    tenth = difference_where_both(by_seed(held, "drift"), allowed)
    return [*found, judged("the gate stops the drift", "0 after the loss settles", shown, [tenth], Claim("below"))]


EXPERIMENT = Experiment(
    name="drift",
    title="representational drift with and without the gate",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=runs,
    scored=scored,
)
