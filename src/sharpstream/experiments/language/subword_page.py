"""The page of `pg19-subword`: true bits per token, accuracy and bits per character first, what was published last."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from sharpstream.evaluate.bits import PAPER_CAP
from sharpstream.evaluate.rows import Row
from sharpstream.experiments.language import pg19, pictures, tables
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.experiments.language.published import Published, published_table
from sharpstream.experiments.language.rarity import rarity_table
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import arm_style

CAP = (
    f"The published figures cap each token at {PAPER_CAP} bits, where guessing evenly among the symbols costs 15. "
    "Every token with less than a chance of 1 in 27 counts the same there, so the capped figure is nearly a function "
    "of how many tokens were likely, and says little about the rest."
)


def arms_shown(rows: Sequence[Row]) -> list[str]:
    """The arms of a picture: what has read all of the text, but for those that a better count model stands for."""
    most = max(row["token_budget"] for row in rows)
    whole = tables.arms_of(row for row in rows if row["token_budget"] == most)
    return [arm for arm in whole if arm not in ("uniform", "counts-1", "counts-2")]


def page(rows: Sequence[Row], published: Published, options: Mapping[str, str]) -> str:
    """Bits, frozen books, rare tokens, adaptation, hearing, what is kept, options (→ arm), the published table."""
    every, rows = rows, [row for row in rows if row["arm"] not in options]
    bits = ("bits", *(f"{direction}_bits" for direction in DIRECTIONS))
    return tables.joined(
        (
            main_table(rows),
            frozen_table(rows),
            rarity_table(rows, _ranked(rows), "What a rare token costs, which the cap hides"),
            pg19.adaptation_table(rows, unit="token"),
            tables.difference_table(rows, "sharp", bits, "SHARP against each"),
            tables.hearing_table(rows, "What each level hears of the one above"),
            tables.retention_table(rows, "What is kept", baseline="counts-2"),
            options_table(every, options),
            published_table(rows, published),
            CAP,
        )
    )


def main_table(rows: Sequence[Row]) -> str:
    """Before learning from each token: bits, accuracy, bits per character; cost and size."""
    lines = []
    for arm in _ranked(rows):
        cells: list[Cell] = [tables.plus_minus(tables.estimate(rows, arm, m)) for m in ("bits", "bits_per_character")]
        seconds, size = tables.mean_of(rows, arm, "seconds_per_1000"), tables.mean_of(rows, arm, "parameters")
        cost: tuple[Cell, ...] = (_known(seconds, ".3g"), None if math.isnan(size) else int(size))
        capped = _known(tables.mean_of(rows, arm, "bits_clipped"), ".3f")
        lines.append((arm_style(arm).label, *cells, _share(rows, arm, "accuracy"), capped, *cost))
    columns = ("learner", "bits per token", "bits per character", "accuracy", "capped", "s / 1000 tokens", "parameters")
    note = (
        "Before learning from each token, mean ± half of the 95 % interval over seeds (without ±: one run). True bits; "
        f"`capped` is the mean with each token capped at {PAPER_CAP}. Every neural arm has the published step size: "
        "none was tuned on this text. Seconds are those of these very runs, with whatever ran beside them."
    )
    return markdown(Grid(title="All learners, prequential", columns=columns, rows=tuple(lines), note=note))


def frozen_table(rows: Sequence[Row]) -> str:
    """Held-out books, the last books and the first, with learning off."""
    metrics = ("bits", "bits_per_character", "accuracy")
    lines = []
    for arm in _ranked(rows):
        cells: list[Cell] = []
        for direction in DIRECTIONS:
            found = [tables.plus_minus(tables.estimate(rows, arm, f"{direction}_{m}")) for m in metrics[:2]]
            cells += [*found, _share(rows, arm, f"{direction}_accuracy")]
        if any(cells):
            lines.append((arm_style(arm).label, *cells))
    columns = ("learner", *(f"{d}, {m.replace('_', ' ')}" for d in DIRECTIONS for m in metrics))
    note = "True bits per token with learning off: held-out books, the last three books read, the first three."
    return markdown(Grid(title="Frozen", columns=columns, rows=tuple(lines), note=note)) if lines else ""


def options_table(rows: Sequence[Row], options: Mapping[str, str]) -> str:
    """What Adam keeps of the output layer, and the ε it is given: bits on the text that an option and its arm share."""
    lines = []
    for option, base in options.items():
        tokens, gaps = pictures.paired_curve(rows, option, base)
        if not tokens:
            continue
        ours = [row["value"] for row in rows if row["arm"] == option and row["metric"] == "curve"]
        cost = tables.mean_of(rows, option, "seconds_per_1000") / tables.mean_of(rows, base, "seconds_per_1000")
        shown = f"{fmean(ours):.3f}", f"{fmean(gaps):+.3f}", f"{gaps[-1]:+.3f}", f"{cost:.2f}"
        lines.append((arm_style(option).label, f"{tokens[-1]:,}", *shown))
    columns = ("option", "first tokens", "bits", "more than its arm", "the same, at their end", "time, as a share")
    note = "Bits before learning on what both have read, one run each; `sharp bench output` measures the time alone."
    return markdown(Grid(title="Options of Adam", columns=columns, rows=tuple(lines), note=note)) if lines else ""


def _ranked(rows: Sequence[Row]) -> list[str]:
    means = {arm: tables.mean_of(rows, arm, "bits") for arm in tables.arms_of(rows)}
    return sorted(means, key=lambda arm: math.inf if math.isnan(means[arm]) else means[arm])


def _known(value: float, form: str) -> str | None:
    return None if math.isnan(value) else format(value, form)


def _share(rows: Sequence[Row], arm: str, metric: str) -> str | None:
    return _known(tables.mean_of(rows, arm, metric), ".2%")
