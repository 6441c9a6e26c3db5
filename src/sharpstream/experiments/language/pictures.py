"""The pictures of a language study from its long rows; each is one of the drawings of `report/`."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.evaluate.rows import Row
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.experiments.language.tables import arms_of, by_repetition, estimate, mean_of, retention_of
from sharpstream.report.curves import prequential_curves
from sharpstream.report.panels import probe_bars, retention_figure
from sharpstream.report.scatter import bits_against_seconds
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = tuple[list[int], list[float]]
FAR_ABOVE = ("uniform", "unigram", "counts-1", "counts-2")  # would squeeze all others into a corner
SHARES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # marks of the gate's axis


def mean_curve(rows: Sequence[Row], arm: str, metric: str = "curve") -> Curve:
    """The mean over segments and seeds at each point that all of them have reached."""
    points: dict[int, list[float]] = {}
    for row in rows:
        if row["arm"] == arm and row["metric"] == metric:
            points.setdefault(row["tokens"], []).append(row["value"])
    most = max(map(len, points.values()), default=0)
    kept = sorted(tokens for tokens, values in points.items() if len(values) == most)
    return kept, [float(np.mean(points[tokens])) for tokens in kept]


def paired_curve(rows: Sequence[Row], arm: str, base: str) -> Curve:
    """Bits of an arm minus those of another on the same stretch of text, the mean over segments and seeds."""
    marks = {
        name: {(r["segment"], r["seed"], r["tokens"]): r["value"] for r in rows if _is_curve(r, name)}
        for name in (arm, base)
    }
    points: dict[int, list[float]] = {}
    for key in marks[arm].keys() & marks[base].keys():
        points.setdefault(key[2], []).append(marks[arm][key] - marks[base][key])
    kept = sorted(points)
    return kept, [float(np.mean(points[tokens])) for tokens in kept]


def _is_curve(row: Row, arm: str) -> bool:
    return bool(row["arm"] == arm and row["metric"] == "curve")


def against_figure(rows: Sequence[Row], base: str) -> "Figure | None":
    """Each arm minus one of them along the stream: what the text's own ups and downs, common to all, would hide."""
    curves = {arm: paired_curve(rows, arm, base) for arm in arms_of(rows)}
    known = {arm: curve for arm, curve in curves.items() if curve[0]}
    if base not in known or len(known) < 2:
        return None
    name = arm_style(base).label
    return prequential_curves(
        known,
        title=f"Bits more than {name} on the same text",
        ylabel=f"bits minus those of {name}",
        legend="arm, at the end",
        number="+.3f",
    )


def curves_figure(
    rows: Sequence[Row], arms: Sequence[str], title: str, levels: Sequence[str] = (), unit: str = "character"
) -> "Figure":
    """Prequential bits along the stream; arms that only have a mean are drawn as levels."""
    shown, where = on_common_text(rows, arms)
    curves = {arm: mean_curve(shown, arm) for arm in arms}
    known = [(mean_of(shown, arm, "bits"), arm) for arm in levels]
    lines = [(bits, f"{arm_style(arm).label} {bits:.2f}") for bits, arm in known if not math.isnan(bits)]
    drawn = {arm: curve for arm, curve in curves.items() if curve[0]}
    return prequential_curves(drawn, levels=lines, title=title + where, ylabel=f"bits per {unit} (lower is better)")


def on_common_text(rows: Sequence[Row], arms: Sequence[str]) -> tuple[Sequence[Row], str]:
    """The rows of the segments that all of these arms have read, and how many those are, where there are several.

    One segment is harder than another: means over different ones are no comparison.
    """
    read: dict[str, set[int]] = {}
    for row in rows:
        if row["metric"] == "curve" and row["arm"] in arms:
            read.setdefault(row["arm"], set()).add(row["segment"])
    common = set.intersection(*read.values()) if read else set()
    if not common or max(map(len, read.values())) == 1:
        return rows, ""
    where = ", the segment that all have read" if len(common) == 1 else f", mean over {len(common)} segments"
    return [row for row in rows if row["segment"] in common], where


def probes_figure(rows: Sequence[Row], arms: Sequence[str], unit: str = "character") -> "Figure | None":
    """Forward, current and backward with intervals."""
    values = {}
    for arm in arms:
        found = {name: estimate(rows, arm, f"{name}_bits") for name in DIRECTIONS}
        values[arm] = {name: one for name, one in found.items() if one is not None}
    known = {arm: found for arm, found in values.items() if found}
    return probe_bars(known, ylabel=f"bits per {unit}") if known else None


def gate_figure(rows: Sequence[Row], arms: Sequence[str]) -> "Figure | None":
    """The share of wake steps that updated the first memory: it falls by powers of ten, and may reach nothing."""
    curves = {arm: mean_curve(rows, arm, "gated") for arm in arms}
    known = {arm: curve for arm, curve in curves.items() if curve[0]}
    if not known:
        return None
    title, ylabel = "How often the first memory still learns", "share of wake steps that update it"
    legend = "arm, share at the end"
    figure: Figure = prequential_curves(known, title=title, ylabel=ylabel, legend=legend, number=".2%")
    axes = figure.axes[0]
    axes.set_yscale("symlog", linthresh=SHARES[1])  # linear below, so that 0 has a place
    axes.set_ylim(0.0, 1.2)
    axes.set_yticks(SHARES, [f"{share:.4g}" for share in SHARES])
    axes.minorticks_off()
    return figure


def tradeoff_figure(rows: Sequence[Row]) -> "Figure | None":
    """Prequential bits against seconds per 1000 tokens."""
    arms = in_sight(arms_of(rows))
    points = {arm: (mean_of(rows, arm, "seconds_per_1000"), mean_of(rows, arm, "bits")) for arm in arms}
    known = {arm: point for arm, point in points.items() if all(map(math.isfinite, point))}
    return bits_against_seconds(known) if known else None


def retention_picture(rows: Sequence[Row], arm: str) -> "Figure | None":
    """The retention matrix of the first repetition of one arm."""
    keys = sorted(by_repetition(rows, arm, "bits"))
    matrix = retention_of(rows, arm, keys[0]) if keys else None
    return None if matrix is None else retention_figure(matrix, arm)


def known_figures(drawings: Mapping[str, Callable[[], "Figure | None"]]) -> dict[str, "Figure"]:
    """Those that there is something to draw for."""
    drawn = {name: draw() for name, draw in drawings.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def neural_and_best_counts(rows: Sequence[Row]) -> list[str]:
    """The arms of a picture: everyone but the count models that a better one stands for, and the compressors."""
    hidden = ("ppmd", "zpaq", "counts-")
    return in_sight([arm for arm in arms_of(rows) if arm == "counts-5" or not arm.startswith(hidden)])


def in_sight(arms: Sequence[str]) -> list[str]:
    """Without those that are far above everyone, unless there are no others."""
    return [arm for arm in arms if arm not in FAR_ABOVE] or list(arms)
