"""Bits against time: which learner is worth its seconds.

In come {arm: (seconds per 1000 tokens, bits)}, out comes a matplotlib Figure with every point named beside it. The
wall-time study and the report call this.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sharpstream.errors import ConfigError
from sharpstream.report.style import GREY, arm_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where a name may stand, in order of preference: offset in points, then the side of the text that faces the point.
PLACES: tuple[tuple[float, float, str, str], ...] = (
    (7, 0, "left", "center"),
    (-7, 0, "right", "center"),
    (0, 7, "center", "bottom"),
    (0, -7, "center", "top"),
    (6, 7, "left", "bottom"),
    (6, -7, "left", "top"),
    (-6, 7, "right", "bottom"),
    (-6, -7, "right", "top"),
    (0, 20, "center", "bottom"),
    (0, -20, "center", "top"),
    (12, 26, "left", "bottom"),
    (12, -26, "left", "top"),
    (0, 38, "center", "bottom"),
    (0, -38, "center", "top"),
)
FAR = 12  # points: a name further off than this is tied to its point by a line


@styled
def bits_against_seconds(
    points: Mapping[str, tuple[float, float]], *, title: str = "Bits against time: lower left is better"
) -> "Figure":
    """One marker per arm; seconds on a logarithmic axis."""
    if not points:
        raise ConfigError("there are no points to draw")
    slow = [arm for arm, (seconds, _) in points.items() if not seconds > 0.0]
    if slow:
        raise ConfigError(f"{slow[0]!r} took {points[slow[0]][0]} seconds: it must be above 0 for a logarithmic axis")
    figure = new_figure(7.0, 4.4)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for arm, (seconds, bits) in points.items():
        style = arm_style(arm)
        axes.scatter([seconds], [bits], s=60, color=style.colour, marker=style.marker, zorder=3)
    axes.margins(y=0.16)
    seconds_seen = [seconds for seconds, _ in points.values()]
    span = max(max(seconds_seen) / min(seconds_seen), 10.0)
    axes.set_xlim(min(seconds_seen) / span**0.1, max(seconds_seen) * span**0.25)  # names stand to the right
    axes.set(
        title=title, xlabel="seconds per 1000 tokens, learning included", ylabel="bits per token (lower is better)"
    )
    figure.draw_without_rendering()  # settles the layout, so that text can be measured
    _name_points(axes, points)
    return figure


def _name_points(axes: "Axes", points: Mapping[str, tuple[float, float]]) -> None:
    """Write each arm's name at the first place where it covers neither a point nor another name."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    canvas: Any = axes.figure.canvas
    renderer = canvas.get_renderer()
    size = 5.0 * axes.figure.dpi / 72.0  # half a marker, in pixels
    taken = []
    for seconds, bits in points.values():
        x, y = axes.transData.transform((seconds, bits))
        taken.append(Bbox.from_extents(x - size, y - size, x + size, y + size))
    inside = axes.get_window_extent(renderer)
    for arm, point in points.items():
        for dx, dy, ha, va in PLACES:
            tie = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7} if max(abs(dx), abs(dy)) > FAR else None
            text: Any = axes.annotate(
                arm_style(arm).label,
                point,
                (dx, dy),
                textcoords="offset points",
                ha=ha,
                va=va,
                fontsize=9,
                arrowprops=tie,
            )
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer)  # the name alone, without its line
            fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if (fits and not any(box.overlaps(other) for other in taken)) or (dx, dy, ha, va) == PLACES[-1]:
                taken.append(box)
                break
            text.remove()
