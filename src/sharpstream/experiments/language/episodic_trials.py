"""Trials of options of the episodic learner: arms that differ in one setting, on the same segments of the same texts.

In come trials (a text, its segments, the arms), out come rows, differences paired by segment, and a table. The studies
`episodic-sleep` and `episodic-slow` are made of these.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import EpisodicConfig
from sharpstream.evaluate.pairs import Estimate, difference_where_both
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, Job, judged
from sharpstream.learners.contract import Tokens
from sharpstream.learners.episodic import Episodic
from sharpstream.report.grid import Grid, markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHUNK = 50_000
WITHOUT = "without"  # the arm that every other is compared with
WHOLE = EpisodicConfig(residual=False, mean_every=0)  # as it was when the trials were run
Changes = Mapping[str, Any]
Take = Callable[[int, int], Tokens]  # (segment, length) → tokens


@dataclass(frozen=True)
class Trial:
    """One question: a text, what every arm has in common, and what each arm changes."""

    what: str
    vocabulary: int
    take: Take
    arms: Mapping[str, Changes]
    common: EpisodicConfig = WHOLE


def jobs_of(trials: Mapping[str, Trial], sizes: Mapping[str, Changes]) -> list[Job]:
    """Segment after segment, so that what is finished first can be compared."""
    return [
        Job(
            f"{name}-{arm.replace(', ', '-').replace(' ', '-')}-{segment}",
            {"trial": name, "arm": arm, "segment": segment, "tokens": size["tokens"], "memory": size["memory"]},
        )
        for segment in range(max(size["segments"] for size in sizes.values()))
        for name, size in sizes.items()
        if segment < size["segments"]
        for arm in trials[name].arms
    ]


def measured(trial: Trial, settings: Mapping[str, Any]) -> tuple[np.ndarray, float]:
    """Bits of every token, and microseconds of processor time a token; one pass, chunk after chunk."""
    changes = {"memory": settings["memory"], **trial.arms[settings["arm"]]}
    config, tokens = replace(trial.common, **changes), trial.take(settings["segment"], settings["tokens"])
    Episodic(config, trial.vocabulary).learn(tokens[:10])  # compiles, outside the clock
    learner, bits, began = Episodic(config, trial.vocabulary), [], time.process_time()
    for start in range(0, len(tokens), CHUNK):
        bits.append(learner.learn(tokens[start : start + CHUNK]))
    return np.concatenate(bits), 1e6 * (time.process_time() - began) / len(tokens)


def rows_of(job: Job, values: Mapping[str, float], length: int) -> list[Cells]:
    """One row a number."""
    about = {name: job.settings[name] for name in ("trial", "arm", "segment", "memory")} | {"tokens": length}
    return [{**about, "seed": 0, "metric": metric, "value": value} for metric, value in values.items()]


def by_segment(rows: Sequence[Row], trial: str, arm: str, metric: str = "bits") -> dict[int, float]:
    """The value on each segment."""
    wanted = {"trial": trial, "arm": arm, "metric": metric}
    return {row["segment"]: row["value"] for row in rows if all(row[name] == v for name, v in wanted.items())}


def gain(rows: Sequence[Row], trial: str, arm: str, against: str = WITHOUT) -> Estimate | None:
    """Bits above the other arm, paired by segment; below 0 is better."""
    return difference_where_both(by_segment(rows, trial, arm), by_segment(rows, trial, against))


def shown(found: Estimate | None) -> str:
    """−0.0012 (−0.0020 to −0.0004), or the value alone where there is one."""
    if found is None:
        return ""
    if found.n == 1:
        return f"{found.mean:+.4f} (one)"
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def better(rows: Sequence[Row], trial: str, arm: str, against: str, claim: str, band: float) -> Finding:
    """Whether an arm costs fewer bits than another."""
    found = gain(rows, trial, arm, against)
    return judged(claim, "-", f"{shown(found)} bits", [found], Claim("below", band))


def table(rows: Sequence[Row], name: str, trial: Trial) -> str:
    """One line an arm: bits, what it earns, what it costs."""
    plain, lines = by_segment(rows, name, WITHOUT, "microseconds"), []
    for arm in trial.arms:
        bits, cost = by_segment(rows, name, arm), by_segment(rows, name, arm, "microseconds")
        if bits:
            more = difference_where_both(cost, plain)
            earned = "" if arm == WITHOUT else shown(gain(rows, name, arm))
            slower = "" if arm == WITHOUT or more is None else f"{more.mean:+.1f}"
            lines.append((arm, len(bits), f"{fmean(bits.values()):.4f}", earned, f"{fmean(cost.values()):.1f}", slower))
    if not lines:
        return ""
    tokens = next(row["tokens"] for row in rows if row["trial"] == name)
    title = f"{trial.what}: {tokens:,} symbols a segment"
    columns = ("arm", "segments", "bits", "bits above without", "µs", "µs above without")
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines)))


def draw_gains(axes: "Axes", rows: Sequence[Row], name: str, trial: Trial, colour: str) -> None:
    """Every segment's difference a dot, their mean a bar; left of 0 is better."""
    arms = [arm for arm in trial.arms if arm != WITHOUT and by_segment(rows, name, arm)]
    without = by_segment(rows, name, WITHOUT)
    for place, arm in enumerate(arms):
        values = [bits - without[s] for s, bits in by_segment(rows, name, arm).items() if s in without]
        axes.barh([place], [fmean(values)] if values else [0.0], color=colour, alpha=0.35)
        axes.plot(values, [place] * len(values), "o", color=colour, markersize=4)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set(title=trial.what, yticks=range(len(arms)), yticklabels=arms, xlabel="bits above without")
    axes.locator_params(axis="x", nbins=5)  # four decimals need room
    axes.invert_yaxis()
