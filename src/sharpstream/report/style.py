"""One look for every figure: the same colour for the same arm everywhere, told apart by the colour-blind too.

In come arm names, out come colours, labels and line styles; every drawing function is wrapped in `styled` and every
figure leaves through `save_figure`. matplotlib is imported only when something is drawn.
"""

import functools
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sharpstream.errors import ConfigError
from sharpstream.factory import LEARNERS
from sharpstream.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")
R = TypeVar("R")

# Okabe & Ito's palette without its yellow, which is lost on white paper; greys for what does not learn.
VERMILLION, ORANGE, SKY, BLUE, GREEN, PURPLE, BLACK = (
    "#D55E00",
    "#E69F00",
    "#56B4E9",
    "#0072B2",
    "#009E73",
    "#CC79A7",
    "#000000",
)
GREY, LIGHT = "#7F7F7F", "#BFBFBF"


@dataclass(frozen=True)
class ArmStyle:
    """How one arm is drawn in every figure."""

    label: str
    colour: str
    line: str = "-"
    marker: str = "o"


ARMS: dict[str, ArmStyle] = {
    **{name: ArmStyle(one.label, one.colour, one.line, one.marker) for name, one in LEARNERS.items()},
    "sharp-512-tick": ArmStyle("SHARP, width 512, on-tick", VERMILLION, ":", "o"),
    "sharp-tick": ArmStyle("SHARP, on-tick", VERMILLION, "--", "o"),
    "film-normed": ArmStyle("film-normed", ORANGE, "-", "P"),
    "film-normed-no-sleep": ArmStyle("film-normed, no sleep", PURPLE, ":", "X"),
    "film-normed-between": ArmStyle("film-normed, GELU between", VERMILLION, "-.", "P"),
    "no-sleep": ArmStyle("SHARP, no sleep", ORANGE, "--", "o"),
    "no-slow-down": ArmStyle("SHARP, no slow-down", ORANGE, "-.", "^"),
    "wake-only": ArmStyle("SHARP, wake only", ORANGE, ":", "v"),
    "dead_upper_levels": ArmStyle("SHARP, dead upper levels", PURPLE, "-.", "X"),
    "L=1": ArmStyle("SHARP, one level", PURPLE, "-", "P"),
    "tau-0.001": ArmStyle("τ = 0.001", BLUE, "--", "s"),
    "tau-0.1": ArmStyle("τ = 0.1", GREEN, "-.", "^"),
    "tau-0": ArmStyle("τ = 0 (no gate)", PURPLE, "--", "v"),
    "transformer-small": ArmStyle("Transformer 0.6M", BLACK, ":", "*"),
    "transformer-5m": ArmStyle("Transformer 5M", BLACK, "--", "<"),
    "transformer-10m": ArmStyle("Transformer 10M", BLACK, "-", ">"),
    "episodic fast": ArmStyle("Episodic, fast", SKY, ":", "*"),
    "ppmd": ArmStyle("PPMd", GREY, "--", "h"),
    "zpaq": ArmStyle("zpaq", GREY, ":", "8"),
    "untrained": ArmStyle("Untrained", LIGHT, "--", "x"),
}


# Arms that look like another because they are its kin, under a name of their own.
KIN = {
    "tau-0.01": ("sharp", "τ = 0.01"),
    **{f"sharp-gamma-{gamma:g}": ("sharp", f"SHARP, γ {gamma:g}") for gamma in (0.1, 0.4, 1.0)},
    "zpaq-5": ("zpaq", "zpaq, level 5"),
    "sharp-no-momentum": ("sharp", "SHARP, output without momentum"),
    "sharp-factored": ("sharp", "SHARP, output factored"),
    "sharp-factored-no-momentum": ("sharp", "SHARP, output factored, without momentum"),
    "sharp-epsilon": ("sharp", "SHARP, ε 1e-4"),
    "rnn-epsilon": ("rnn", "RNN, ε 1e-4"),
    "tick-sleep": ("sharp-tick", "SHARP, on-tick (2M)"),
    "tick-no-sleep": ("no-sleep", "on-tick, no sleep"),
    "tick-dead": ("dead_upper_levels", "on-tick, dead upper levels"),
    "tick-one-level": ("L=1", "on-tick, one level"),
    "rnn-overlap": ("clockwork", "RNN, overlapping windows"),
    "gru-overlap": ("gru", "GRU, overlapping windows"),
    **{f"counts-{order}": ("counts", f"Counts, order {order}") for order in range(1, 9)},
    **{f"ppmd-{order}": ("ppmd", f"PPMd, order {order}") for order in (4, 6, 16)},
}


def arm_style(arm: str) -> ArmStyle:
    """The arm's style; an arm of one's own gets one from its name, the same in every figure and every run."""
    if arm in KIN:
        like, label = KIN[arm]
        return replace(ARMS[like], label=label)
    if arm in ARMS:
        return ARMS[arm]
    number = zlib.crc32(arm.encode("utf-8"))  # Python's own hash differs from run to run
    colours, lines, markers = (BLUE, PURPLE, GREEN, SKY, ORANGE), ("-", "--", ":"), "oDs^v"
    line, marker = lines[number // len(colours) % len(lines)], markers[number // 15 % len(markers)]
    return ArmStyle(arm, colours[number % len(colours)], line, marker)


RC: Any = {  # matplotlib types its settings as a union of 300 literals
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same picture on every machine
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,  # text in the PDF stays text
}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the project's settings, leaving matplotlib's own untouched."""

    @functools.wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib

        with matplotlib.rc_context(RC):
            return draw(*args, **kwargs)

    return inside


def new_figure(width: float = 7.0, height: float = 4.0) -> "Figure":
    """An empty figure in inches, with room made for everything that is put in; no window, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: "Figure", path: Path | str) -> tuple[Path, Path]:
    """Write PATH.png (150 dpi) and PATH.pdf, each whole or not at all, the same bytes for the same figure."""
    import matplotlib

    given = Path(path)
    if not given.name:
        raise ConfigError(f"{path!s} is no name for a figure")
    stem = given.with_suffix("") if given.suffix in (".png", ".pdf") else given
    targets = stem.parent / f"{stem.name}.png", stem.parent / f"{stem.name}.pdf"
    with matplotlib.rc_context(RC):
        for target, metadata in zip(
            targets, ({"Software": None}, {"CreationDate": None, "Producer": None}), strict=True
        ):
            picture = io.BytesIO()
            figure.savefig(picture, format=target.suffix[1:], dpi=150, metadata=metadata)
            write_whole(target, picture.getvalue())
    return targets


def tokens_label(count: float, _position: object = None) -> str:
    """A number of tokens on an axis: 0, 500, 20k, 1.5M.

    >>> [tokens_label(n) for n in (0, 500, 20_000, 1_500_000)]
    ['0', '500', '20k', '1.5M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"
