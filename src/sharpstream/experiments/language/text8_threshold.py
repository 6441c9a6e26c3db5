"""text8-threshold: how surprised the first memory must be to learn, and what happens when it always does."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from sharpstream.config import SharpConfig
from sharpstream.experiments.harness import Finding, Row
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.variants import Change, ablation
from sharpstream.experiments.simulations.common import holds
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def with_threshold(sharp: SharpConfig, tau: float) -> SharpConfig:
    """The same SHARP with another gate, awake and asleep."""
    return replace(sharp, tau=tau)


THRESHOLDS = (1e-2, 0.0, 1e-3, 1e-1)  # the recipe's first
CHANGES: dict[str, Change] = {f"tau-{tau:g}": partial(with_threshold, tau=tau) for tau in THRESHOLDS}
RECIPE, FREE, BEST = "tau-0.01", "tau-0", {"tau-0.001", "tau-0.01"}
NEAR_ZERO = 0.05  # a share of updates below this is "near 0"
WORSE = 0.05  # bits lost against the gated one from the second third of the stream to the last: degrading


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Updates fall to near 0; 1e-3 and 1e-2 are best; without a gate things get worse with time."""
    gated = {arm: _last(rows, arm, "gated") for arm in CHANGES if arm != FREE}
    bits = {arm: tables.mean_of(rows, arm, "bits") for arm in CHANGES}
    ranked = sorted(bits, key=lambda arm: bits[arm])
    thirds = _thirds(pictures.paired_curve(rows, FREE, RECIPE)[1])
    fallen = max(gated.values()) < NEAR_ZERO
    claim = "1e-3 and 1e-2 are the best thresholds (prequential bits)"
    return [
        holds("gated updates fall to near 0", "near 0", _listed(gated), fallen, needs=gated.values()),
        holds(claim, "best", _listed({arm: bits[arm] for arm in ranked}), set(ranked[:2]) == BEST, needs=bits.values()),
        holds(
            "without a gate it degrades over time",
            "degrades",
            f"{', '.join(f'{bits:+.3f}' for bits in thirds)} bits against the recipe's gate in each third",
            thirds[2] - thirds[1] > WORSE,
            needs=thirds,
        ),
    ]


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
