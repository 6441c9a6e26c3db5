"""nonstationarity: how far apart the letter frequencies of two windows of text are, by how far apart the windows are.

Each job is one text: 10M characters of text8 or of PG-19's books in a row, a whole book, or the two sides of a
boundary between books (`boundaries.py`). Its distances stand beside those of the same
letters shuffled and of the same words shuffled, because two windows differ even when nothing changes. Lag 0 is 0 by
definition: `fair` leaves it out; `paper` draws it, on one text of each corpus. The paper names neither its texts nor
their lengths; the first 10M characters of text8 and of the books of PG-19 in a row are our reading.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.evaluate.nonstationarity import distance_by_lag, histograms, nonstationarity
from sharpstream.evaluate.rows import Cells
from sharpstream.experiments.harness import Experiment, Job
from sharpstream.experiments.language import boundaries
from sharpstream.experiments.language.nonstationarity_page import LETTERS, WINDOW, figure, findings, page
from sharpstream.streams import Tokens, open_stream
from sharpstream.streams.books import LISTING, read_listing
from sharpstream.streams.text8 import SEGMENT, segment

BOOK = 200_000  # characters: shorter books have too few windows
BOOK_BYTES = 250_000  # a book of so many bytes has BOOK characters left when only letters and single spaces are
SHORTEST_BYTES = 25_000  # books below are shorter than the stream takes, or nearly so
BOOK_LAG = BOOK // WINDOW // 2  # windows: at every lag at least half of a text's windows have a partner
SEGMENT_LAG = SEGMENT // WINDOW // 2
SIZES: dict[str, dict[str, int]] = {
    "laptop": {"segments": 5, "books": 40, "rows of books": 3, "boundaries": 40},
    "paper": {"segments": 9, "books": 150, "rows of books": 9, "boundaries": 150},
}
SIDE = boundaries.SIDE * WINDOW  # characters on each side of a boundary
SHUFFLES = 20  # of one book: the level of a single shuffle varies by 0.0006, as much as some books lie above it


def jobs(scale: str, protocol: str) -> list[Job]:
    """One job per text; the quick scale needs no corpus."""
    lag_0 = protocol == "paper"
    if scale == "quick":
        parts = [(start, start + 120_000) for start in (0, 120_000, 240_000)][: 1 if lag_0 else None]
        sides = [] if lag_0 else [_sides("python-docs", 0, 200_000)]
        return [*(_slice("python-docs", *part, lag=50, lag_0=lag_0) for part in parts), *sides]
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
        *(
            _slice("pg19", n * SEGMENT, (n + 1) * SEGMENT, lag=SEGMENT_LAG, lag_0=False)
            for n in range(size["rows of books"])
        ),
        *(_sides("pg19", *pair) for pair in _neighbours(size["boundaries"])),
    ]


def _neighbours(count: int) -> list[tuple[int, int]]:
    """The first books that follow one another directly, both of them long."""
    listed = sorted((book, size) for (split, book), (size, _) in read_listing(LISTING).items() if split == "train")
    pairs = pairwise((book, size) for book, size in listed if size >= SHORTEST_BYTES)
    return [(a, b) for (a, first), (b, second) in pairs if min(first, second) >= BOOK_BYTES][:count]


def _sides(name: str, left: int, right: int) -> Job:
    """A boundary: of two books by number, or of two places in a text."""
    settings = {"kind": boundaries.KIND, "of": name, "left": left, "right": right, "shuffles": SHUFFLES}
    return Job(f"boundary-{left}-{right}", settings)


def _books(count: int) -> list[int]:
    """The first long books of PG-19 in the order of their numbers, known without the books themselves."""
    listed = read_listing(LISTING).items()
    return sorted(book for (split, book), (size, _) in listed if split == "train" and size >= BOOK_BYTES)[:count]


def _slice(name: str, start: int, end: int, *, lag: int, lag_0: bool) -> Job:
    shuffles = SHUFFLES if end - start < SEGMENT else 2  # a long text has windows enough
    place = {"kind": name, "start": start, "end": end}
    return Job(f"{name}-{start}", {**place, "lag": lag, "lag_0": lag_0, "shuffles": shuffles})


def work(job: Job, directory: Path) -> list[Cells]:
    """Mean distance over all pairs of windows at each lag, of the text and of its references; lags thinned."""
    s = job.settings
    if s["kind"] == boundaries.KIND:
        return _boundary(job)
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


def _boundary(job: Job) -> list[Cells]:
    """The end of the left text beside the beginning of the right one, and both mixed."""
    s = job.settings
    if s["of"] == "pg19":
        left, right = _book(s["left"])[-SIDE:], _book(s["right"])[:SIDE]
    else:
        left, right = (_text(s["of"], start, start + SIDE) for start in (s["left"], s["right"]))
    whole = np.concatenate([left, right])
    mixed = [
        (np.random.default_rng(seed).permutation(whole), words_shuffled(whole, seed=seed))
        for seed in range(s["shuffles"])
    ]
    return boundaries.boundary_rows(job.key, left, right, mixed)


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
        if section.name.split()[0] == str(book):  # its title follows
            return _text("pg19", section.start, section.end)
    raise DataError(f"book {book} is not among the first 100M characters of the PG-19 here; complete it, or use --only")


EXPERIMENT = Experiment(
    name="nonstationarity",
    title="how the letter frequencies of a text change along it",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
)
