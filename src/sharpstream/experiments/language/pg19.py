"""pg19: every learner on books in a row, the paper's second benchmark, and how soon each is at home in a new book.

Each arm reads the first millions of PG-19 once. Frozen it is scored on held-out books (forward) and on the last and the
first books it has read (current, backward). What it has over the first 1,000, 3,000, 10,000 and 30,000 characters of
each new book, against the rest of those books, comes from the rows the loop writes at these marks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.evaluate.bits import PAPER_CAP
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.probes import ProbeRow
from sharpstream.evaluate.protocols import EvaluationProtocol, protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.arms import BLOCKS, COMPRESSORS, COUNTS, SIMPLE, SIZES, run_of
from sharpstream.experiments.language.kept_scores import scored_once
from sharpstream.experiments.language.measure import DIRECTIONS, compressed, heard, measured, read
from sharpstream.experiments.language.published import Published, best_of_neural, neural_rivals, published_table
from sharpstream.experiments.language.segments import MILLION, seed_of
from sharpstream.frozen import opened
from sharpstream.learners.contract import Tokens
from sharpstream.loop import Run
from sharpstream.parts import DISTANCES
from sharpstream.report.curves import prequential_curves
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import arm_style
from sharpstream.streams import open_stream
from sharpstream.streams.base import Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Published bits, capped at 4.755, after 100M characters at width 512: forward, current, backward.
PUBLISHED: Published = {
    "sharp": (2.29, 2.35, 2.40),
    "rnn": (2.79, 2.86, 2.94),
    "lstm": (3.44, 3.36, 3.55),
    "gru": (2.43, 2.48, 2.48),
    "clockwork": (2.46, 2.51, 2.70),
    "transformer-10m": (2.13, 2.16, 2.24),
    "transformer-5m": (2.15, 2.18, 2.26),
}
WIDE = "sharp-512-tick"
EPISODIC = "episodic"
ENDS = 3  # books at either end of what was read
STEADY = "rest"  # of a book, after its first 30,000 characters


@dataclass(frozen=True)
class Scale:
    """Which books, how much of them, how large the learners."""

    stream: str
    held_out: str
    size: str
    tokens: int
    probe: int
    """Tokens of each book that is scored frozen, at most."""
    log_every: int
    retention: tuple[int, int]
    wide: int = 0
    """Tokens that SHARP at width 512 reads, with on-tick credit; 0: it is not run."""
    seeds: Mapping[str, int] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Arms that are not run at this scale."""


SCALES = {
    "quick": Scale("python-docs", "", "tiny", 6_000, 500, 1_000, (2_000, 500), without=("lstm", "clockwork")),
    "laptop": Scale(
        "pg19", "pg19-validation", "128", 10 * MILLION, MILLION, 100_000, (MILLION, 20_000),
        wide=5 * MILLION, seeds={"sharp": 2, "rnn": 2, "gru": 2}, without=("transformer-10m",),
    ),
    "paper": Scale("pg19", "pg19-validation", "512", 100 * MILLION, MILLION, 100_000, (10 * MILLION, 20_000)),
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """The quick learners first."""
    s = SCALES[scale]
    neural = [arm for arm in SIZES[s.size].neural if arm not in BLOCKS]
    wide = [WIDE] if s.wide else []
    return repeated((*SIMPLE, EPISODIC, *neural, *COMPRESSORS, *wide), s, {"scale": scale, "protocol": protocol})


def repeated(arms: Sequence[str], scale: Scale, settings: Mapping[str, str]) -> list[Job]:
    """A job for each arm of the scale; second seeds after all first ones."""
    return [
        Job(
            arm if repetition == 0 else f"{arm}-seed{repetition}",
            {**settings, "arm": arm, "repetition": repetition},
        )
        for repetition in range(max([1, *scale.seeds.values()]))
        for arm in arms
        if arm not in scale.without and repetition < scale.seeds.get(arm, 1)
    ]


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job; under `paper` states are forgotten at every book, as published."""
    s, arm, protocol = SCALES[settings["scale"]], settings["arm"], settings["protocol"]
    tokens = s.wide if arm == WIDE else s.tokens
    if arm in COMPRESSORS:
        base = RunConfig()
    elif arm == EPISODIC:
        base = RunConfig(learner=EPISODIC)
    elif arm == WIDE:
        wide = run_of("sharp", SIZES["512"], protocol)
        base = wide.replace(sharp=recipes.text8_on_tick(wide.sharp))
    else:
        base = run_of(arm, SIZES[s.size], protocol)
    return base.replace(
        stream=StreamConfig(name=s.stream, end=tokens),
        tokens=tokens,
        seed=seed_of(0, settings["repetition"]),
        log_every=s.log_every,
        probe_every=s.retention[0],
        probe_length=s.retention[1],
        reset_states_per_book=protocol == "paper",
    )


def probe_texts(config: RunConfig, scale: Scale) -> dict[str, list[Tokens]]:
    """Direction → the books it is scored on; each at most as long as the scale says. Text without books is cut up."""
    stream = open_stream(config.stream, seed=config.seed)
    whole = Part("all", 0, config.tokens)
    books = [part for part in stream.parts if part.end - part.start > 0] or [whole]
    source = replace(config.stream, start=0, end=None)

    def texts(of: StreamConfig, parts: Sequence[Part], last: bool) -> list[Tokens]:
        spans = [(max(p.start, p.end - scale.probe), p.end) if last else (p.start, p.end) for p in parts]
        return [read(of, (start, min(end, start + scale.probe))) for start, end in spans]

    if not scale.held_out:
        forward = [read(source, (2 * config.tokens, 2 * config.tokens + scale.probe))]
    else:
        held = StreamConfig(name=scale.held_out)
        forward = texts(held, open_stream(held, seed=0).parts, last=False)
    return {
        "forward": forward,
        "current": texts(source, books[-ENDS:], last=True),
        "backward": texts(source, books[:ENDS], last=False),
    }


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm: its run, its books scored frozen, its first steps in every new book."""
    config, arm, protocol = config_of(job.settings), job.settings["arm"], protocol_named(job.settings["protocol"])
    if arm in COMPRESSORS:
        return compressed(arm, config, {})
    return read_books(directory, config, SCALES[job.settings["scale"]], arm, protocol)


def read_books(directory: Path, config: RunConfig, scale: Scale, arm: str, protocol: EvaluationProtocol) -> list[Cells]:
    """Run to the end; then the frozen books in each direction, and the marks along every book."""
    texts = probe_texts(config, scale)  # what is missing is said before hours
    rows = measured(directory, config, arm, protocol, {})
    if math.isinf(next(row["value"] for row in rows if row["metric"] == "bits")):
        return rows  # learning left the finite numbers: there is no state to score
    run = opened(directory)
    stamp = {**rows[0], "tokens": config.tokens, "place": None}
    cap = PAPER_CAP if protocol.clip is None else protocol.clip_for(run.learner.name, config.stream.name)
    for direction, books in texts.items():
        scored = [
            scored_once(run, text, probe=f"{direction}-{place}", cap=cap or PAPER_CAP)
            for place, text in enumerate(books)
        ]
        rows += frozen_rows(direction, scored, stamp)
        rows += in_characters(run, f"{direction}_", scored, books, stamp)
    deaf = heard(run, texts[DIRECTIONS[0]][0])
    rows += [{**stamp, "metric": "heard", "place": level, "value": bits} for level, bits in deaf.items()]
    marks = [row for row in run.metrics.rows() if row["event"] == "part"]
    return rows + [
        {**stamp, "metric": f"part_{mark['since']}", "tokens": mark["tokens"], "place": mark["part"],
         "value": mark["bits"]}
        for mark in marks
    ]  # fmt: skip


def frozen_rows(direction: str, scored: Sequence[ProbeRow], stamp: Cells) -> list[Cells]:
    """The mean over books, weighted by their length, true and capped; and the bits of each book."""
    rows, sizes = [], [row.tokens for row in scored]
    for metric in ("bits", "bits_clipped"):
        values = [getattr(row, metric) for row in scored]
        mean = sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
        rows.append({**stamp, "metric": f"{direction}_{metric}", "value": mean})
        each = enumerate(values) if metric == "bits" else ()
        rows += [{**stamp, "metric": f"{direction}_book", "place": n, "value": value} for n, value in each]
    return rows


def in_characters(
    run: Run, prefix: str, scored: Sequence[ProbeRow], texts: Sequence[Tokens], stamp: Cells
) -> list[Cells]:
    """Accuracy and bits per character, where a token is not one; nothing where it is."""
    lengths = run.stream.characters
    if lengths is None:
        return []
    bits, tokens = sum(row.bits * row.tokens for row in scored), sum(row.tokens for row in scored)
    characters = sum(int(lengths[text].sum()) for text in texts)
    rows = [{**stamp, "metric": f"{prefix}bits_per_character", "value": bits / characters}]
    if all(row.accuracy is not None for row in scored):
        right = sum((row.accuracy or 0.0) * row.tokens for row in scored)
        rows.append({**stamp, "metric": f"{prefix}accuracy", "value": right / tokens})
    return rows


def _pieces(rows: Sequence[Row], arm: str) -> dict[tuple[int, int], dict[int, float]]:
    """(seed, book) → bits between its marks, by where they begin, for the books after the first.

    Only books that are long enough to have a rest count, so that every number is of the same books.
    """
    books: dict[tuple[int, int], dict[int, float]] = {}
    for row in rows:
        if row["arm"] == arm and row["metric"].startswith("part_") and row["place"] > 0:
            books.setdefault((row["seed"], row["place"]), {})[int(row["metric"][5:])] = row["value"]
    return {key: pieces for key, pieces in books.items() if set(pieces) == {0, *DISTANCES}}


def adaptation(rows: Sequence[Row], arm: str) -> dict[int | str, float]:
    """Bits over the first 1,000, 3,000, … characters of a book and over its rest, mean over books after the first."""
    starts, whole = (0, *DISTANCES), _pieces(rows, arm).values()
    if not whole:
        return {}
    found: dict[int | str, float] = {}
    for count, distance in enumerate(DISTANCES, start=1):
        lengths = [end - start for start, end in zip(starts, DISTANCES[:count], strict=False)]
        means = [sum(n * pieces[s] for n, s in zip(lengths, starts, strict=False)) / distance for pieces in whole]
        found[distance] = fmean(means)
    return {**found, STEADY: fmean(pieces[DISTANCES[-1]] for pieces in whole)}


def in_books(rows: Sequence[Row], arm: str) -> dict[int, float]:
    """Book → bits in its rest, mean over seeds."""
    pieces = _pieces(rows, arm)
    return {
        book: fmean(found[DISTANCES[-1]] for (_, other), found in pieces.items() if other == book)
        for book in dict.fromkeys(book for _, book in pieces)
    }


def better_in_books(rows: Sequence[Row], ours: str, theirs: str, published: str) -> Finding:
    """Whether ours has fewer bits while it learns, paired by book: one pass over many books has a spread of its own."""
    gap = difference_where_both(in_books(rows, ours), in_books(rows, theirs))
    shown = "-" if gap is None else f"{tables.plus_minus(gap, sign=True)} bits ({gap.n} books)"
    claim = f"{arm_style(ours).label} is better than {arm_style(theirs).label} (before learning, paired by book)"
    return judged(claim, published, shown, [gap], Claim("below", tables.HAIR))


def adaptation_table(rows: Sequence[Row], unit: str = "character") -> str:
    """How much more each learner pays at the beginning of a book than in the rest of it."""
    lines = []
    for arm in tables.arms_of(rows):
        found = adaptation(rows, arm)
        if found:
            more = [f"{round(found[distance] - found[STEADY], 3) + 0.0:+.3f}" for distance in DISTANCES]  # no −0.000
            lines.append((arm_style(arm).label, *more, f"{found[STEADY]:.3f}"))
    columns = ("learner", *(f"first {distance:,}" for distance in DISTANCES), "rest of the book")
    note = f"Bits per {unit} more than in the rest of the same books (last column), mean over books."
    return markdown(Grid(title="At home in a new book", columns=columns, rows=tuple(lines), note=note)) if lines else ""


def figure(rows: Sequence[Row]) -> "Figure":
    """Prequential bits along the books."""
    arms = pictures.neural_and_best_counts(rows)
    return pictures.curves_figure(rows, arms, "PG-19: bits per character, books in a row")


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """Adaptation, probes, retention, and bits against time."""
    arms = pictures.neural_and_best_counts(rows)
    drawings = {
        "adaptation": lambda: adaptation_figure(rows, arms),
        "probes": lambda: pictures.probes_figure(rows, arms),
        "retention": lambda: pictures.retention_picture(rows, "sharp"),
        "tradeoff": lambda: pictures.tradeoff_figure(rows),
    }
    return pictures.known_figures(drawings)


def adaptation_figure(rows: Sequence[Row], arms: Sequence[str]) -> "Figure | None":
    """What the beginning of a book costs more than its rest, over its first so many characters; None: not measured."""
    found = {arm: costs for arm in arms if (costs := adaptation(rows, arm))}
    steps = {arm: (list(DISTANCES), [costs[d] - costs[STEADY] for d in DISTANCES]) for arm, costs in found.items()}
    if not steps:
        return None
    return prequential_curves(
        steps,
        title="How soon each learner is at home in a new book",
        xlabel="characters into a new book",
        ylabel="bits more than in the rest of the book",
        legend="over the first 30,000",
        number="+.2f",
    )


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published table's best in each direction; SHARP against each of them, and ours against the best counts."""
    rivals = neural_rivals(PUBLISHED) | {"counts-5": "not compared"}
    found = [better_in_books(rows, "sharp", arm, gap) for arm, gap in rivals.items()]
    return best_of_neural(rows, PUBLISHED) + found + [better_in_books(rows, EPISODIC, "counts-6", "not compared")]


def page(rows: Sequence[Row]) -> str:
    """The main table, adaptation, what is kept, and the published table."""
    bits = ("bits", "forward_bits", "current_bits", "backward_bits")
    return tables.joined(
        (
            tables.main_table(rows, "All learners"),
            adaptation_table(rows),
            tables.difference_table(rows, "sharp", bits, "SHARP against each"),
            tables.hearing_table(rows, "What each level hears of the one above"),
            tables.retention_table(rows, "What is kept"),
            published_table(rows, PUBLISHED),
        )
    )


def scored(job: Job) -> int:
    """Tokens scored frozen after the run, at most."""
    books = 2 * ENDS + 5
    return 0 if job.settings["arm"] in (*COMPRESSORS, *COUNTS) else books * SCALES[job.settings["scale"]].probe


EXPERIMENT = Experiment(
    name="pg19",
    title="every learner on books in a row, read once",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [] if job.settings["arm"] in COMPRESSORS else [config_of(job.settings)],
    scored=scored,
    more_figures=more_figures,
    page=page,
)
