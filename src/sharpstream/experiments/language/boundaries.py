"""Across the boundary of two books: do windows on both sides differ more than windows of one book, as far apart?

In come the end of one text and the beginning of the next; out come rows by lag: pairs across the boundary, pairs within
either text, and pairs across when the words or letters of both are mixed, so that nothing changes there. A part of the
`nonstationarity` study.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.evaluate.nonstationarity import distance_across, distance_by_lag, histograms
from sharpstream.evaluate.pairs import estimate_of
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.simulations.common import draw_quartiles, select
from sharpstream.report.style import BLUE, GREEN, GREY, ORANGE, tokens_label
from sharpstream.streams import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KIND = "boundary"
WINDOW, LETTERS = 1024, 27
SIDE = 100  # windows on each side of a boundary


def boundary_rows(text: str, left: Tokens, right: Tokens, mixed: Sequence[tuple[Tokens, Tokens]]) -> list[Cells]:
    """Distances by lag; `mixed` are both texts after one another with letters shuffled, and with words shuffled."""
    a, b = (histograms(side, vocabulary=LETTERS, window=WINDOW) for side in (left, right))
    longest = min(len(a), len(b)) - 1
    within = (distance_by_lag(a, max_lag=longest) + distance_by_lag(b, max_lag=longest)) / 2
    references = []
    for one in zip(*mixed, strict=True):
        halves = [histograms(whole, vocabulary=LETTERS, window=WINDOW) for whole in one]
        references.append(np.mean([distance_across(h[: len(a)], h[len(a) :], longest) for h in halves], axis=0))
    curves = {
        "distance": distance_across(a, b, longest),
        "within": within,
        "shuffled": references[0],
        "words_shuffled": references[1],
    }
    about = {"text": text, "kind": KIND, "windows": len(a) + len(b)}
    return [
        {**about, "lag": lag, **{name: float(curve[lag - 1]) for name, curve in curves.items()}}
        for lag in range(1, longest + 1)
    ]


def _levels(rows: Sequence[Row]) -> list[tuple[float, float, float, float]]:
    """Across, within, letters shuffled and words shuffled of each boundary, mean over lags."""
    names = ("distance", "within", "shuffled", "words_shuffled")
    mine = select(rows, kind=KIND)
    texts = [select(mine, text=text) for text in dict.fromkeys(row["text"] for row in mine)]
    return [tuple(float(np.mean([row[name] for row in text])) for name in names) for text in texts]  # type: ignore[misc]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Whether a boundary shows, beside what changes within a book and where nothing does."""
    levels = _levels(rows)
    if not levels:
        return []
    across, within, _, words = np.median(levels, axis=0)
    more = sum(one[0] > one[1] for one in levels)
    ours = f"{across:.4f} across, {within:.4f} within, {words:.4f} with words mixed; more in {more} of {len(levels)}"
    gaps = [estimate_of(one[place] - one[0] for one in levels) for place in (1, 3)]
    return [
        judged("boundary: windows differ more across than within books", "not shown", ours, gaps[:1], Claim("below")),
        judged("boundary: more than where nothing changes", "not shown", ours, gaps[1:], Claim("below")),
    ]


def page(rows: Sequence[Row]) -> str:
    """The levels of each boundary, and their medians."""
    levels = _levels(rows)
    if not levels:
        return ""
    middle = " | ".join(f"{value:.4f}" for value in np.median(levels, axis=0))
    return "\n".join(
        [
            f"Across the boundary of two books: pairs of windows up to {SIDE} windows apart, mean over lags, median",
            f"over {len(levels)} boundaries; `within` is pairs of one book, as far apart, on either side.",
            "",
            "| across | within | letters of both mixed | words of both mixed |",
            "|---|---|---|---|",
            f"| {middle} |",
        ]
    )


def panel(axes: "Axes", rows: Sequence[Row]) -> None:
    """Across and within by distance, with both references."""
    placed = [Row({**row, "apart": row["lag"] * WINDOW}) for row in rows]
    texts = len({row["text"] for row in rows})
    draw_quartiles(axes, placed, "apart", "distance", colour=BLUE, label=f"across ({texts} boundaries)")
    draw_quartiles(axes, placed, "apart", "within", colour=GREEN, label="within either book", line="-.")
    draw_quartiles(axes, placed, "apart", "shuffled", colour=GREY, label="letters of both mixed", line="--")
    draw_quartiles(axes, placed, "apart", "words_shuffled", colour=ORANGE, label="words of both mixed", line=":")
    axes.set(title="PG-19, across the boundaries of books", xlabel="how far apart the two windows begin (characters)")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(tokens_label)
    axes.legend(loc="lower right")
