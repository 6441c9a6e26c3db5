"""What happens along the stream: error with its sleeps, and prequential bits of many learners.

In come plain arrays, out comes a matplotlib Figure for `style.save_figure`. `sharp demo`, the experiments and the
report call these.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError
from sharpstream.report.style import arm_style, new_figure, styled, tokens_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Level = tuple[float, str]
NONLINEAR_LEVELS: tuple[Level, ...] = ((1 / 3, "without context\n(0.333)"), (0.2083, "best possible\n(0.208)"))


@styled
def learning_curve(
    tokens: npt.ArrayLike,
    error: npt.ArrayLike,
    *,
    sleeps: Sequence[float] = (),
    levels: Sequence[Level] = NONLINEAR_LEVELS,
    window: int | None = None,
    arm: str = "sharp",
    beside: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]] | None = None,
    title: str = "Learning from a stream, one token at a time",
    ylabel: str = "share of wrong guesses",
) -> "Figure":
    """Error against tokens, sleeps as ticks along the bottom, known levels labelled at the right edge.

    `window` is how many tokens each error is the mean of, for the legend; `beside` are curves of other arms.
    """
    x, y = _paired(tokens, error)
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    style = arm_style(arm)
    over = f"{style.label}, over the last {window:,} tokens" if window else style.label
    axes.plot(x, y, color=style.colour, linewidth=1.8 if len(x) <= 100 else 1.2, label=over)
    for name, pair in (beside or {}).items():
        other = arm_style(name)
        axes.plot(*_paired(*pair), color=other.colour, linestyle=other.line, linewidth=1.4, label=other.label)
    _mark_sleeps(axes, np.asarray(sleeps, dtype=np.float64))
    _mark_levels(axes, levels, y)
    axes.set(title=title, xlabel="tokens seen (each one once)", ylabel=ylabel)
    _tokens_axis(axes, float(x.max()))
    figure.legend(loc="outside lower center", ncols=3)
    return figure


@styled
def prequential_curves(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    levels: Sequence[Level] = (),
    title: str = "Bits per token, scored before learning from it",
    xlabel: str = "tokens seen",
    ylabel: str = "bits per token (lower is better)",
    legend: str = "learner, bits at the end",
    number: str = ".2f",
) -> "Figure":
    """One line per arm, {arm: (tokens, bits)}; the legend is in the order in which the lines end, and says where."""
    if not curves:
        raise ConfigError("there are no curves to draw")
    figure = new_figure(8.0, 4.4)
    axes = figure.subplots()
    drawn = {arm: _paired(*pair) for arm, pair in curves.items()}
    for arm in sorted(drawn, key=lambda name: -drawn[name][1][-1]):
        (x, y), style = drawn[arm], arm_style(arm)
        # A single point draws no line: a baseline measured once, or a run that has only begun, shows as its marker.
        marker = style.marker if len(x) < 2 else None
        label = f"{style.label}  {y[-1]:{number}}"
        axes.plot(x, y, color=style.colour, linestyle=style.line, marker=marker, label=label)
    values = np.concatenate([y for _, y in drawn.values()])
    highest = _highest_shown(values)
    _mark_levels(axes, levels, values[values <= highest])
    axes.set(title=title, xlabel=xlabel + _mark_beyond(axes, drawn, highest), ylabel=ylabel)
    _tokens_axis(axes, max(float(x.max()) for x, _ in drawn.values()))
    figure.legend(loc="outside right center", title=legend, title_fontsize=9, handlelength=2.6)
    return figure


def _highest_shown(values: npt.NDArray[Any]) -> float:
    """Where the picture ends: below the highest value only when a few bursts would take two thirds of the height."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.inf
    low, usual = float(finite.min()), float(np.quantile(finite, 0.95))
    return low + 1.6 * (usual - low) if finite.max() - low > 3.0 * (usual - low) > 0.0 else np.inf


def _mark_beyond(axes: "Axes", drawn: Mapping[str, Any], highest: float) -> str:
    """A triangle at the upper edge for each point that is not shown; what to say of them below."""
    beyond = {arm: (x[y > highest], y[y > highest]) for arm, (x, y) in drawn.items() if (y > highest).any()}
    if not beyond:
        return ""
    across = axes.get_xaxis_transform()  # x in tokens, y in shares of the height
    for arm, (x, _) in beyond.items():
        colour = arm_style(arm).colour
        axes.plot(x, np.full(len(x), 0.985), "^", transform=across, color=colour, markersize=6, clip_on=False)
    most = max(float(y.max()) for _, y in beyond.values())
    return f"  (▲ beyond this picture, up to {most:.2f})"


def _paired(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two equally long arrays with at least one point."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise ConfigError(f"a curve needs as many x as y, at least one: not shapes {first.shape} and {second.shape}")
    return first, second


def _tokens_axis(axes: "Axes", last: float) -> None:
    """The x axis from 0 to the last token, in thousands or millions."""
    axes.set_xlim(0.0, max(last, 1.0))
    axes.xaxis.set_major_formatter(tokens_label)


def _mark_sleeps(axes: "Axes", sleeps: npt.NDArray[np.float64]) -> None:
    """Short ticks on the x axis: hundreds of sleeps stay readable as a rug and never cover the curve."""
    if not sleeps.size:
        return
    width, strength = (1.4, 0.9) if sleeps.size <= 60 else (0.8, 0.45)
    label = f"sleep ({sleeps.size} of them)" if sleeps.size > 1 else "sleep"
    across = axes.get_xaxis_transform()  # x in tokens, y in shares of the height
    axes.vlines(sleeps, 0.0, 0.035, transform=across, colors="#0072B2", linewidth=width, alpha=strength, label=label)


def _mark_levels(axes: "Axes", levels: Sequence[Level], values: npt.NDArray[Any]) -> None:
    """Dashed lines over the curves, named outside the right edge; the y axis shows all values and all levels."""
    shown = np.concatenate([values, [level for level, _ in levels]])
    shown = shown[np.isfinite(shown)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    pad = 0.08 * (high - low) or 0.1
    bottom, top = low - 1.5 * pad, high + pad
    if low >= 0.0:
        bottom = max(bottom, 0.0)
    axes.set_ylim(bottom, top)
    for (level, name), place in zip(sorted(levels), _spaced(sorted(levels), top - bottom), strict=True):
        axes.axhline(level, color="#404040", linestyle=(0, (4, 2)), linewidth=1.0, zorder=3)
        beside = axes.get_yaxis_transform()  # x in shares of the width, y in data
        axes.plot([1.0, 1.022], [level, place], transform=beside, clip_on=False, color="#404040", linewidth=0.7)
        axes.text(1.028, place, name, transform=beside, va="center", fontsize=9, color="#404040")


def _spaced(levels: Sequence[Level], height: float) -> list[float]:
    """Heights for the names, lowest first: at their level, or as near as lets none cover another."""
    room = [0.052 * height * (name.count("\n") + 1) for _, name in levels]
    places = [level for level, _ in levels]
    for _ in range(100):  # neighbours that are too close move apart by half of what is missing, until all are at rest
        for lower in range(len(places) - 1):
            missing = 0.5 * (room[lower] + room[lower + 1]) - (places[lower + 1] - places[lower])
            if missing > 0.0:
                places[lower] -= 0.5 * missing
                places[lower + 1] += 0.5 * missing
    return places
