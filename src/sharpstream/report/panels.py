"""Learners side by side at one moment: the retention matrix as a heat map, forward / current / backward as bars.

In come plain arrays and estimates, out comes a matplotlib Figure for `style.save_figure`. Experiments and the report
call these.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError
from sharpstream.evaluate.pairs import Estimate
from sharpstream.evaluate.retention import RetentionMatrix
from sharpstream.report.style import arm_style, new_figure, styled, tokens_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEANING = {"forward": "(not yet seen)", "current": "(seen last)", "backward": "(seen first)"}
MOST_NUMBERED = 14  # larger matrices show colours only
TALLEST = 2.0  # times the median bar: what is taller is cut off, lest it flatten all the others


@styled
def retention_heat_map(
    bits: npt.ArrayLike,
    *,
    times: Sequence[int],
    segments: Sequence[str],
    learned: npt.ArrayLike | None = None,
    title: str = "What is kept: bits on each part of the stream, measured as learning goes on",
) -> "Figure":
    """Rows are times, columns are segments; NaN is hatched, and bold marks what was `learned`, (T, S)."""
    matrix = np.asarray(bits, dtype=np.float64)
    if matrix.shape != (len(times), len(segments)) or not matrix.size:
        raise ConfigError(
            f"the matrix has shape {matrix.shape}, but there are {len(times)} times, {len(segments)} segments"
        )
    numbered = max(matrix.shape) <= MOST_NUMBERED
    width, height = (0.75 * len(segments), 0.45 * len(times)) if numbered else (6.0, 4.5)
    figure = new_figure(max(width, 4.5) + 2.2, max(height, 1.8) + 1.6)
    axes = figure.subplots()
    axes.set_facecolor("#F2F2F2")
    image = axes.imshow(np.ma.masked_invalid(matrix), cmap="cividis_r", aspect="auto", interpolation="nearest")
    _hatch_unmeasured(axes, matrix)
    if numbered:
        _write_numbers(axes, matrix, None if learned is None else np.asarray(learned, dtype=bool))
    axes.grid(False)
    _name_some(axes, times, segments)
    figure.colorbar(image, ax=axes, label="bits per token (lower is better)", pad=0.02)
    below = "part of the stream" + ("   (bold: already learned)" if numbered and learned is not None else "")
    axes.set(xlabel=below, ylabel="tokens learned from")
    figure.suptitle(title, fontsize=11, ha="left", x=0.01)
    return figure


def retention_figure(matrix: RetentionMatrix, arm: str) -> "Figure":
    """The heat map of a recorded matrix, called after its learner."""
    learned = [[segment.learned_by(time) for segment in matrix.segments] for time in matrix.times]
    names = [segment.name for segment in matrix.segments]
    title = f"What {arm_style(arm).label} keeps: bits on each part of the stream, measured as learning goes on"
    figure: Figure = retention_heat_map(matrix.bits, times=matrix.times, segments=names, learned=learned, title=title)
    return figure


@styled
def probe_bars(
    values: Mapping[str, Mapping[str, Estimate]],
    *,
    title: str = "With learning off: text not yet seen, seen last, seen first",
    ylabel: str = "bits per token (lower is better)",
) -> "Figure":
    """{arm: {probe: estimate}}: one group of bars per probe, one bar per arm, whiskers are 95 % intervals."""
    probes = list(dict.fromkeys(probe for by_probe in values.values() for probe in by_probe))
    if not probes:
        raise ConfigError("there is nothing to draw: give at least one arm with one probe")
    arms = list(values)
    figure = new_figure(max(6.5, 0.36 * len(arms) * len(probes) + 3.2), 4.4)
    axes = figure.subplots()
    width = 0.84 / len(arms)
    tallest = TALLEST * float(np.median([found.mean for by_probe in values.values() for found in by_probe.values()]))
    whiskers = False
    for place, arm in enumerate(arms):
        groups = [number for number, probe in enumerate(probes) if probe in values[arm]]
        x = np.array(groups) + (place - 0.5 * (len(arms) - 1)) * width
        whiskers |= _draw_bars(axes, arm, x, [values[arm][probes[number]] for number in groups], 0.92 * width, tallest)
    axes.margins(y=0.14)
    axes.set_ylim(bottom=0.0)  # bars that do not start at 0 exaggerate
    cut = bool(axes.get_ylim()[1] > 1.14 * tallest)
    if cut:
        axes.set_ylim(top=1.14 * tallest)
    axes.set_xticks(
        range(len(probes)), [f"{probe}\n{MEANING[probe]}" if probe in MEANING else probe for probe in probes]
    )
    axes.tick_params(axis="x", length=0)
    axes.grid(False, axis="x")
    below = ["whiskers: 95 % intervals over repetitions"] * whiskers + ["what is too tall is cut off at the top"] * cut
    axes.set(title=title, ylabel=ylabel, xlabel="; ".join(below))
    figure.legend(loc="outside right center")
    return figure


def _draw_bars(
    axes: "Axes", arm: str, x: npt.NDArray[Any], found: Sequence[Estimate], width: float, tallest: float
) -> bool:
    """One arm's bars with their numbers above, but none above `tallest`; whether any has an interval to show."""
    style = arm_style(arm)
    means = np.array([estimate.mean for estimate in found])
    half = np.nan_to_num(np.array([estimate.half_width for estimate in found]))  # one seed: no whisker
    hatch = {"-": None, "--": "///", ":": "...", "-.": "xxx"}[style.line]
    axes.bar(x, means, width, color=style.colour, hatch=hatch, edgecolor="white", linewidth=0, label=style.label)
    shown = half > 0.0
    for colour, thick in (("white", 3.0), ("#333333", 1.0)):  # the white edge keeps whiskers visible on dark bars
        axes.errorbar(x[shown], means[shown], half[shown], fmt="none", ecolor=colour, elinewidth=thick, capsize=2)
    for left, mean, reach in zip(x, means, half, strict=True):
        above = (left, min(mean + reach, tallest))
        number = axes.annotate(
            f"{mean:.2f}", above, (0, 5), textcoords="offset points", ha="center", fontsize=7, rotation=90
        )
        if mean + reach > tallest:  # the bar or its whisker goes on behind the number
            number.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    return bool(shown.any())


def _hatch_unmeasured(axes: "Axes", matrix: npt.NDArray[np.float64]) -> None:
    """Cells without a number look like no number, not like a low one."""
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(np.isnan(matrix)):
        cell = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#CFCFCF", linewidth=0)
        axes.add_patch(cell)


def _write_numbers(axes: "Axes", matrix: npt.NDArray[np.float64], learned: npt.NDArray[np.bool_] | None) -> None:
    """Each cell's bits, light on dark and dark on light; bold once the segment was learned."""
    finite = matrix[np.isfinite(matrix)]
    middle = 0.5 * float(finite.min() + finite.max()) if finite.size else 0.0
    for row, column in np.argwhere(np.isfinite(matrix)):
        value = matrix[row, column]
        bold = learned is not None and bool(learned[row, column])
        axes.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            fontweight="bold" if bold else "normal",
            color="white" if value > middle else "black",  # cividis reversed: high is dark
        )


def _name_some(axes: "Axes", times: Sequence[int], segments: Sequence[str]) -> None:
    """Names of rows and columns, as many as have room."""
    rows, columns = _spread(len(times), 14), _spread(len(segments), 14)
    axes.set_yticks(rows, [tokens_label(times[row]) for row in rows])
    crowded = max(len(name) for name in segments) > 9
    slant: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(columns, [segments[column] for column in columns], **slant)


def _spread(count: int, most: int) -> list[int]:
    """At most `most` evenly spaced positions out of `count`."""
    return list(range(0, count, -(-count // most)))
