"""An experiment on the page: the command, published beside ours with verdicts, and its curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sharpstream.evaluate.rows import Row
from sharpstream.experiments.harness import experiment_named, read_rows, shown_findings
from sharpstream.report.style import arm_style
from sharpstream.showing.page import Figure, Section, figure, table

FAMILIES = ("k", "trained_on", "width", "segment")  # columns that make panels of their own


def study_section(path: Path, number: int) -> Section:
    """Everything about one experiment."""
    rows = read_rows(path)
    experiment, first = experiment_named(rows[0]["experiment"]), rows[0]
    found = [(f.claim, f.published, f.ours, f.verdict) for f in shown_findings(experiment, rows)]
    about = [
        ("command", first["command"]),
        ("scale and protocol", f"{first['scale']}, {first['protocol']}"),
        ("rows", len(rows)),
        ("made with", first["software"]),
        ("on", first["hardware"]),
    ]
    parts = [table(("what was run", ""), about), table(("claim", "published", "here", "verdict"), found)]
    for place, (told, drawing) in enumerate(drawings(rows)):
        parts.append(figure(f"study-{number}-{place}", drawing, told))
    return Section(f"{experiment.name}: {experiment.title}", tuple(parts))


def drawings(rows: Sequence[Row]) -> list[tuple[str, Figure]]:
    """A figure for each panel of curves: bits (rows called `curve`) or wrong guesses along the tokens."""
    value = "value" if any(row.get("metric") == "curve" for row in rows) else "error"
    kept = [row for row in rows if row.get("metric", "curve") in ("curve", "error") and row.get(value) is not None]
    kept = [row for row in kept if "tokens" in row and ("arm" in row or "block" in row)]
    family = next((name for name in FAMILIES if any(name in row for row in kept)), None)
    panels: dict[Any, list[Row]] = {}
    for row in kept:
        panels.setdefault(row.get(family) if family else None, []).append(row)
    told = "bits a token" if value == "value" else "share of wrong guesses"
    return [
        (f"{told} along the stream" + (f", {family} {key}" if family else ""), curves(part, value, told))
        for key, part in panels.items()
    ]


def curves(rows: Sequence[Row], value: str, told: str) -> Figure:
    """One line an arm and repetition; the repetitions of an arm toggle together."""
    lines: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        arm = str(row["arm"]) if "arm" in row else f"{row['block']} depth {row.get('depth')}"
        lines.setdefault((arm, row.get("seed")), []).append(row)
    seen: set[str] = set()
    data = []
    for (arm, seed), part in lines.items():
        style = arm_style(arm)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [row["tokens"] for row in part],
                "y": [row[value] for row in part],
                "name": arm,
                "legendgroup": arm,
                "showlegend": arm not in seen,
                "hovertemplate": f"%{{y:.4f}} at %{{x:,}}<extra>seed {seed}</extra>",
                "line": {"color": style.colour, "width": 1.4},
            }
        )
        seen.add(arm)
    layout = {"xaxis": {"title": {"text": "tokens"}}, "yaxis": {"title": {"text": told}}, "legend": {"y": 1.0}}
    return {"data": data, "layout": layout}
