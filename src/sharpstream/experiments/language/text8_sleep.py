"""text8-sleep: what sleep, the slow-down and trained upper memories are worth, each taken away alone.

The published arms without them also had every upper encoder weight at 1.0, which kills the upper levels; that control
stands here as an arm of its own, and all others start from the same weights.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharpstream.evaluate.rows import Row
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Finding
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.experiments.language.variants import Change, ablation
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANGES: dict[str, Change] = {
    "sharp": lambda sharp: sharp,
    "no-sleep": recipes.never_sleeps,
    "no-slow-down": recipes.no_slow_down,
    "wake-only": recipes.wake_only,
    "dead_upper_levels": recipes.dead_upper_levels,
    "L=1": recipes.one_level_as_active,
}


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Published: sleep is best on all three probes (no figures were given)."""
    return whole_is_best(rows, list(CHANGES), "better")


def whole_is_best(rows: Sequence[Row], arms: Sequence[str], published: str) -> list[Finding]:
    """The first arm, which has everything, against each of the others: before learning, and on each probe."""
    first, *others = arms
    measures = {"before learning": ("bits", "not published")}
    measures |= {name: (f"{name}_bits", published) for name in DIRECTIONS}
    return [_helps(rows, first, arm, when, *measures[when]) for arm in others for when in measures]


def _helps(rows: Sequence[Row], first: str, arm: str, when: str, metric: str, published: str) -> Finding:
    claim = f"{arm_style(first).label} is better than {arm_style(arm).label.removeprefix('SHARP, ')}, {when}"
    return tables.better(rows, first, arm, metric, claim, published)


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """The three probes as bars."""
    return pictures.known_figures({"probes": lambda: pictures.probes_figure(rows, tables.arms_of(rows))})


EXPERIMENT = ablation(
    "text8-sleep",
    "what sleep, slow-down and trained memories are worth",
    CHANGES,
    findings,
    more_figures,
    twice=("sharp", "no-sleep", "dead_upper_levels"),
)
