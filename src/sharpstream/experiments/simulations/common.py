"""What the simulation studies share: medians and quartiles, panels, and the error curve of a run."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from sharpstream.config import RunConfig
from sharpstream.evaluate.pairs import estimate_of
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.loop import run
from sharpstream.report.style import tokens_label
from sharpstream.rundir import Log, RunDirectory
from sharpstream.streams.synthetic import BEST_ERROR, NO_CONTEXT_ERROR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

R = TypeVar("R", bound=Mapping[str, Any])
CLOSE = 0.02  # published plots were read to ±0.005; with the spread of ten repetitions, closer than this is the same
ALIKE = 0.01  # share of wrong guesses: a smaller difference is none


def error_curve(directory: Path, config: RunConfig, every: int) -> list[Cells]:
    """Run (or continue) and give the share of wrong guesses per `every` tokens; the run's directory is then let go.

    A run too short for ten such points is looked at more often, so that there is a curve to draw.
    """
    every = min(every, max(config.tokens // 10, 1))
    run(directory, config.replace(log_every=every), checkpoint_seconds=60.0)
    rows = Log(RunDirectory(directory).metrics_file).rows()
    shutil.rmtree(directory)
    return [{"tokens": row["tokens"], "error": row["error"]} for row in rows if row["event"] == "interval"]


def select(rows: Iterable[R], **wanted: Any) -> list[R]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def quartiles(rows: Sequence[Row], x: str, y: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """x values, and the 25th, 50th and 75th percentile of y at each, (3, n), over repetitions."""
    values = sorted({row[x] for row in rows})
    columns = [[row[y] for row in rows if row[x] == value] for value in values]
    return np.array(values), np.array([np.percentile(column, [25, 50, 75]) for column in columns]).T


def draw_quartiles(
    axes: "Axes", rows: Sequence[Row], x: str, y: str, *, colour: str, label: str, line: str = "-"
) -> None:
    """Median with the interquartile range shaded; nothing where nothing was run."""
    if not rows:
        return
    at, bands = quartiles(rows, x, y)
    axes.plot(at, bands[1], line, color=colour, label=label, linewidth=1.6)
    axes.fill_between(at, bands[0], bands[2], color=colour, alpha=0.18, linewidth=0)


def token_axis(axes: "Axes") -> None:
    """Tokens in thousands or millions along the bottom."""
    axes.set_xlabel("tokens learned")
    axes.xaxis.set_major_formatter(tokens_label)


def draw_error_levels(axes: "Axes") -> None:
    """The two levels every nonlinear(K) learner stands between."""
    levels = (
        (NO_CONTEXT_ERROR, "direction unknown 0.333", 5, "bottom"),
        (BEST_ERROR, "best possible 0.208", -4, "top"),
    )
    for level, name, away, side in levels:
        axes.axhline(level, color="#404040", linestyle=(0, (4, 2)), linewidth=1.0)
        axes.annotate(
            name,
            (1.0, level),
            xycoords=("axes fraction", "data"),
            xytext=(0, away),
            textcoords="offset points",
            ha="right",
            va=side,
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
            zorder=4,
        )


def median_of(values: Iterable[float]) -> float:
    """The median over repetitions, NaN when there are none."""
    known = list(values)
    return float(np.median(known)) if known else float("nan")


def by_seed(rows: Iterable[Row], column: str, average: Callable[[list[float]], Any] = np.median) -> dict[int, float]:
    """Of each repetition, the average of a column."""
    found: dict[int, list[float]] = {}
    for row in rows:
        found.setdefault(row["seed"], []).append(row[column])
    return {seed: float(average(found[seed])) for seed in sorted(found)}


def final_errors(rows: Sequence[Row], tokens: int, last: int) -> dict[int, float]:
    """The mean error over the last so many tokens of each repetition, by seed."""
    return by_seed([row for row in rows if tokens - last < row["tokens"] <= tokens], "error", np.mean)


def near(claim: str, published: float, ours: Mapping[int, float], *, close: float = CLOSE) -> Finding:
    """A published number beside the median of our repetitions; it holds when their interval is no farther away."""
    return _near(claim, published, median_of(ours.values()), ours, close)


def near_rows(claim: str, published: float, rows: Sequence[Row], column: str, *, close: float = CLOSE) -> Finding:
    """The same for a span of a curve: shown is the median of its rows, judged the median of each repetition."""
    return _near(claim, published, median_of(row[column] for row in rows), by_seed(rows, column), close)


def _near(claim: str, published: float, shown: float, ours: Mapping[int, float], close: float) -> Finding:
    apart = estimate_of(value - published for value in ours.values())
    return judged(claim, f"{published:.3f}", f"{shown:.3f}", [apart], Claim("within", close))
