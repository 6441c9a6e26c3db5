"""nonstationarity: how far apart the letter frequencies of two windows of text are, by how far apart the windows are.

Each job is one text: 10M characters of text8, or a whole book of PG-19. Its distances stand beside those of the same
letters shuffled and of the same words shuffled, because two windows differ even when nothing changes. Lag 0 is 0 by
definition: `fair` leaves it out; `paper` draws it, on one text of each corpus. The paper names neither its texts nor
their lengths; the first 10M characters of text8 and of the books of PG-19 in a row are our reading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.evaluate.nonstationarity import distance_by_lag, histograms, nonstationarity
from sharpstream.experiments.harness import Experiment, Finding, Job, Row
from sharpstream.experiments.simulations.common import draw_quartiles, holds, select
from sharpstream.report.style import BLUE, GREY, ORANGE, new_figure, styled, tokens_label
from sharpstream.streams import Tokens, open_stream
from sharpstream.streams.books import LISTING, read_listing
from sharpstream.streams.text8 import SEGMENT, segment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW, LETTERS = 1024, 27
FEW = 10  # windows: what "small lags" means here
BOOK = 200_000  # characters: shorter books have too few windows
BOOK_BYTES = 250_000  # a book of so many bytes has BOOK characters left when only letters and single spaces are
BOOK_LAG = BOOK // WINDOW // 2  # windows: at every lag at least half of a text's windows have a partner
SEGMENT_LAG = SEGMENT // WINDOW // 2
SIZES: dict[str, dict[str, int]] = {"laptop": {"segments": 5, "books": 40}, "paper": {"segments": 9, "books": 150}}
KINDS = {
    "text8": "text8 (Wikipedia), pieces of 10M characters",
    "book": "PG-19, whole books",
    "pg19": "PG-19, books in a row",
    "python-docs": "Python's help pages",
}
MOST = 0.9  # of the texts
SHUFFLES = 20  # of one book: the level of a single shuffle varies by 0.0006, as much as some books lie above it
FLAT = 0.1  # a curve that moves by less than this share of its rise over the last half of its lags is flat
NOISE = 0.083  # expected of two windows of 1024 independent letters of English
CAUTION = """\
Two references, in both of which nothing changes along the text: its letters shuffled (independent letters), and its
words shuffled, which is lower because words space their letters more evenly than chance.

A rise that ends in a plateau shows that neighbouring windows are alike. It does not by itself show that the source
changes: a stationary source whose topics last for some thousands of characters has the same curve."""


def jobs(scale: str, protocol: str) -> list[Job]:
    """One job per text; the quick scale needs no corpus."""
    lag_0 = protocol == "paper"
    if scale == "quick":
        parts = [(start, start + 120_000) for start in (0, 120_000, 240_000)][: 1 if lag_0 else None]
        return [_slice("python-docs", *part, lag=50, lag_0=lag_0) for part in parts]
    size = SIZES[scale]
    if lag_0:
        return [_slice(name, 0, SEGMENT, lag=SEGMENT_LAG, lag_0=True) for name in ("text8", "pg19")]
    segments = [segment(number) for number in range(1, size["segments"] + 1)]
    return [
        *(_slice("text8", *bounds, lag=SEGMENT_LAG, lag_0=False) for bounds in segments),
        *(
            Job(f"book-{book}", {"kind": "book", "book": book, "lag": BOOK_LAG, "lag_0": False, "shuffles": SHUFFLES})
            for book in _books(size["books"])
        ),
    ]


def _books(count: int) -> list[int]:
    """The first long books of PG-19 in the order of their numbers, known without the books themselves."""
    listed = read_listing(LISTING).items()
    return sorted(book for (split, book), (size, _) in listed if split == "train" and size >= BOOK_BYTES)[:count]


def _slice(name: str, start: int, end: int, *, lag: int, lag_0: bool) -> Job:
    shuffles = SHUFFLES if end - start < SEGMENT else 2  # a long text has windows enough
    place = {"kind": name, "start": start, "end": end}
    return Job(f"{name}-{start}", {**place, "lag": lag, "lag_0": lag_0, "shuffles": shuffles})


def work(job: Job, directory: Path) -> list[Row]:
    """Mean distance over all pairs of windows at each lag, of the text and of its references; lags thinned."""
    s = job.settings
    tokens = _book(s["book"]) if s["kind"] == "book" else _text(s["kind"], s["start"], s["end"])
    letters = [
        nonstationarity(tokens, vocabulary=LETTERS, window=WINDOW, max_lag=s["lag"], seed=seed)
        for seed in range(s["shuffles"])
    ]
    words = [
        histograms(words_shuffled(tokens, seed=seed), vocabulary=LETTERS, window=WINDOW)
        for seed in range(s["shuffles"])
    ]
    curves = {
        "distance": letters[0].distance,
        "shuffled": np.mean([found.shuffled for found in letters], axis=0),
        "words_shuffled": np.mean([distance_by_lag(mixed, max_lag=s["lag"]) for mixed in words], axis=0),
    }
    about = {"text": job.key, "kind": s["kind"], "windows": len(tokens) // WINDOW}
    rows = [
        {"lag": lag} | {name: float(curve[lag - 1]) for name, curve in curves.items()} for lag in kept_lags(s["lag"])
    ]
    if s["lag_0"]:
        rows.insert(0, {"lag": 0} | dict.fromkeys(curves, 0.0))
    return [about | row for row in rows]


def words_shuffled(tokens: Tokens, *, seed: int) -> Tokens:
    """The same words, each with the space after it, in random order.

    >>> words_shuffled(np.array([1, 2, 0, 3, 0, 4, 4, 0]), seed=0).tolist()
    [3, 0, 4, 4, 0, 1, 2, 0]
    """
    word = np.cumsum(tokens == 0) - (tokens == 0)  # which word each token belongs to
    place = np.random.default_rng(seed).permutation(int(word[-1]) + 1)
    return tokens[np.argsort(place[word], kind="stable")]


def kept_lags(longest: int) -> list[int]:
    """The lags that get a row: twenty for each factor of ten, and the longest.

    >>> kept_lags(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20]
    """
    steps = range(int(20 * np.log10(longest)) + 1)
    return sorted({round(10 ** (step / 20)) for step in steps} | {longest})


def _text(name: str, start: int, end: int) -> Tokens:
    tokens = open_stream(StreamConfig(name=name, start=start, end=end), seed=0).take(end - start)
    if len(tokens) < end - start:
        raise DataError(f"{name} ends at character {start + len(tokens):,}, but {start:,} to {end:,} were asked for")
    return tokens


def _book(book: int) -> Tokens:
    from sharpstream.streams.pg19 import pg19_books

    for section in pg19_books():
        if section.name == str(book):
            return _text("pg19", section.start, section.end)
    raise DataError(f"book {book} is not among the first 100M characters of the PG-19 here; complete it, or use --only")


# ---- what the curves say -------------------------------------------------------------------------------------------


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
    return found


def _rises(kind: str, texts: Sequence[Shape]) -> Finding:
    risen = sum(s.rise > 0 for s in texts)
    first, late = np.median([(s.first, s.late) for s in texts], axis=0)
    ours = f"{first:.4f} at lag 1, {late:.4f} over the last half of the lags; rises in {risen} of {len(texts)} texts"
    return holds(f"{kind}: the distance rises with the lag", "rises", ours, risen >= MOST * len(texts))


def _early(kind: str, texts: Sequence[Shape]) -> Finding:
    shares = [s.early_share for s in texts]
    ours = f"{spread(shares, '.0%')} of the rise from lag 1 is done by lag {FEW}"
    return holds(
        f"{kind}: it rises at small lags", "a sharp increase at small lags", ours, bool(np.median(shares) >= 0.5)
    )


def _flattens(kind: str, texts: Sequence[Shape]) -> Finding:
    """Flat: over the last half the median curve moves by little of its rise; also how many texts still go up there."""
    shares = [s.late_share for s in texts]
    up = sum(s.change > 0 for s in texts)
    ours = f"over the last half of the lags it moves by {spread(shares, '+.1%')} of its rise"
    ours += f"; upwards in {up} of {len(texts)} texts"
    return holds(f"{kind}: then it is flat", "a plateau", ours, bool(abs(np.median(shares)) < FLAT))


def _noise(kind: str, texts: Sequence[Shape]) -> Finding:
    levels = [s.shuffled for s in texts]
    agrees = bool(abs(np.median(levels) - NOISE) < 0.003)
    return holds(f"{kind}: letters shuffled", f"{NOISE} expected, not published", spread(levels, ".4f"), agrees)


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
    return holds(claim, "yes, but no reference shown", ours, above >= MOST * len(texts))


def _lag_0(kind: str, texts: Sequence[Shape]) -> Finding:
    """A curve that is drawn from lag 0 jumps at lag 1 for any text, also for one in which nothing changes."""
    jump, noise = np.median([(s.first / s.late, s.words / s.late) for s in texts], axis=0)
    ours = f"{jump:.0%} of its height is the step from lag 0 to lag 1; {noise:.0%} is there with words shuffled too"
    claim = f"{kind}: drawn from lag 0, most of the increase is change in the text"
    return holds(claim, "the increase shows that the text changes", ours, bool(noise < 0.5))


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
    return "\n".join([*lines, "", CAUTION])


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """One panel per kind of text, on one scale that begins at 0."""
    kinds = [kind for kind in KINDS if select(rows, kind=kind)]
    drawing = new_figure(1.5 + 4.6 * len(kinds), 4.4)
    panels = drawing.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        _panel(axes, select(rows, kind=kind), KINDS[kind])
    panels[0].set_ylabel(f"mean Hellinger distance between the letter\nfrequencies of two {WINDOW}-character windows")
    panels[0].set_ylim(0, None)
    drawing.suptitle("How much the letters of a text change along it")
    return drawing


def _panel(axes: "Axes", rows: Sequence[Row], title: str) -> None:
    texts = len({row["text"] for row in rows})
    placed: list[dict[str, Any]] = [{**row, "apart": row["lag"] * WINDOW} for row in rows]
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


EXPERIMENT = Experiment(
    name="nonstationarity",
    title="how the letter frequencies of a text change along it",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
)
