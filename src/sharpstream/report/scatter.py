"""Bits against time: which learner is worth its seconds.

In come {arm: (seconds per 1000 tokens, bits)}, out comes a matplotlib Figure with every point named beside it. The
wall-time study and the report call this.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sharpstream.errors import ConfigError
from sharpstream.report.style import GREY, arm_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

# Where a name may stand, in order of preference: offset in points, then the side of the text that faces the point.
Place = tuple[float, float, str, str]
PLACES: tuple[Place, ...] = (
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
    figure = new_figure(7.4, 5.6)
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
    """Write each arm's name at the first place where neither it nor its line covers a point, a name or a line."""
    from matplotlib.transforms import Bbox

    canvas: Any = axes.figure.canvas
    renderer = canvas.get_renderer()
    half = 5.0 * axes.figure.dpi / 72.0  # of a marker, in pixels
    places = {arm: tuple(axes.transData.transform(point).tolist()) for arm, point in points.items()}
    markers = {arm: Bbox.from_extents(x - half, y - half, x + half, y + half) for arm, (x, y) in places.items()}
    inside, taken = axes.get_window_extent(renderer), list(markers.values())
    for arm, point in points.items():
        others = [box for box in taken if box is not markers[arm]]  # its own line may leave its own point
        for place in PLACES:
            text, box = _name(axes, renderer, arm, point, place)
            line = _along(places[arm], box) if _is_far(place) else []
            fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            free = not box.count_overlaps(taken) and not any(bit.count_overlaps(others) for bit in line)
            if (fits and free) or place == PLACES[-1]:
                taken += [box, *line]
                break
            text.remove()


def _name(axes: "Axes", renderer: Any, arm: str, point: tuple[float, float], place: Place) -> tuple[Any, "Bbox"]:
    """The name at this place, and the box of the name alone, without its line."""
    from matplotlib.text import Text

    dx, dy, ha, va = place
    tie = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7} if _is_far(place) else None
    label, offset = arm_style(arm).label, (dx, dy)
    text: Any = axes.annotate(
        label, point, offset, textcoords="offset points", ha=ha, va=va, fontsize=9, arrowprops=tie
    )
    text.update_positions(renderer)
    return text, Text.get_window_extent(text, renderer)


def _is_far(place: Place) -> bool:
    return max(abs(place[0]), abs(place[1])) > FAR


def _along(point: Sequence[float], box: "Bbox") -> list["Bbox"]:
    """Small boxes along the line from a point to the nearest edge of its name: what others may not cover."""
    from matplotlib.transforms import Bbox

    (x, y), bits = point, 8
    to_x, to_y = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
    steps = [(x + (to_x - x) * i / bits, y + (to_y - y) * i / bits) for i in range(1, bits)]
    return [Bbox.from_extents(at_x - 1, at_y - 1, at_x + 1, at_y + 1) for at_x, at_y in steps]
