"""text8-sleep-between: the arms of `text8-sleep` with GELU between SHARP's linears, which is ours and not the paper's.

At depth 2 the published read-out has nothing between its two linears, so it is one linear map. Whether the hierarchy is
worth little because of that, or by itself, is what this asks.
"""

from collections.abc import Sequence

from sharpstream.experiments.harness import Finding, Row
from sharpstream.experiments.language import text8_sleep
from sharpstream.experiments.language.arms import BETWEEN
from sharpstream.experiments.language.variants import Change, ablation

CHANGES: dict[str, Change] = {
    BETWEEN: text8_sleep.CHANGES["sharp"],
    **{arm: change for arm, change in text8_sleep.CHANGES.items() if arm != "sharp"},
}


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of `text8-sleep`; nobody has published them of this one."""
    return text8_sleep.whole_is_best(rows, list(CHANGES), "-")


EXPERIMENT = ablation(
    "text8-sleep-between",
    "what sleep, slow-down and trained memories are worth with GELU between the linears",
    CHANGES,
    findings,
    text8_sleep.more_figures,
    of=BETWEEN,
)
