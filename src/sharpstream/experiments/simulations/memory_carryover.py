"""memory-carryover: how far back a context block's state can be read, trained on one regime and tested on another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.probe_linear import read_out_lags
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.recipes import memory_carryover
from sharpstream.experiments.simulations.common import ALIKE, by_seed, draw_quartiles, median_of, near, select
from sharpstream.learners.sharp import Sharp
from sharpstream.report.style import new_figure, styled
from sharpstream.streams import open_stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REGIMES = ("random", "nonlinear", "linear")
CHANCE = 6 / 7
LAGS = (2, 3, 4, 5, 6)  # r: token x_{t−r} read from h_t; r = 0 is the token just taken in
SIZES: dict[str, dict[str, Any]] = {
    "quick": {"windows": (2, 4), "repetitions": 1, "tokens": 3_000, "probe": 1_500},
    "laptop": {"windows": (2, 3, 4, 5, 6), "repetitions": 10, "tokens": 10_000, "probe": 4_000},
    "paper": {"windows": (2, 3, 4, 5, 6), "repetitions": 10, "tokens": 10_000, "probe": 10_000},
}
PUBLISHED = {  # (trained on, tested on, T) → median error at lags 2..6
    ("random", "random", 2): (0, 0.090, 0.622, 0.804, 0.832),
    ("random", "random", 4): (0, 0, 0.052, 0.535, 0.765),
    ("random", "random", 6): (0, 0, 0.002, 0.056, 0.368),
    ("nonlinear", "nonlinear", 2): (0, 0, 0.041, 0.237, 0.459),
    ("nonlinear", "nonlinear", 4): (0, 0, 0, 0.005, 0.134),
    ("nonlinear", "nonlinear", 6): (0, 0, 0, 0.001, 0.039),
    ("random", "nonlinear", 4): (0, 0, 0, 0.020, 0.311),
    ("nonlinear", "random", 4): (0.002, 0.038, 0.133, 0.393, 0.635),
    ("linear", "random", 4): (0.056, 0.296, 0.469, 0.594, 0.688),
    ("linear", "nonlinear", 4): (0.001, 0.013, 0.070, 0.170, 0.315),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """One block per regime, window and repetition; each is tested on all three regimes, trained and untrained."""
    size = SIZES[scale]
    return [
        Job(f"{regime}-T{window}-{seed}", {"regime": regime, "window": window, "seed": seed, "protocol": protocol,
            "tokens": size["tokens"], "probe": size["probe"]})
        for seed in range(size["repetitions"]) for window in size["windows"] for regime in REGIMES
    ]  # fmt: skip


def work(job: Job, directory: Path) -> list[Cells]:
    """Train one block, read its states on every regime; the control is the same block before training."""
    s = job.settings
    base = memory_carryover()
    config = replace(base.sharp, window=s["window"])
    trained, untrained = (Sharp(config, 7, seed=s["seed"]) for _ in range(2))
    trained.learn(open_stream(StreamConfig(name=s["regime"]), seed=1_000 + s["seed"]).take(s["tokens"]))
    rows = []
    for arm, learner in (("trained", trained), ("untrained", untrained)):
        for tested in REGIMES:
            tokens = open_stream(StreamConfig(name=tested), seed=2_000 + s["seed"]).take(s["probe"])
            for read in _read_out(learner.hidden_states(tokens), tokens, s["protocol"]):
                rows.append(
                    {"arm": arm, "trained_on": s["regime"], "tested_on": tested, "window": s["window"],
                     "seed": s["seed"], "tokens": s["tokens"], "lag": read[0], "error": read[1]}
                )  # fmt: skip
    return rows


def _read_out(states: Any, tokens: Any, protocol: str) -> list[tuple[int, float]]:
    """(r, error) of the linear probe; `paper` scores it on the states it was trained on, as published."""
    if protocol == "paper":  # the second half repeats the first, so that training and scoring meet the same states
        states, tokens = np.concatenate([states, states]), np.concatenate([tokens, tokens])
    return [(read.lag, read.error) for read in read_out_lags(states, tokens, LAGS, vocabulary=7)]


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """The 3×3 panel: rows are training regimes, columns test regimes, colours are T."""
    colours = {2: "#56B4E9", 3: "#0072B2", 4: "#D55E00", 5: "#CC79A7", 6: "#000000"}
    drawing = new_figure(10.0, 8.6)
    panels = drawing.subplots(3, 3, sharex=True, sharey=True)
    for i, trained in enumerate(REGIMES):
        for j, tested in enumerate(REGIMES):
            axes = panels[i, j]
            here = select(rows, trained_on=trained, tested_on=tested)
            for window in sorted({row["window"] for row in here}):
                part = select(here, arm="trained", window=window)
                draw_quartiles(axes, part, "lag", "error", colour=colours[window], label=f"T = {window}")
            control = select(here, arm="untrained", window=4) or select(here, arm="untrained")
            draw_quartiles(axes, control, "lag", "error", colour="#7F7F7F", label="untrained (same start)", line=":")
            axes.axhline(CHANCE, color="#404040", linestyle=(0, (4, 2)), linewidth=1.0)
            axes.set_title(f"trained on {trained}, tested on {tested}", fontsize=9.5)
            axes.set(ylim=(-0.03, 0.95), xticks=LAGS)
            if i == j == 0:
                axes.annotate("chance 6/7", (0.02, CHANCE), xycoords=("axes fraction", "data"), va="bottom", fontsize=8)
    for axes in panels[2]:
        axes.set_xlabel("how many tokens back (0 = the last one)")
    for axes in panels[:, 0]:
        axes.set_ylabel("error of a linear read-out")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=6)
    drawing.suptitle("What a context block still knows: median and interquartile range over repetitions")
    return drawing


def errors(
    rows: Sequence[Row], trained: str, tested: str, window: int, lags: Sequence[int], arm: str = "trained"
) -> dict[int, float]:
    """Of each repetition, the mean error over these lags."""
    found = select(rows, arm=arm, trained_on=trained, tested_on=tested, window=window)
    return by_seed([row for row in found if row["lag"] in lags], "error", np.mean)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Every published curve at its most telling lag (4), and what the untrained control says of the transfer claim."""
    found = [
        near(
            f"{trained}→{tested}, T {window}, lag {lag}",
            curve[lag - 2],
            errors(rows, trained, tested, window, [lag]),
        )
        for (trained, tested, window), curve in PUBLISHED.items()
        for lag in (4, 6)
    ]
    pairs = [("random", "nonlinear"), ("random", "linear"), ("nonlinear", "linear")]
    ways = (pairs, [(easy, hard) for hard, easy in pairs])
    down, up = ([errors(rows, *way, 4, LAGS) for way in each] for each in ways)
    claim = "harder regimes transfer to easier ones (mean error, T 4)"
    shown = " against ".join(f"{_typical(rows, each):.3f}" for each in ways)
    gap = difference_where_both(_mean_by_seed(down), _mean_by_seed(up))
    found.append(judged(claim, "lower than the reverse", shown, [gap], Claim("below", ALIKE)))
    (hard, easy), *_ = pairs
    arms = ("trained", "untrained")
    gap = difference_where_both(*(errors(rows, hard, easy, 4, LAGS, arm) for arm in arms))
    shown = " against ".join(f"{_typical(rows, pairs[:1], arm):.3f}" for arm in arms) + " untrained"
    claim = f"training on {hard} helps on {easy} over no training at all"
    return [*found, judged(claim, "not measured", shown, [gap], Claim("below", ALIKE))]


def _typical(rows: Sequence[Row], ways: Sequence[tuple[str, str]], arm: str = "trained") -> float:
    """The mean over ways and lags of the median over repetitions, for people; judged are the repetitions."""
    return float(np.mean([median_of(errors(rows, *way, 4, [lag], arm).values()) for way in ways for lag in LAGS]))


def _mean_by_seed(parts: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """The mean of several errors of each repetition that has them all."""
    shared = set.intersection(*(set(part) for part in parts))
    return {seed: float(np.mean([part[seed] for part in parts])) for seed in sorted(shared)}


EXPERIMENT = Experiment(
    name="memory-carryover",
    title="memory carried over between regimes",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
)
