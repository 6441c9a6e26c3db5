"""The tables of a language study, in Markdown, from its long rows: bits, cost, paired differences, retention."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from sharpstream.errors import ConfigError
from sharpstream.evaluate.pairs import Estimate, difference_where_both, mean_interval
from sharpstream.evaluate.retention import RetentionMatrix, Segment
from sharpstream.evaluate.rows import Row, Table
from sharpstream.evaluate.transfer import backward_transfer, forgetting, recall_gain
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import arm_style, tokens_label

Key = tuple[int, int, int]  # segment, seed, tokens learned from: only what agrees in all three is compared
HAIR = 0.005  # bits: a smaller difference is none


def arms_of(rows: Iterable[Row]) -> list[str]:
    """In order of appearance."""
    return list(dict.fromkeys(row["arm"] for row in rows))


def by_repetition(rows: Iterable[Row], arm: str, metric: str) -> dict[Key, float]:
    """The value of each segment, seed and budget of tokens."""
    return {
        (row["segment"], row["seed"], row["token_budget"]): row["value"]
        for row in rows
        if row["arm"] == arm and row["metric"] == metric
    }


def estimate(rows: Iterable[Row], arm: str, metric: str) -> Estimate | None:
    """Mean and 95 % interval over segments and seeds; None when it was not measured."""
    values = list(by_repetition(rows, arm, metric).values())
    return mean_interval(values) if values else None


def mean_of(rows: Iterable[Row], arm: str, metric: str) -> float:
    """The mean, NaN when it was not measured."""
    found = estimate(rows, arm, metric)
    return math.nan if found is None else found.mean


def means_on_shared(rows: Sequence[Row], arms: Iterable[str], metric: str) -> dict[str, float]:
    """The mean of each arm that was run, over the repetitions that all of those have: nobody has the easier text."""
    found = {arm: by_repetition(rows, arm, metric) for arm in arms}
    known = {arm: values for arm, values in found.items() if values}
    shared = set.intersection(*(set(values) for values in known.values())) if known else set()
    return {arm: fmean(values[key] for key in shared) for arm, values in known.items()} if shared else {}


def main_table(rows: Sequence[Row], title: str) -> str:
    """True bits first, capped ones beside, cost and size; the regime is a column wherever learners differ in it."""
    metrics = ("bits", *(f"{d}_bits" for d in DIRECTIONS), *(f"{d}_bits_clipped" for d in DIRECTIONS))
    table = Table([row for row in rows if row["metric"] == "bits"], mixed=True)
    regimes = {row["arm"]: table.regime_label(row) for row in table.rows}
    lines = []
    for arm in sorted(arms_of(rows), key=lambda name: _sortable(mean_of(rows, name, "bits"))):
        cells: list[Cell] = [plus_minus(estimate(rows, arm, metric)) for metric in metrics]
        sizes = [mean_of(rows, arm, metric) for metric in ("parameters", "active_parameters")]
        counts: list[Cell] = [None if math.isnan(size) else int(size) for size in sizes]
        seconds = mean_of(rows, arm, "seconds_per_1000")
        lines.append((arm_style(arm).label, *cells, _short(seconds), *counts, regimes.get(arm, "")))
    columns = ("learner", "prequential", *DIRECTIONS, *(f"{d}, capped" for d in DIRECTIONS))
    columns += ("s / 1000 tokens", "parameters", "active", "regime")
    shared = set(regimes.values())
    if len(shared) == 1:  # said once, below
        columns, lines = columns[:-1], [line[:-1] for line in lines]
    note = (
        "Bits per character, mean ± half of the 95 % interval over segments (without ±: one segment); "
        "true bits unless they are called capped. "
        "Seconds are those of these very runs, with whatever ran beside them; `wall-time` measures each learner alone."
    ) + (f" Regime of all: {shared.pop()}." if len(shared) == 1 else "")
    if any("adaptive" in regime for regime in regimes.values()):
        note += " What is adaptive goes on learning while it is scored; backward, it copies text that it still has."
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note))


def difference_table(rows: Sequence[Row], ours: str, metrics: Sequence[str], title: str) -> str:
    """ours − theirs, paired over segments and seeds: negative means ours is better. Nothing where ours was not run."""
    lines = []
    for arm in arms_of(rows):
        cells = [plus_minus(difference(rows, ours, arm, metric), sign=True) for metric in metrics]
        if arm != ours and any(cells):
            lines.append((arm_style(arm).label, *cells))
    if not lines:
        return ""
    columns = ("against", *(metric.replace("_", " ") for metric in metrics))
    note = f"{arm_style(ours).label} minus the other, paired by segment and seed; negative is in its favour."
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note))


def hearing_table(rows: Sequence[Row], title: str) -> str:
    """Bits lost, frozen on the future, when what a level hears from above is replaced by its running mean."""
    heard = [row for row in rows if row["metric"] == "heard"]
    levels = sorted({row["place"] for row in heard})
    lines = []
    for arm in arms_of(heard):
        at = [[row["value"] for row in heard if row["arm"] == arm and row["place"] == level] for level in levels]
        lines.append((arm_style(arm).label, *(f"{fmean(values):+.4f}" if values else None for values in at)))
    note = "Mean over segments and seeds; 0 means that the level hears nothing that matters at that moment."
    columns = ("arm", *(f"level {level}" for level in levels))
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note)) if lines else ""


def difference(rows: Sequence[Row], ours: str, theirs: str, metric: str) -> Estimate | None:
    """The paired difference over what both were run on; None where there is nothing.

    Where one has seeds that the other has not, the seeds of a segment are averaged first: the segment is the pair.
    """
    left, right = by_repetition(rows, ours, metric), by_repetition(rows, theirs, metric)
    if {key[1] for key in left} != {key[1] for key in right}:
        left, right = _over_seeds(left), _over_seeds(right)
    return difference_where_both(left, right)


def _over_seeds(values: Mapping[Key, float]) -> dict[Key, float]:
    """One value for each segment and budget: the mean of its seeds."""
    groups: dict[Key, list[float]] = {}
    for (segment, _, tokens), value in values.items():
        groups.setdefault((segment, 0, tokens), []).append(value)
    return {key: fmean(group) for key, group in groups.items()}


def better(rows: Sequence[Row], ours: str, theirs: str, metric: str, claim: str, published: str) -> Finding:
    """Whether ours has fewer bits, paired."""
    gap = difference(rows, ours, theirs, metric)
    shown = "-" if gap is None else f"{plus_minus(gap, sign=True)} bits (n = {gap.n})"
    return judged(claim, published, shown, [gap], Claim("below", HAIR))


def joined(parts: Iterable[str]) -> str:
    """Tables one below the other; those that have nothing to say are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part)


def retention_table(rows: Sequence[Row], title: str, baseline: str = "counts-5") -> str:
    """What is kept, from the probe × time matrix; positive is good. Difficulty is that of the count model."""
    lines = []
    for arm in arms_of(rows):
        measures = [_measures(rows, arm, key, baseline) for key in by_repetition(rows, arm, "bits")]
        known = [list(filter(lambda value: not math.isnan(value), column)) for column in zip(*measures, strict=True)]
        if any(known):
            lines.append(
                (arm_style(arm).label, *(plus_minus(mean_interval(c) if c else None, sign=True) for c in known))
            )
    columns = ("learner", "backward transfer", "forgetting", "recall gain", "recall gain, difficulty-corrected")
    note = "In bits, positive is good: less on old text now than when it was new; unseen minus first seen."
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note))


def _measures(rows: Sequence[Row], arm: str, key: Key, baseline: str) -> tuple[float, float, float, float]:
    matrix = retention_of(rows, arm, key)
    if matrix is None:
        return (math.nan,) * 4
    easy = retention_of(rows, baseline, key)
    corrected = math.nan
    if easy is not None and easy.bits.shape == matrix.bits.shape:
        corrected = _recall_gain(matrix.corrected(easy.bits))
    return backward_transfer(matrix), forgetting(matrix), _recall_gain(matrix), corrected


def _recall_gain(matrix: RetentionMatrix) -> float:
    """At the last time but one: at the end nothing of the stream is left unseen."""
    try:
        return recall_gain(matrix, row=-2)
    except ConfigError:  # the matrix is too small to say
        return math.nan


def retention_of(rows: Iterable[Row], arm: str, key: Key) -> RetentionMatrix | None:
    """The probe × time matrix of one run; the last time has every segment learned."""
    cells = {
        (row["tokens"], row["place"]): row["value"]
        for row in rows
        if row["metric"] == "retention"
        and row["arm"] == arm
        and (row["segment"], row["seed"], row["token_budget"]) == key
    }
    times, places = sorted({time for time, _ in cells}), sorted({place for _, place in cells})
    if len(times) < 2:
        return None
    every = min(b - a for a, b in pairwise(times))
    spans = [(place * every, (place + 1) * every) for place in places]
    matrix = RetentionMatrix([Segment(f"from {tokens_label(start)}", start, end) for start, end in spans])
    for time in times:
        matrix.add(time, [cells.get((time, place), math.nan) for place in places])
    return matrix


def plus_minus(found: Estimate | None, *, sign: bool = False) -> str | None:
    """2.320 ± 0.060; the mean alone when there is one repetition."""
    if found is None:
        return None
    if not math.isfinite(found.mean):
        return "diverged"
    mean = f"{found.mean:+.3f}" if sign else f"{found.mean:.3f}"
    return mean if found.n == 1 else f"{mean} ± {found.half_width:.3f}"


def _short(value: float) -> str | None:
    return None if math.isnan(value) else f"{value:.3g}"


def _sortable(value: float) -> float:
    return math.inf if math.isnan(value) else value
