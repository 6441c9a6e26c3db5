"""text8-threshold: how surprised the first memory must be to learn, and what happens when it always does."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from sharpstream.config import SharpConfig
from sharpstream.evaluate.pairs import estimate_of
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.variants import Change, ablation
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def with_threshold(sharp: SharpConfig, tau: float) -> SharpConfig:
    """The same SHARP with another gate, awake and asleep."""
    return replace(sharp, tau=tau)


THRESHOLDS = (1e-2, 0.0, 1e-3, 1e-1)  # the recipe's first
CHANGES: dict[str, Change] = {f"tau-{tau:g}": partial(with_threshold, tau=tau) for tau in THRESHOLDS}
RECIPE, FREE, BEST = "tau-0.01", "tau-0", ("tau-0.001", "tau-0.01")
NEAR_ZERO = 0.05  # a share of updates below this is "near 0"
WORSE = 0.05  # bits lost against the gated one from the second third of the stream to the last: degrading


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Updates fall to near 0; 1e-3 and 1e-2 are best; without a gate things get worse with time."""
    return [_updates(rows), _best(rows), _degrades(rows)]


def _updates(rows: Sequence[Row]) -> Finding:
    gated = {arm: [_last(part, arm, "gated") for part in _parts(rows, arm)] for arm in CHANGES if arm != FREE}
    above = [estimate_of(share - NEAR_ZERO for share in shares) for shares in gated.values()]
    shown = _listed({arm: fmean(shares) for arm, shares in gated.items() if shares})
    return judged("gated updates fall to near 0", "near 0", shown, above, Claim("below"))


def _best(rows: Sequence[Row]) -> Finding:
    """Each of the two against each of the others, paired by part."""
    bits = {arm: tables.mean_of(rows, arm, "bits") for arm in CHANGES}
    others = [arm for arm in CHANGES if arm not in BEST]
    gaps = [tables.difference(rows, ours, theirs, "bits") for ours in BEST for theirs in others]
    claim = "1e-3 and 1e-2 are the best thresholds (prequential bits)"
    ranked = {arm: bits[arm] for arm in sorted(bits, key=lambda arm: bits[arm])}
    return judged(claim, "best", _listed(ranked), gaps, Claim("below", tables.HAIR))


def _degrades(rows: Sequence[Row]) -> Finding:
    """More bits lost in the last third than in the second, and by more than a little."""
    each = [_thirds(pictures.paired_curve(part, FREE, RECIPE)[1]) for part in _parts(rows, FREE)]
    known = [thirds for thirds in each if not math.isnan(sum(thirds))]
    shown = ", ".join(f"{fmean(third):+.3f}" for third in zip(*known, strict=True))
    kept = estimate_of(WORSE - (third - second) for _, second, third in known)
    ours = f"{shown} bits against the recipe's gate in each third"
    return judged("without a gate it degrades over time", "degrades", ours, [kept], Claim("below"))


def _parts(rows: Sequence[Row], arm: str) -> list[list[Row]]:
    """The rows of each part of the text that an arm has read."""
    parts = dict.fromkeys(row["segment"] for row in rows if row["arm"] == arm)
    return [[row for row in rows if row["segment"] == part] for part in parts]


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{arm_style(arm).label} {value:.3f}" for arm, value in values.items())


def _thirds(curve: Sequence[float]) -> list[float]:
    """The mean of each third: paired with another arm, for a text's own hard stretches look like degrading."""
    size = len(curve) // 3
    return [fmean(curve[i * size : (i + 1) * size]) if size else math.nan for i in range(3)]


def _last(rows: Sequence[Row], arm: str, metric: str) -> float:
    curve = pictures.mean_curve(rows, arm, metric)[1]
    return curve[-1] if curve else math.nan


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """The share of updates along the stream, and the three probes."""
    arms = tables.arms_of(rows)
    drawings = {
        "gate": lambda: pictures.gate_figure(rows, arms),
        "probes": lambda: pictures.probes_figure(rows, arms),
    }
    return pictures.known_figures(drawings)


EXPERIMENT = ablation(
    "text8-threshold", "how surprised the first memory must be to learn", CHANGES, findings, more_figures
)
