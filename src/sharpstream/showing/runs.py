"""A run on the page: what was run, its curve, its wake and sleep with their ledger, what it keeps, and the reader."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sharpstream.errors import RunError
from sharpstream.rundir import Log, RunDirectory
from sharpstream.showing.page import Figure, Section, figure, paragraph, table
from sharpstream.showing.reader import reader

Rows = Sequence[Mapping[str, Any]]
BLUE, ORANGE = "#0072B2", "#D55E00"
MOST_SLEEPS = 200  # lines of the ledger


def run_section(path: Path, number: int, passage: int) -> Section:
    """Everything about one run."""
    directory = RunDirectory(path)
    config = directory.load_config()
    rows = Log(directory.metrics_file).readable_rows()
    curve = [row for row in rows if row["event"] == "interval"]
    if not curve:
        raise RunError(f"the run in {path} has logged nothing yet")
    state = "finished" if directory.summary else f"stopped or under way at {curve[-1]['tokens']:,} tokens"
    about = [
        ("learner", config.learner),
        ("stream", config.stream.name),
        ("tokens", config.tokens),
        ("seed", config.seed),
        ("state", state),
        ("all settings", f"{path.name}/config.toml"),
    ]
    parts = [
        table(("what was run", ""), about),
        figure(f"curve-{number}", bits_curve(curve), "Bits a token, scored before learning"),
    ]
    sleeps = [row for row in rows if row["event"] == "sleep"]
    if sleeps or "gated" in curve[0]:
        parts += wake_and_sleep(curve, sleeps, Log(directory.timing_file).readable_rows(), number)
    probes = [row for row in rows if row["event"] == "probe"]
    if len(probes) > 1:
        told = "Bits on parts of the stream (across) as learning goes on (up): below the diagonal not yet seen"
        parts.append(figure(f"kept-{number}", heat_map(probes), told))
    return Section(f"Run {path.name}: {config.learner} on {config.stream.name}", (*parts, *reader(directory, passage)))


def bits_curve(curve: Rows) -> Figure:
    """Bits, and wrong guesses where they were counted (their own axis)."""
    x = [row["tokens"] for row in curve]
    lines: list[dict[str, Any]] = [_line(x, [row["bits"] for row in curve], "bits", BLUE)]
    layout: dict[str, Any] = {"xaxis": {"title": {"text": "tokens"}}, "yaxis": {"title": {"text": "bits a token"}}}
    if all(row.get("error") is not None for row in curve):
        lines.append(_line(x, [row["error"] for row in curve], "wrong guesses", ORANGE) | {"yaxis": "y2"})
        layout["yaxis2"] = {
            "title": {"text": "share of wrong guesses"},
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
        }
        layout["margin"] = {"l": 60, "r": 60, "t": 30, "b": 45}
    return {"data": lines, "layout": layout | {"legend": {"orientation": "h", "y": -0.25}}}


def _line(x: Sequence[float], y: Sequence[float], name: str, colour: str) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": {"color": colour}}


def wake_and_sleep(curve: Rows, sleeps: Rows, times: Rows, number: int) -> list[str]:
    """How often memory 1 learned while awake, when it slept, and the ledger of the sleeps."""
    seconds = {row["tokens"]: row["seconds"] for row in times if row["event"] == "sleep"}
    x = [row["tokens"] for row in curve]
    lines = [_line(x, [row.get("gated", 0.0) for row in curve], "share of steps on which memory 1 learned", BLUE)]
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": [row["tokens"] for row in sleeps],
        "y": [0.0] * len(sleeps),
        "name": "sleep",
        "cliponaxis": False,
        "marker": {"symbol": "line-ns-open", "size": 12, "color": ORANGE},
        "text": [f"{row['tags']} tags, {row['replayed']:,} replayed" for row in sleeps],
    }
    layout = {
        "xaxis": {"title": {"text": "tokens"}},
        "yaxis": {"title": {"text": "share of steps"}, "rangemode": "tozero"},
        "legend": {"orientation": "h", "y": -0.25},
    }
    drawing = {"data": [*lines, marks], "layout": layout}
    parts = [figure(f"sleep-{number}", drawing, "Awake and asleep: when memory 1 learned, and when the learner slept")]
    if not sleeps:
        return [*parts, paragraph("It never slept.")]
    ledger = [
        (row["tokens"], row["tags"], row["replayed"], _losses(row), _updates(row), seconds.get(row["tokens"]))
        for row in sleeps[-MOST_SLEEPS:]
    ]
    columns = ("at token", "tags", "tokens replayed", "replay loss by level", "updates by level", "seconds")
    more = [paragraph(f"The last {MOST_SLEEPS} of {len(sleeps):,} sleeps.")] if len(sleeps) > MOST_SLEEPS else []
    return [*parts, *more, table(columns, ledger)]


def _losses(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{level}: {one['loss']:.3g}" for level, one in row["levels"].items())


def _updates(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{level}: {one['updates']:,}" for level, one in row["levels"].items())


def heat_map(probes: Rows) -> Figure:
    """Probe × time."""
    every, width = probes[0]["every"], max(len(row["bits"]) for row in probes)
    values = [row["bits"] + [None] * (width - len(row["bits"])) for row in probes]
    cells = {
        "type": "heatmap",
        "z": values,
        "x": [place * every for place in range(width)],
        "y": [row["tokens"] for row in probes],
        "colorscale": "Viridis",
        "reversescale": True,
        "colorbar": {"title": {"text": "bits"}},
    }
    layout = {
        "xaxis": {"title": {"text": "part of the stream from token"}},
        "yaxis": {"title": {"text": "after tokens"}},
    }
    return {"data": [cells], "layout": layout}
