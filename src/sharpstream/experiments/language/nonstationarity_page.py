"""What the curves of `nonstationarity` say: the shape of each, the claims, the table and the picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.evaluate.pairs import estimate_of
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language import boundaries
from sharpstream.experiments.simulations.common import draw_quartiles, select
from sharpstream.report.style import BLUE, GREY, ORANGE, new_figure, styled, tokens_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW, LETTERS = 1024, 27
FEW = 10  # windows: what "small lags" means here
KINDS = {
    "text8": "text8 (Wikipedia), pieces of 10M characters",
    "book": "PG-19, whole books",
    "pg19": "PG-19, books in a row",
    "python-docs": "Python's help pages",
}
FLAT = 0.1  # a curve that moves by less than this share of its rise over the last half of its lags is flat
NOISE = 0.083  # expected of two windows of 1024 independent letters of English
CAUTION = """\
Two references, in both of which nothing changes along the text: its letters shuffled (independent letters), and its
words shuffled, which is lower because words space their letters more evenly than chance.

A rise that ends in a plateau shows that neighbouring windows are alike. It does not by itself show that the source
changes: a stationary source whose topics last for some thousands of characters has the same curve."""


@dataclass(frozen=True)
class Shape:
    """One text's curve in six numbers."""

    first: float  # at lag 1
    few: float  # at lag 10
    late: float  # mean over the last half of the lags
    change: float  # from the middle lag to the last, along the straight line through the last half
    shuffled: float  # letters in random order, mean over all lags but 0
    words: float  # words in random order, likewise

    @property
    def rise(self) -> float:
        """From lag 1 to the last half."""
        return self.late - self.first

    @property
    def early_share(self) -> float:
        """How much of the rise has happened by lag 10."""
        return (self.few - self.first) / self.rise

    @property
    def late_share(self) -> float:
        """How far the curve still moves over the last half, as a share of its rise."""
        return self.change / self.rise


def shapes(rows: Sequence[Row], kind: str) -> list[Shape]:
    """The shape of each text of a kind."""
    texts = dict.fromkeys(row["text"] for row in select(rows, kind=kind))
    return [_shape([row for row in select(rows, text=text) if row["lag"] > 0]) for text in texts]


def _shape(rows: Sequence[Row]) -> Shape:
    lag, distance = (np.array([row[name] for row in rows], dtype=np.float64) for name in ("lag", "distance"))
    half = lag >= lag.max() / 2
    slope = np.polyfit(lag[half], distance[half], 1)[0]
    at: Mapping[int, float] = dict(zip(lag.astype(int).tolist(), distance.tolist(), strict=True))
    return Shape(
        first=at[1],
        few=at[FEW],
        late=float(distance[half].mean()),
        change=float(slope * lag.max() / 2),
        shuffled=float(np.mean([row["shuffled"] for row in rows])),
        words=float(np.mean([row["words_shuffled"] for row in rows])),
    )


def spread(values: Sequence[float], form: str) -> str:
    """The median, and the 25th and 75th percentile in brackets where there are several values.

    >>> spread([1.0, 2.0, 3.0], ".1f"), spread([2.0], ".1f")
    ('2.0 (1.5 to 2.5)', '2.0')
    """
    low, median, high = np.percentile(values, [25, 50, 75])
    return f"{median:{form}}" + (f" ({low:{form}} to {high:{form}})" if len(values) > 1 else "")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Rise and plateau as published, and what the references say about them."""
    found: list[Finding] = []
    for kind in KINDS:
        if texts := shapes(rows, kind):
            found += [_rises(kind, texts), _early(kind, texts), _flattens(kind, texts)]
            found += [_noise(kind, texts), _excess(kind, texts), _lag_0(kind, texts)]
    return found + boundaries.findings(rows)


def _rises(kind: str, texts: Sequence[Shape]) -> Finding:
    risen = sum(s.rise > 0 for s in texts)
    first, late = np.median([(s.first, s.late) for s in texts], axis=0)
    ours = f"{first:.4f} at lag 1, {late:.4f} over the last half of the lags; rises in {risen} of {len(texts)} texts"
    falls = estimate_of(-s.rise for s in texts)
    return judged(f"{kind}: the distance rises with the lag", "rises", ours, [falls], Claim("below"))


def _early(kind: str, texts: Sequence[Shape]) -> Finding:
    shares = [s.early_share for s in texts]
    ours = f"{spread(shares, '.0%')} of the rise from lag 1 is done by lag {FEW}"
    later = estimate_of(0.5 * s.rise - (s.few - s.first) for s in texts)  # less than half is left after lag 10
    claim = f"{kind}: it rises at small lags"
    return judged(claim, "a sharp increase at small lags", ours, [later], Claim("below"))


def _flattens(kind: str, texts: Sequence[Shape]) -> Finding:
    """Flat: over the last half it moves by little of its rise, either way; also how many texts still go up there."""
    shares = [s.late_share for s in texts]
    up = sum(s.change > 0 for s in texts)
    ours = f"over the last half of the lags it moves by {spread(shares, '+.1%')} of its rise"
    ours += f"; upwards in {up} of {len(texts)} texts"
    steep = [estimate_of(way * s.change - FLAT * s.rise for s in texts) for way in (1, -1)]
    return judged(f"{kind}: then it is flat", "a plateau", ours, steep, Claim("below"))


def _noise(kind: str, texts: Sequence[Shape]) -> Finding:
    levels = [s.shuffled for s in texts]
    apart, expected = estimate_of(level - NOISE for level in levels), f"{NOISE} expected, not published"
    return judged(f"{kind}: letters shuffled", expected, spread(levels, ".4f"), [apart], Claim("within", 0.003))


def _excess(kind: str, texts: Sequence[Shape]) -> Finding:
    """Above the words shuffled, the fairer of the references, near and far."""
    near, far = np.median([(s.first / s.words, s.late / s.words) for s in texts], axis=0)
    letters = np.median([(s.first / s.shuffled, s.late / s.shuffled) for s in texts], axis=0)
    above = sum(min(s.first, s.late) > s.words for s in texts)
    ours = (
        f"{near:.2f} times its words shuffled at lag 1 and {far:.2f} times over the last half of the lags, above at "
        f"both in {above} of {len(texts)} texts ({letters[0]:.2f} and {letters[1]:.2f} times its letters shuffled)"
    )
    claim = f"{kind}: windows differ more than where nothing changes"
    under = estimate_of(s.words - min(s.first, s.late) for s in texts)
    return judged(claim, "yes, but no reference shown", ours, [under], Claim("below"))


def _lag_0(kind: str, texts: Sequence[Shape]) -> Finding:
    """A curve that is drawn from lag 0 jumps at lag 1 for any text, also for one in which nothing changes."""
    jump, noise = np.median([(s.first / s.late, s.words / s.late) for s in texts], axis=0)
    ours = f"{jump:.0%} of its height is the step from lag 0 to lag 1; {noise:.0%} is there with words shuffled too"
    claim = f"{kind}: drawn from lag 0, most of the increase is change in the text"
    half = estimate_of(s.words - 0.5 * s.late for s in texts)
    return judged(claim, "the increase shows that the text changes", ours, [half], Claim("below"))


# ---- tables and the picture ----------------------------------------------------------------------------------------


def page(rows: Sequence[Row]) -> str:
    """The levels behind the claims."""
    lines = [
        f"Hellinger distance between the frequencies of {LETTERS} symbols in two windows of {WINDOW} characters:",
        "the mean of all pairs at a lag (counted in windows); median over texts, 25th to 75th percentile in brackets.",
        "",
        "| kind | texts | longest lag | lag 1 | lag 10 | last half of the lags | letters shuffled | words shuffled |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        if texts := shapes(rows, kind):
            longest = max(row["lag"] for row in select(rows, kind=kind))
            columns = zip(*((s.first, s.few, s.late, s.shuffled, s.words) for s in texts), strict=True)
            cells = [kind, len(texts), longest, *(spread(column, ".4f") for column in columns)]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, "", CAUTION, "", boundaries.page(rows)]).rstrip("\n")


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """One panel per kind of text, on one scale that begins at 0."""
    kinds = [kind for kind in KINDS if select(rows, kind=kind)]
    sides = select(rows, kind=boundaries.KIND)
    count = len(kinds) + bool(sides)
    drawing = new_figure(1.5 + 4.6 * count, 4.4)
    panels = drawing.subplots(1, count, sharey=True, squeeze=False)[0]
    if sides:
        boundaries.panel(panels[-1], sides)
    for axes, kind in zip(panels, kinds, strict=False):
        _panel(axes, select(rows, kind=kind), KINDS[kind])
    panels[0].set_ylabel(f"mean Hellinger distance between the letter\nfrequencies of two {WINDOW}-character windows")
    panels[0].set_ylim(0, None)
    drawing.suptitle("How much the letters of a text change along it")
    return drawing


def _panel(axes: "Axes", rows: Sequence[Row], title: str) -> None:
    texts = len({row["text"] for row in rows})
    placed = [Row({**row, "apart": row["lag"] * WINDOW}) for row in rows]
    several = f" (median and quartiles of {texts} texts)" if texts > 1 else ""
    draw_quartiles(axes, placed, "apart", "distance", colour=BLUE, label=f"the text{several}")
    draw_quartiles(axes, placed, "apart", "shuffled", colour=GREY, label="its letters shuffled", line="--")
    draw_quartiles(axes, placed, "apart", "words_shuffled", colour=ORANGE, label="its words shuffled", line=":")
    if any(row["lag"] == 0 for row in rows):
        axes.set_xscale("symlog", linthresh=WINDOW)
    else:
        axes.set_xscale("log")
    axes.set(title=title, xlabel="how far apart the two windows begin (characters)")
    axes.xaxis.set_major_formatter(tokens_label)
    axes.legend(loc="lower right")
