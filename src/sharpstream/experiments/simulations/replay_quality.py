"""replay-quality: how soon the states that sleep generates are those that wake passes through."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.evaluate.mmd import gaussian_twin, median_bandwidth, mmd_squared
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.recipes import replay_quality
from sharpstream.experiments.simulations.common import (
    by_seed,
    draw_error_levels,
    draw_quartiles,
    median_of,
    near_rows,
    token_axis,
)
from sharpstream.learners.sharp import Sharp
from sharpstream.report.style import new_figure, styled
from sharpstream.streams import open_stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLLOUTS, STEPS, WAKE = 50, 20, 1_000
SIZES: dict[str, dict[str, int]] = {
    "quick": {"repetitions": 1, "tokens": 20_000, "every": 5_000},
    "laptop": {"repetitions": 10, "tokens": 1_000_000, "every": 10_000},
    "paper": {"repetitions": 10, "tokens": 1_000_000, "every": 1_000},
}
KINDS = {
    "replay": ("replay against wake", "#0072B2"),
    "wake": ("wake against wake", "#009E73"),
    "noise": ("noise against wake", "#E69F00"),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """One job a repetition."""
    size = SIZES[scale]
    return [Job(f"seed-{seed}", {"seed": seed, **size}) for seed in range(size["repetitions"])]


def work(job: Job, directory: Path) -> list[Cells]:
    """Learn, and at every checkpoint compare the last wake states with rollouts, with themselves and with noise."""
    s = job.settings
    base = replay_quality()
    learner = Sharp(base.sharp, 7, seed=s["seed"])
    stream, rng = open_stream(base.stream, seed=1_000 + s["seed"]), np.random.default_rng(s["seed"])
    rows = []
    for step in times(s["tokens"], s["every"]):
        learner.learn(stream.take(step - WAKE - stream.position))
        wake, contexts, wrong = _wake_states(learner, stream.take(WAKE))
        replay = _rollouts(learner, wake, contexts, rng)
        bandwidth = median_bandwidth(wake)  # one for all comparisons at this time
        half = rng.permutation(len(wake))
        found = {
            "replay": mmd_squared(wake, replay, bandwidth=bandwidth),
            "wake": mmd_squared(wake[half[: WAKE // 2]], wake[half[WAKE // 2 :]], bandwidth=bandwidth),
            "noise": mmd_squared(wake, gaussian_twin(wake, rng), bandwidth=bandwidth),
        }
        rows.append({"seed": s["seed"], "tokens": step, "error": wrong, **found})
    return rows


def times(tokens: int, every: int) -> list[int]:
    """When to look: every 1000 steps at first, when replay changes fastest, then at the given interval."""
    return sorted({*range(1_000, min(10_000, tokens) + 1, 1_000), *range(every, tokens + 1, every)})


def _wake_states(learner: Sharp, tokens: Any) -> tuple[Any, Any, float]:
    """Learn from these tokens one at a time: h¹ and c² after each, and the share of wrong guesses."""
    hidden, contexts, wrong = [], [], 0
    for token in tokens:
        learner.observe(int(token))
        wrong += int(not learner.correct[0])
        hidden.append(learner.mind.states[0].copy())
        contexts.append(learner.desk.contexts[1].copy())
    return np.array(hidden), np.array(contexts), wrong / len(tokens)


def _rollouts(learner: Sharp, wake: Any, contexts: Any, rng: np.random.Generator) -> Any:
    """States along streams generated from states of the last wake steps, as sleep generates them, (50·20, H)."""
    chosen = rng.choice(len(wake), ROLLOUTS, replace=False)
    return learner.replayed_states(wake[chosen], contexts[chosen], rng.random((STEPS, ROLLOUTS)))


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Left: the three discrepancies; right: the error of prediction along the same stream."""
    drawing = new_figure(11.0, 4.4)
    left, right = drawing.subplots(1, 2)
    for kind, (label, colour) in KINDS.items():
        draw_quartiles(left, list(rows), "tokens", kind, colour=colour, label=label)
    left.axhline(0.0, color="#404040", linewidth=0.8)
    left.set(title="Distance between distributions of states", ylabel="squared MMD (unbiased)")
    token_axis(left)
    left.legend()
    draw_quartiles(right, list(rows), "tokens", "error", colour="#D55E00", label="SHARP")
    draw_error_levels(right)
    right.set(title="Prediction on the same stream", ylabel="share of wrong guesses")
    token_axis(right)
    drawing.suptitle("Replay becomes like wake as prediction improves: median and interquartile range")
    return drawing


def span(rows: Sequence[Row], low: float, high: float) -> list[Row]:
    """The rows of a span of the stream."""
    return [row for row in rows if low < row["tokens"] <= high]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published errors on the way, and the claim that replay converges to wake."""
    last = max(row["tokens"] for row in rows)
    found = [
        near_rows(f"prediction error at {n // 1000}k", error, span(rows, n - 10_000, n + 10_000), "error")
        for n, error in ((11_000, 0.375), (81_000, 0.316), (241_000, 0.248), (401_000, 0.2155))
    ]
    start, end = span(rows, 0, 1_000), span(rows, 0.9 * last, last)
    found.append(near_rows("replay MMD at the start", 0.017, start, "replay", close=0.01))
    found.append(near_rows("noise MMD", 0.015, end, "noise", close=0.01))
    shown = ", ".join(f"{kind} {median_of(row[kind] for row in end):.4f}" for kind in KINDS)
    quarter = {seed: 0.25 * distance for seed, distance in by_seed(end, "noise").items()}
    below = [difference_where_both(by_seed(end, "replay"), other) for other in (quarter, by_seed(start, "replay"))]
    published = "≈ 0 at the end, far below noise"
    return [*found, judged("replay converges to wake", published, shown, below, Claim("below"))]


EXPERIMENT = Experiment(
    name="replay-quality",
    title="replayed states against wake states",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
)
