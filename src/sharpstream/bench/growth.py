"""How the cost of a token grows with width, levels, window and vocabulary; that memory does not grow with time."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.bench.engine import recipe
from sharpstream.config import SharpConfig
from sharpstream.evaluate.timing import in_turn, learning, resident_megabytes
from sharpstream.experiments.language.wall_time import RESTS
from sharpstream.learners.sharp import Sharp
from sharpstream.report.style import arm_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES: Mapping[str, tuple[int, ...]] = {
    "H": (32, 64, 128, 256, 512, 1024),
    "L": (1, 2, 3, 5, 8),
    "T": (2, 4, 8, 16),
    "V": (2, 27, 256, 4_096, 50_257),
}
TITLES = {"H": "width H", "L": "levels L", "T": "window T", "V": "vocabulary V"}


def _vary(axis: str, value: int) -> tuple[SharpConfig, int]:
    """The H 128 recipe in its steady state with one size changed, and the vocabulary."""
    base = replace(recipe(128), tau=RESTS)
    changes: Mapping[str, Callable[[], SharpConfig]] = {
        "H": lambda: replace(base, width=value),
        "L": lambda: replace(base, levels=value),
        "T": lambda: replace(base, window=value),
        "V": lambda: base,
    }
    return changes[axis](), value if axis == "V" else 27


def measure_growth(rounds: int = 3) -> list[dict[str, Any]]:
    """Milliseconds per token along each axis, with the weights that are active."""
    rows = []
    for axis, values in AXES.items():
        for value in values:
            config, vocabulary = _vary(axis, value)
            learner = Sharp(config, vocabulary)
            active = learner.parameters(active=True)
            count = int(min(2_000, max(40, 3e8 // active)))
            tokens = np.random.default_rng(0).integers(0, vocabulary, count)
            timed = in_turn({"wake": learning(learner, tokens)}, rounds)["wake"]
            rows.append({"axis": axis, "size": value, "active": active, "ms_per_token": 1e3 * timed.seconds})
    return rows


def measure_memory(tokens: int = 2_000_000, every: int = 100_000) -> list[dict[str, float]]:
    """Resident memory along one long stream with sleeps: a small learner, so that the stream is what is long."""
    config = replace(recipe(32), levels=3, sleep=replace(recipe(32).sleep, trigger="every", replay_length=64))
    learner, rng = Sharp(config, 27), np.random.default_rng(0)
    rows = []
    for done in range(every, tokens + 1, every):
        learner.learn(rng.integers(0, 27, every))
        learner.sleep_reports.clear()
        rows.append({"tokens": float(done), "resident_mb": resident_megabytes()})
    return rows


@styled
def growth_figure(growth: list[dict[str, Any]], memory: list[dict[str, float]]) -> "Figure":
    """Four panels of cost, one of memory."""
    colour = arm_style("sharp").colour
    figure = new_figure(12.0, 6.4)
    panels = figure.subplots(2, 3).ravel()
    for axes, axis in zip(panels, AXES, strict=False):
        rows = [row for row in growth if row["axis"] == axis]
        sizes, cost = [row["size"] for row in rows], [row["ms_per_token"] for row in rows]
        axes.plot(sizes, cost, "o-", color=colour, label="measured")
        active = np.array([row["active"] for row in rows], dtype=float)
        axes.plot(sizes, cost[-1] * active / active[-1], "--", color="0.5", label="in proportion to active weights")
        axes.set(
            xscale="log",
            yscale="linear" if axis == "T" else "log",
            xlabel=TITLES[axis],
            ylabel="ms per token",
            xticks=sizes,
        )
        axes.set_xticks([], minor=True)
        axes.set_xticklabels([f"{size:,}" for size in sizes])
        if axis == "T":
            axes.set_ylim(0, None)
        axes.legend(fontsize=8)
    axes = panels[4]
    axes.plot([row["tokens"] / 1e6 for row in memory], [row["resident_mb"] for row in memory], color=colour)
    axes.set(xlabel="million tokens learned", ylabel="resident memory, MB")
    axes.set_ylim(0, 1.3 * max(row["resident_mb"] for row in memory))
    panels[5].axis("off")
    figure.suptitle("What one token costs SHARP (H 128, L 5, T 4, V 27 unless varied; steady state, one thread)")
    return figure
