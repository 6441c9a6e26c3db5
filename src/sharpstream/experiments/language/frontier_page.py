"""What the frontier's rows say: the picture of bits against time, the ablation with its spread, the floors.

Means are over segments; a difference from the whole learner is paired on the same text, its spread the range.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.evaluate.pairs import difference_where_both, mean_interval
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim, verdict
from sharpstream.experiments.harness import Finding, judged
from sharpstream.report.scatter import bits_against_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE, TAKEN, WITH = "episodic", "episodic, no ", "episodic, with residual"
LAST = "forward_last"  # frozen on unseen text, with mixers and network as they were learned last, not in their mean
ALIKE = 0.0005  # bits: a smaller difference is none
PAYS = Claim("below", ALIKE)
FLOORS = (  # arm, metric, at most
    ("episodic", "bits", 1.51),
    ("episodic", "microseconds", 50.0),
    ("episodic fast", "bits", 1.55),
    ("episodic fast", "microseconds", 20.0),
    ("episodic", "forward", 1.70),
    ("episodic", "backward", 0.50),
)
FLOOR_TOKENS = 10_000_000  # the floors are for the first ten million characters


def by_segment(rows: Sequence[Row], arm: str, metric: str) -> dict[int, float]:
    """The value on each segment."""
    return {row["segment"]: row["value"] for row in rows if row["arm"] == arm and row["metric"] == metric}


def mean(rows: Sequence[Row], arm: str, metric: str) -> float | None:
    """Over the segments that were run; None when none was."""
    values = list(by_segment(rows, arm, metric).values())
    return float(np.mean(values)) if values else None


def arms_of(rows: Sequence[Row]) -> list[str]:
    """In the order they were run."""
    return list(dict.fromkeys(row["arm"] for row in rows))


def figure(rows: Sequence[Row]) -> "Figure":
    """Every arm once: processor seconds per 1000 characters (milliseconds a character), and bits."""
    points = {}
    for arm in arms_of(rows):
        bits, cost = mean(rows, arm, "bits"), mean(rows, arm, "microseconds")
        if bits is not None and cost:
            points[arm] = (cost / 1000.0, bits)
    return bits_against_seconds(points, title="The frontier: lower left is better")


def difference(rows: Sequence[Row], arm: str) -> str:
    """Bits above the whole learner, paired by segment: mean and range."""
    whole, other = by_segment(rows, WHOLE, "bits"), by_segment(rows, arm, "bits")
    paired = [other[segment] - whole[segment] for segment in other if segment in whole]
    if not paired or arm == WHOLE:
        return ""
    return f"{np.mean(paired):+.4f} ({min(paired):+.4f} to {max(paired):+.4f}, {len(paired)} segments)"


def page(rows: Sequence[Row]) -> str:
    """One line an arm."""
    lines = [
        "Means over segments. Time is processor time of one thread; compare it within one run only.",
        "",
        "| arm | segments | bits | above the whole learner | microseconds "
        "| frozen, unseen | …, as learned last | frozen, its first | …, as learned last |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    if by_segment(rows, WITH, "bits"):
        lines[0] += " Every arm but one is without the residual."
    metrics = ("bits", "microseconds", "forward", LAST, "backward", "backward_last")
    for arm in arms_of(rows):
        shown = [mean(rows, arm, metric) for metric in metrics]
        bits, cost, *frozen = ("" if v is None else f"{v:.4f}" if i != 1 else f"{v:.2f}" for i, v in enumerate(shown))
        segments = len(by_segment(rows, arm, "bits"))
        cells = (arm, segments, bits, difference(rows, arm), cost, *frozen)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The floors where ten million characters were read, and what each part earns, paired on the same text."""
    return [*_floors([row for row in rows if row["tokens"] >= FLOOR_TOKENS]), *_parts(rows)]


def _floors(full: Sequence[Row]) -> list[Finding]:
    """From one segment comes no verdict."""
    found = []
    for arm, metric, most in FLOORS if full else ():
        values = by_segment(full, arm, metric)
        gap = mean_interval([value - most for value in values.values()]) if values else None
        shown = ", ".join(f"{values[segment]:.4f}" for segment in sorted(values)) or "-"
        claim = f"{arm}, 10M characters: {metric} at most {most:g}"
        found.append(Finding(claim, "-", shown, verdict([gap], Claim("below"))))
    return found


def _parts(rows: Sequence[Row]) -> list[Finding]:
    """The whole learner against itself: without a part, frozen as it was last, with its residual where it has none."""
    whole, parts = by_segment(rows, WHOLE, "bits"), {"episodic fast": "all that `fast` leaves out"}
    parts |= {arm: arm.removeprefix(TAKEN) for arm in arms_of(rows) if arm.startswith(TAKEN)}
    found = []
    for arm, part in parts.items():
        gap = difference_where_both(whole, by_segment(rows, arm, "bits"))
        if gap is not None:
            found.append(judged(f"{part}: pays", "-", f"{gap.mean:+.4f} bits", [gap], PAYS))
    steady = difference_where_both(by_segment(rows, WHOLE, "forward"), by_segment(rows, WHOLE, LAST))
    if steady is not None:
        shown = f"{steady.mean:+.4f} bits"
        found.append(judged("frozen, unseen: the mean beats what was learned last", "-", shown, [steady], PAYS))
    more = difference_where_both(by_segment(rows, WITH, "bits"), whole)
    if more is not None:
        found.append(judged("residual: pays", "-", f"{more.mean:+.4f} bits", [more], PAYS))
    return found
