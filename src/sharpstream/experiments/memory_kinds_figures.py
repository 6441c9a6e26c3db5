"""The pictures of the `memory-kinds` study: one a question. In come its long rows.

Colours are those of the kinds everywhere; dashed is what is never trained, dotted what never sleeps.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sharpstream.config import NEVER_LEARN
from sharpstream.evaluate.rows import Row
from sharpstream.experiments.memory_kinds_page import (
    ARMS,
    COLOURS,
    KINDS,
    LEARNING,
    MIXED,
    gap,
    less,
    sleepers,
    streams,
)
from sharpstream.experiments.simulations.common import draw_error_levels, draw_quartiles, select, token_axis
from sharpstream.report.style import GREY, LIGHT, SKY, VERMILLION, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERRORS, BITS = "share of wrong guesses", "bits a character"


def _rules(rows: Sequence[Row]) -> list[str]:
    return sorted({row["where"] for row in rows if row["part"] == "rule"})


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """Which memory? Wrong guesses along each rule's stream; text has a picture of its own."""
    rules = _rules(rows) or ["nonlinear"]
    drawing = new_figure(max(4.6 * len(rules), 9.0), 4.8)
    panels = drawing.subplots(1, len(rules), sharey=True, squeeze=False)[0]
    for axes, where in zip(panels, rules, strict=True):
        for kind, colour in COLOURS.items():
            line = "--" if kind in NEVER_LEARN else "-"
            part = select(rows, part="rule", where=where, arm=kind)
            draw_quartiles(axes, part, "at", "value", colour=colour, label=kind, line=line)
        _rule_axes(axes, where)
    panels[0].set_ylabel(ERRORS)
    _legend(drawing, panels[0], len(KINDS))
    drawing.suptitle("Which memory finds a rule soonest (dashed: never trained); median and interquartile range")
    return drawing


def _rule_axes(axes: "Axes", where: str) -> None:
    draw_error_levels(axes)
    axes.set(title=where, ylim=(0.19, 0.42))
    token_axis(axes)


@styled
def training_figure(rows: Sequence[Row]) -> "Figure":
    """Does training pay? The RNN that learns awake beside the same one left as it began, on every stream."""
    places = streams(rows)
    drawing = new_figure(max(4.0 * len(places), 7.0), 4.2)
    panels = drawing.subplots(1, len(places), squeeze=False)[0]
    for axes, where in zip(panels, places, strict=True):
        here = [row for row in select(rows, where=where) if row["part"] in ("rule", "text")]
        for arm, colour, line, label in (
            ("rnn no sleep", VERMILLION, "-", "rnn, trained (no sleep)"),
            ("orthogonal", GREY, "--", "the same, never trained"),
        ):
            draw_quartiles(axes, select(here, arm=arm), "at", "value", colour=colour, label=label, line=line)
        if where.startswith("nonlinear"):
            _rule_axes(axes, where)
        else:
            axes.set(title=where)
            token_axis(axes)
        axes.set_ylabel(ERRORS if where.startswith("nonlinear") else BITS)
    _legend(drawing, panels[0], 2)
    drawing.suptitle("Does training memory 1 pay? Median and interquartile range")
    return drawing


@styled
def sleep_figure(rows: Sequence[Row]) -> "Figure":
    """Does sleep pay? With minus without, on every stream: mean and interval against the band of no difference."""
    places = [where for where in streams(rows) if sleepers(rows, where)]
    names = [*reversed(LEARNING), MIXED]
    drawing = new_figure(max(3.6 * len(places), 7.0), 3.4)
    panels = drawing.subplots(1, len(places), sharey=True, squeeze=False)[0]
    for axes, where in zip(panels, places, strict=True):
        band = less(where).band
        axes.axvspan(-band, band, color=LIGHT, alpha=0.4, linewidth=0)
        axes.axvline(0.0, color="#404040", linewidth=1.0)
        for name, (arm, other) in sleepers(rows, where).items():
            found = gap(rows, where, arm, other)
            if found is None:
                continue
            colour, height = SKY if name == MIXED else COLOURS[ARMS[name][0]], names.index(name)
            axes.plot([found.low, found.high], [height, height], color=colour, linewidth=2.5, solid_capstyle="butt")
            axes.plot([found.mean], [height], "o", color=colour, markersize=6)
        unit = ERRORS if where.startswith("nonlinear") else BITS
        axes.set(title=where, xlabel=f"{unit}\nwith sleep − without")
        axes.locator_params(axis="x", nbins=5)
    panels[0].set_yticks(range(len(names)), [_above(name) for name in names])
    panels[0].set_ylim(-0.6, len(names) - 0.4)
    drawing.suptitle("Does sleep pay? Left of 0 it does; grey: too little to count. 95 % intervals, paired by seed")
    return drawing


def _above(name: str) -> str:
    return "rnn above\northogonal" if name == MIXED else name


def _legend(drawing: "Figure", axes: "Axes", columns: int) -> None:
    drawing.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def _by_regime(rows: Sequence[Row], part: str, x: str, y: str, title: str) -> "Figure":
    drawing = new_figure(11.0, 4.2)
    panels = drawing.subplots(1, 3, sharey=True)
    for axes, regime in zip(panels, ("random", "nonlinear", "linear"), strict=True):
        for kind, colour in COLOURS.items():
            here = select(rows, part=part, where=regime, arm=kind)
            line = "--" if kind in NEVER_LEARN else "-"
            draw_quartiles(axes, here, "at", "value", colour=colour, label=kind, line=line)
        axes.set(title=regime, xlabel=x)
    panels[0].set_ylabel(y)
    _legend(drawing, panels[0], len(COLOURS))
    drawing.suptitle(title)
    return drawing


@styled
def read_out_figure(rows: Sequence[Row]) -> "Figure":
    """How far back each memory can be read."""
    title = "What a memory still knows (dashed: never trained); median and interquartile range"
    return _by_regime(rows, "read-out", "tokens back (0 = the last one)", "error of a linear read-out", title)


@styled
def geometry_figure(rows: Sequence[Row]) -> "Figure":
    """How far each memory keeps distances."""
    title = "How far distances between states keep distances between sequences (1: all, 0: some sequences are lost)"
    return _by_regime(rows, "geometry", "span s, tokens", "1/C", title)


def _along(rows: Sequence[Row], part: str, y: str, title: str) -> "Figure":
    drawing = new_figure(7.5, 4.6)
    axes = drawing.subplots()
    for arm, (kind, sleeps) in ARMS.items():
        line = "--" if kind in NEVER_LEARN else "-" if sleeps else ":"
        here = select(rows, part=part, arm=arm)
        draw_quartiles(axes, here, "at", "value", colour=COLOURS[kind], label=arm, line=line)
    axes.set(title=title, ylabel=y)
    token_axis(axes)
    axes.legend(ncols=2)
    return drawing


@styled
def drift_figure(rows: Sequence[Row]) -> "Figure":
    """How far the states of a fixed sequence move."""
    drawing = _along(
        rows, "drift", "share of a state's length (0 below the lowest tick)", "Drift in 2000 tokens, gated"
    )
    drawing.axes[0].set_yscale("symlog", linthresh=1e-4)
    return drawing


@styled
def text_figure(rows: Sequence[Row]) -> "Figure":
    """Bits along the text."""
    text = select(rows, part="text")
    drawing = _along(rows, "text", BITS, "Text, width 128, on-tick: median and interquartile range")
    last = max(row["at"] for row in text)
    late = [row["value"] for row in text if row["at"] >= 0.1 * last]  # the first tenth would flatten all that differs
    room = 0.05 * (max(late) - min(late)) or 0.01
    drawing.axes[0].set_ylim(min(late) - room, max(late) + room)
    return drawing


FIGURES: dict[str, tuple[tuple[str, ...], Callable[[Sequence[Row]], "Figure"]]] = {  # name → the parts it needs, how
    "training": (("rule", "text"), training_figure),
    "sleep": (("rule", "text"), sleep_figure),
    "text": (("text",), text_figure),
    "read-out": (("read-out",), read_out_figure),
    "geometry": (("geometry",), geometry_figure),
    "drift": (("drift",), drift_figure),
}


def figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """One picture a question beside the first, of those that were asked."""
    parts = {row["part"] for row in rows}
    return {f"memory-kinds-{name}": draw(rows) for name, (needs, draw) in FIGURES.items() if parts.intersection(needs)}
