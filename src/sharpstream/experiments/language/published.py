"""A published table of bits beside ours: who is the best, who is better than whom, and at which level.

In come the rows of a language study and the numbers of the paper. Under `fair` learners are ranked by true bits; under
`paper` by what the paper would have printed of them (`as_printed`), and their levels are judged, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim, verdict
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language import tables
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import arm_style

Published = Mapping[str, tuple[float, float, float]]  # arm → forward, current, backward
UNCAPPED = "clockwork"  # its published bits are the only ones without the cap
FROZEN = tuple(f"{direction}_bits" for direction in DIRECTIONS)


def metric_printed(arm: str, direction: str) -> str:
    """Which of our numbers the paper would have printed: capped bits, but for one learner."""
    return f"{direction}_bits" if arm == UNCAPPED else f"{direction}_bits_clipped"


def as_printed(rows: Sequence[Row]) -> list[Row]:
    """The frozen scores alone, each as the paper would have printed it, under the names of the true ones."""
    names = {(arm, metric_printed(arm, d)): f"{d}_bits" for arm in tables.arms_of(rows) for d in DIRECTIONS}
    known = [(row, names.get((row["arm"], row["metric"]))) for row in rows]
    return [Row({**row, "metric": name}) for row, name in known if name is not None]


def best_of_neural(rows: Sequence[Row], published: Published) -> list[Finding]:
    """Who was published as the best, in each direction."""
    return [_best_of_neural(rows, place, published) for place in range(len(DIRECTIONS))]


def _best_of_neural(rows: Sequence[Row], place: int, published: Published) -> Finding:
    """Whether the learner that was published as the best of them is; nobody can say where it was not run."""
    best = min(published, key=lambda arm: published[arm][place])
    theirs = ", ".join(f"{arm_style(arm).label} {published[arm][place]:.2f}" for arm in dict.fromkeys((best, "sharp")))
    claim = f"{arm_style(best).label} has the fewest bits of the neural learners, {DIRECTIONS[place]}"
    known = tables.means_on_shared(rows, (*published, "transformer-small"), FROZEN[place])
    ranked = sorted(known.items(), key=lambda pair: pair[1])
    shown = ", ".join(f"{arm_style(arm).label} {bits:.3f}" for arm, bits in ranked) or "-"
    others = [tables.difference(rows, best, arm, FROZEN[place]) for arm in known if arm != best]
    word = verdict(others if best in known else [None], Claim("below", tables.HAIR))
    return Finding(claim, theirs, shown, word)


def neural_rivals(published: Published) -> dict[str, str]:
    """Arm → how far SHARP is published to be from it."""
    gaps = {
        arm: f"{published['sharp'][0] - values[0]:+.2f} forward" for arm, values in published.items() if arm != "sharp"
    }
    return gaps | {"transformer-small": "not published"}


def order(rows: Sequence[Row], published: Published) -> list[Finding]:
    """SHARP against every learner of the table, frozen on the future, scored as there."""
    printed, sharp = as_printed(rows), arm_style("sharp").label
    return [
        tables.better(printed, "sharp", arm, FROZEN[0], f"{sharp} is better than {arm_style(arm).label}, forward", gap)
        for arm, gap in neural_rivals(published).items()
        if arm in published
    ]


def levels(rows: Sequence[Row], published: Published, spreads: Published) -> list[Finding]:
    """Whether each learner is where it was published, in all three directions, to one published standard deviation."""
    return [_level(as_printed(rows), arm, values, spreads[arm]) for arm, values in published.items()]


def _level(printed: Sequence[Row], arm: str, values: Sequence[float], spreads: Sequence[float]) -> Finding:
    ours = [tables.estimate(printed, arm, metric) for metric in FROZEN]
    gaps = [  # in published standard deviations
        one and replace(one, mean=(one.mean - v) / s, low=(one.low - v) / s, high=(one.high - v) / s)
        for one, v, s in zip(ours, values, spreads, strict=True)
    ]
    theirs = " / ".join(f"{v:.2f} ± {s:.2f}" for v, s in zip(values, spreads, strict=True))
    shown = " / ".join(tables.plus_minus(one) or "-" for one in ours)
    claim = f"{arm_style(arm).label} has its published bits, {' / '.join(DIRECTIONS)}"
    return judged(claim, theirs, shown, gaps, Claim("within", 1.0))


def published_table(rows: Sequence[Row], published: Published) -> str:
    """The published table beside ours, scored as there, whatever the width here."""
    lines = []
    for arm, values in published.items():
        ours = [tables.plus_minus(tables.estimate(rows, arm, metric_printed(arm, d))) for d in DIRECTIONS]
        lines.append((arm_style(arm).label, *(f"{value:.2f}" for value in values), *ours))
    columns = ("learner", *(f"{d}, published" for d in DIRECTIONS), *(f"{d}, here" for d in DIRECTIONS))
    note = "Published: width 512. Both: bits capped at 4.755, but not the Clockwork RNN's. Sizes here as above."
    return markdown(Grid(title="The published table", columns=columns, rows=tuple(lines), note=note))
