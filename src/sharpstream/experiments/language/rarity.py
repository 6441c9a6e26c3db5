"""What a symbol costs by how often it was read before: what a cap on every token hides.

In come a run's learner, frozen, a text that it has not read, and what it has; out come the mean bits of the text's
tokens in classes of their counts, as rows, and the table of all learners from them.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments.language import tables
from sharpstream.learners.contract import Learner, Tokens
from sharpstream.report.grid import Cell, Grid, markdown
from sharpstream.report.style import arm_style

LEAST = (0, 1, 10, 100, 1_000, 10_000)  # a class begins at so many times; the last has no end
BITS, SHARE = "bits_by_count", "share_by_count"


def rarity_rows(learner: Learner, text: Tokens, learned: Tokens, stamp: Cells) -> list[Cells]:
    """Bits, and share of the text, of the tokens that were read so often; `place` is where their class begins."""
    seen = np.bincount(learned, minlength=int(text.max()) + 1)[text]
    bits, rows = learner.evaluate(text), list[Cells]()
    for least, next_least in pairwise((*LEAST, np.inf)):
        here = (seen >= least) & (seen < next_least)
        if here.any():
            rows.append({**stamp, "metric": BITS, "place": int(least), "value": float(bits[here].mean())})
            rows.append({**stamp, "metric": SHARE, "place": int(least), "value": float(here.mean())})
    return rows


def rarity_table(rows: Sequence[Row], arms: Sequence[str], title: str) -> str:
    """One line a learner, the shares of the text first; nothing where it was not measured."""
    measured = [arm for arm in arms if any(row["arm"] == arm and row["metric"] == BITS for row in rows)]
    if not measured:
        return ""
    lines = [("share of the tokens", *_classes(rows, measured[0], SHARE, ".1%"))]
    lines += [(arm_style(arm).label, *_classes(rows, arm, BITS, ".2f")) for arm in measured]
    names = ["never", *(f"{low:,} to {high - 1:,}" for low, high in pairwise(LEAST[1:])), f"{LEAST[-1]:,} or more"]
    note = "True bits, frozen on the first held-out book, by how often the token came in what was learned from."
    return markdown(Grid(title=title, columns=("read before", *names), rows=tuple(lines), note=note))


def _classes(rows: Sequence[Row], arm: str, metric: str, form: str) -> list[Cell]:
    """The mean over seeds in each class."""
    means = [tables.mean_of([r for r in rows if r["place"] == least], arm, metric) for least in LEAST]
    return [None if math.isnan(mean) else format(mean, form) for mean in means]
