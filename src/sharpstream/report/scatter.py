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

# Where a name may stand, in order of preference: how far from its point, in points, and on which side of it.
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
Place = tuple[int, tuple[int, int]]
PLACES: tuple[Place, ...] = tuple((distance, side) for distance in (7, 20, 36, 54) for side in SIDES)
FONT_SIZE = 9
FAR = 12  # points: a name further off than this is tied to its point by a line
ACROSS = {1: "left", 0: "center", -1: "right"}
UPWARDS = {1: "bottom", 0: "center", -1: "top"}


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
    """Write each arm's name where neither it nor its line covers a point, a name or a line.

    Who finds no such place chooses first the next time, and all begin again.
    """
    chart, order = _Chart(axes, points), list(points)
    for _ in points:
        places, stuck = chart.places_of(order)
        if stuck is None:
            break
        order.remove(stuck)
        order.insert(0, stuck)
    for arm, (distance, (x, y)) in places.items():
        faces = ((1 - x) / 2, (1 - y) / 2)  # where its line ends, as shares of the name
        tie = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7, "relpos": faces} if distance > FAR else None
        style: dict[str, Any] = {"ha": ACROSS[x], "va": UPWARDS[y], "fontsize": FONT_SIZE, "arrowprops": tie}
        offset = distance * x, distance * y
        axes.annotate(arm_style(arm).label, points[arm], offset, textcoords="offset points", **style)


class _Chart:
    """Markers and names as boxes in pixels; says where each name can stand."""

    def __init__(self, axes: "Axes", points: Mapping[str, tuple[float, float]]) -> None:
        from matplotlib.transforms import Bbox

        canvas: Any = axes.figure.canvas
        renderer = canvas.get_renderer()
        self.scale = axes.figure.dpi / 72.0  # pixels of a point
        half = 5.0 * self.scale  # of a marker
        self.points = {arm: tuple(axes.transData.transform(point).tolist()) for arm, point in points.items()}
        self.markers = {
            arm: Bbox.from_extents(x - half, y - half, x + half, y + half) for arm, (x, y) in self.points.items()
        }
        self.inside = axes.get_window_extent(renderer)
        self.sizes = {}
        for arm in points:
            text = axes.text(0, 0, arm_style(arm).label, fontsize=FONT_SIZE, transform=None)
            box = text.get_window_extent(renderer)
            self.sizes[arm] = box.width, box.height
            text.remove()

    def places_of(self, order: Sequence[str]) -> tuple[dict[str, Place], str | None]:
        """Each arm's place, chosen in this order; and the first arm that found none, which stands where it covers."""
        taken, places, stuck = list(self.markers.values()), {}, None
        for arm in order:
            free = next((place for place in PLACES if self._is_free(arm, place, taken)), None)
            if free is None:
                stuck = stuck or arm
            places[arm] = free or PLACES[0]
            box = self._name(arm, places[arm])
            taken += [box, *self._line(arm, box)]
        return places, stuck

    def _is_free(self, arm: str, place: Place, taken: Sequence["Bbox"]) -> bool:
        box, inside = self._name(arm, place), self.inside
        fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        return fits and not any(one.count_overlaps(taken) for one in (box, *self._line(arm, box)))

    def _name(self, arm: str, place: Place) -> "Bbox":
        from matplotlib.transforms import Bbox

        (x, y), (width, height), (distance, (across, upwards)) = self.points[arm], self.sizes[arm], place
        left = x + distance * self.scale * across - width * (1 - across) / 2
        low = y + distance * self.scale * upwards - height * (1 - upwards) / 2
        return Bbox.from_bounds(left, low, width, height)

    def _line(self, arm: str, box: "Bbox") -> list["Bbox"]:
        """Small boxes, touching, from the arm's marker to the nearest edge of its name: what others may not cover."""
        from matplotlib.transforms import Bbox

        x, y = self.points[arm]
        to_x, to_y = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
        bits = 1 + int(max(abs(to_x - x), abs(to_y - y)) / 2)
        steps = [(x + (to_x - x) * i / bits, y + (to_y - y) * i / bits) for i in range(1, bits)]
        line = [Bbox.from_extents(at_x - 1, at_y - 1, at_x + 1, at_y + 1) for at_x, at_y in steps]
        return [bit for bit in line if not bit.overlaps(self.markers[arm])]
