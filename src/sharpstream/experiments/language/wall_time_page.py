"""What `wall-time` found: published times beside ours, who is faster than whom, the tables and the picture."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.evaluate.pairs import estimate_of
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.timing import Timed
from sharpstream.evaluate.verdicts import NOT_RUN, Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language.arms import SIZES
from sharpstream.experiments.simulations.common import select
from sharpstream.report.style import GREY, LIGHT, arm_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNTS = "counts-5"
SLEEP_EVERY = 20_000  # tokens
PUBLISHED = {  # seconds per 1000 tokens, width 512
    "sharp": 9.46,
    "sharp wake": 7.31,
    "sharp sleep": 43.03 * 1000 / SLEEP_EVERY,
    "rnn": 4.41,
    "lstm": 20.50,
    "gru": 14.29,
    "clockwork": 4.91,
    "transformer-5m": 116.40,
    "transformer-10m": 266.53,
}
LABELS = {
    "sharp": "SHARP, wake + sleep",
    "sharp wake": "SHARP, wake (block 1 at rest)",
    "sharp sleep": "SHARP, sleep spread over 20,000 tokens",
    "sharp, on-tick": "SHARP, wake + sleep, credit on-tick",
    "sharp wake, on-tick": "SHARP, wake, credit on-tick",
    "sharp, every step learns": "SHARP, wake + sleep (block 1 learns)",
    "sharp wake, every step learns": "SHARP, wake (block 1 learns)",
}
ORDER = tuple(dict.fromkeys([*LABELS, *SIZES["128"].neural, COUNTS]))  # in tables and pictures
CLOSE = 1.25  # times: a published time within this factor is the same
EVEN = 1.05  # times: two learners closer than this take the same time


def times(rows: Sequence[Row], width: int) -> dict[str, Timed]:
    """Seconds per 1000 tokens of each arm, in the order in which they are shown."""
    found = {arm: [row["seconds_per_1000"] for row in select(rows, width=width, arm=arm)] for arm in ORDER}
    return {arm: Timed(tuple(values)) for arm, values in found.items() if values}


def label(arm: str) -> str:
    """An arm's name for people."""
    return LABELS.get(arm, arm_style(arm).label)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Each published time beside ours, then who is faster than whom, at each width."""
    paper = times(rows, 512)
    found = [_time(arm, published, paper.get(arm)) for arm, published in PUBLISHED.items()]
    for width in sorted({512, *(row["width"] for row in rows)}, reverse=True):
        here = times(rows, width)
        found += [_order(width, here, other) for other in PUBLISHED if not other.startswith("sharp")]
    return found


def _time(arm: str, published: float, ours: Timed | None) -> Finding:
    claim = f"width 512, {label(arm)}: seconds per 1000 tokens"
    told = f"{published:.2f}" + (" for a full window per token" if arm.startswith("transformer") else "")
    if ours is None:
        return Finding(claim, told, "-", NOT_RUN)
    ratio = published / ours.seconds
    said = (
        f"{shown(ours)}: {ratio:.2f} times as fast as published"
        if ratio >= 1
        else f"{shown(ours)}: {1 / ratio:.2f} times slower than published"
    )
    apart = estimate_of(math.log(published / seconds) for seconds in ours.rounds)
    return judged(claim, told, said, [apart], Claim("within", math.log(CLOSE)))


def _order(width: int, here: Mapping[str, Timed], other: str) -> Finding:
    """Published and our ratio of SHARP's time to another's; the paper measured at width 512 only."""
    published = PUBLISHED["sharp"] / PUBLISHED[other]
    claim = f"width {width}: SHARP takes {'less' if published < 1 else 'more'} time than the {label(other)}"
    told = f"{published:.2f} times the other's" + ("" if width == 512 else " (at width 512)")
    if "sharp" not in here or other not in here:
        return Finding(claim, told, "-", NOT_RUN)
    ratio, learns = (here[arm].over(here[other]) for arm in ("sharp", "sharp, every step learns"))
    ratios = [a / b for a, b in zip(here["sharp"].rounds, here[other].rounds, strict=True)]
    low, high = _range(ratios)
    ours = f"{ratio:.2f} ({low:.2f} to {high:.2f} over rounds); {learns:.2f} while block 1 learns at every step"
    longer = estimate_of(math.copysign(1.0, 1 - published) * math.log(ratio) for ratio in ratios)
    return judged(claim, told, ours, [longer], Claim("below", math.log(EVEN)))


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def shown(timed: Timed) -> str:
    """Median and the fastest and slowest round."""
    low, high = _range(timed.rounds)
    return f"{timed.seconds:.3g} ({low:.3g} to {high:.3g})"


def page(rows: Sequence[Row]) -> str:
    """All arms at each width, and what a full window per token would cost here."""
    lines = []
    for width in sorted({row["width"] for row in rows}, reverse=True):
        lines += [
            f"Width {width}: median over rounds, fastest and slowest in brackets.",
            "",
            "| learner | seconds per 1000 tokens | published | parameters | active |",
            "|---|---|---|---|---|",
        ]
        for arm, timed in times(rows, width).items():
            row = select(rows, width=width, arm=arm)[0]
            published = f"{PUBLISHED[arm]:.2f}" if width == 512 and arm in PUBLISHED else "-"
            sizes = f"{row['parameters']:,} | {row['active_parameters']:,}"
            lines.append(f"| {label(arm)} | {shown(timed)} | {published} | {sizes} |")
        each = [row["seconds_per_sleep"] for row in select(rows, width=width, arm="sharp sleep")]
        lines += [
            "",
            f"One sleep: {np.median(each):.3g} s (published 43.03 s at width 512); every window is learned from.",
            "",
        ]
    return "\n".join([*lines, *_windows(rows)])


def _windows(rows: Sequence[Row]) -> list[str]:
    """One update per token instead of one per 1024 makes 1024 times as many of the updates that were timed."""
    here = times(rows, 512)
    costs = [f"{label(arm)} {1024 * here[arm].seconds:,.0f} s" for arm in SIZES["512"].transformers if arm in here]
    told = "; ".join(costs)
    return [
        f"The published Transformer times are of one full window per token. By the updates timed here: {told}."
    ] * bool(costs)


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """A panel of bars per width, longest width first; the published times beside width 512."""
    widths = sorted({row["width"] for row in rows}, reverse=True)
    shown_somewhere = {arm for width in widths for arm in times(rows, width)}
    arms = [arm for arm in ORDER if arm in shown_somewhere]
    drawing = new_figure(3.2 + 4.4 * len(widths), 1.8 + 0.42 * len(arms))
    panels = drawing.subplots(1, len(widths), sharey=True, sharex=True, squeeze=False)[0]
    for axes, width in zip(panels, widths, strict=True):
        _bars(axes, times(rows, width), arms, PUBLISHED if width == 512 else {})
        axes.set(title=f"width {width}", xlabel="seconds per 1000 tokens learned (logarithmic)")
    panels[0].set_yticks(range(len(arms)), [label(arm) for arm in arms])
    panels[0].invert_yaxis()
    drawing.suptitle(
        "What learning online costs, one thread (Transformers and counts have no width: the same in each panel)"
    )
    return drawing


def _bars(axes: "Axes", here: Mapping[str, Timed], arms: Sequence[str], published: Mapping[str, float]) -> None:
    thick = 0.38 if published else 0.6
    for place, arm in enumerate(arms):
        shift = thick / 2 if published else 0.0
        if arm in here:
            timed = here[arm]
            low, high = _range(timed.rounds)
            axes.barh(place - shift, timed.seconds, thick, color=arm_style(arm.split()[0].rstrip(",")).colour)
            axes.plot([low, high], [place - shift] * 2, color="black", linewidth=1.0)
            axes.annotate(f" {timed.seconds:.3g}", (high, place - shift), va="center", fontsize=8)
        if arm in published:
            axes.barh(place + shift, published[arm], thick, color=LIGHT, hatch="///", edgecolor=GREY)
            other = "*" if arm.startswith("transformer") else ""
            axes.annotate(f" {published[arm]:.3g}{other}", (published[arm], place + shift), va="center", fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.grid(False, axis="y")
    if published:
        axes.plot([], [], color="black", linewidth=1.0, label="fastest to slowest round")
        axes.barh(
            [0],
            [0],
            color=LIGHT,
            hatch="///",
            edgecolor=GREY,
            label="published, on other hardware\n(* a full window per token)",
        )
        axes.legend(loc="lower right")
