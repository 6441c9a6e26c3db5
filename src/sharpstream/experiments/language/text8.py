"""text8 and text8-long: every learner on text8, read once, in segments or in one long stream.

The paper's two main tables, with their humblers beside them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim, verdict
from sharpstream.experiments.harness import Experiment, Finding
from sharpstream.experiments.language import pictures, segments, tables
from sharpstream.experiments.language.arms import BLOCKS, COMPRESSORS
from sharpstream.experiments.language.measure import DIRECTIONS
from sharpstream.experiments.language.runaways import runaway_table
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Published bits, capped at 4.755 (Clockwork uncapped), at width 512 under `paper`.
Published = Mapping[str, tuple[float, float, float]]  # arm → forward, current, backward
PUBLISHED: Published = {
    "sharp": (2.32, 2.23, 2.30),
    "rnn": (2.47, 2.41, 2.45),
    "lstm": (2.61, 2.54, 2.50),
    "gru": (2.41, 2.34, 2.38),
    "clockwork": (2.95, 2.79, 2.92),
    "transformer-5m": (2.41, 2.33, 2.38),
    "transformer-10m": (2.43, 2.37, 2.41),
}
PUBLISHED_LONG: Published = {  # after 90M characters
    "sharp": (2.36, 2.32, 2.33),
    "rnn": (2.70, 4.63, 4.63),
    "lstm": (3.17, 3.16, 3.14),
    "gru": (2.57, 2.50, 2.56),
    "clockwork": (2.88, 2.85, 2.78),
    "transformer-10m": (2.22, 2.15, 2.20),
    "transformer-5m": (2.19, 2.12, 2.17),
}
UNCAPPED = "clockwork"  # its published bits are the only ones without the cap


def figure(rows: Sequence[Row]) -> "Figure":
    """Prequential bits of all learners on one axis."""
    levels = ("ppmd-6", "zpaq-5")
    title = "Bits per character before learning from it, mean over segments"
    return pictures.curves_figure(rows, pictures.neural_and_best_counts(rows), title, levels)


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """Bars, retention, the gate, and bits against time."""
    shown = pictures.neural_and_best_counts(rows)
    drawings = {
        "probes": lambda: pictures.probes_figure(rows, [arm for arm in shown if arm != "unigram"]),
        "retention": lambda: pictures.retention_picture(rows, "sharp"),
        "gate": lambda: pictures.gate_figure(rows, [arm for arm in ("sharp", *BLOCKS) if arm in shown]),
        "tradeoff": lambda: pictures.tradeoff_figure(rows, [a for a in tables.arms_of(rows) if a != "uniform"]),
    }
    return pictures.known_figures(drawings)


def claims(rows: Sequence[Row], published: Published) -> list[Finding]:
    """Is SHARP the best of the neural learners, and how does it stand against counting and compressing?"""
    rivals = neural_rivals(published) | dict.fromkeys(("counts-5", *COMPRESSORS, *BLOCKS), "not compared")
    return best_of_neural(rows, published) + [_better(rows, "sharp", arm, gap) for arm, gap in rivals.items()]


def neural_rivals(published: Published) -> dict[str, str]:
    """Arm → how far SHARP is published to be from it."""
    gaps = {
        arm: f"{published['sharp'][0] - values[0]:+.2f} forward" for arm, values in published.items() if arm != "sharp"
    }
    return gaps | {"transformer-small": "not published"}


def best_of_neural(rows: Sequence[Row], published: Published) -> list[Finding]:
    """Who was published as the best, in each direction."""
    return [_best_of_neural(rows, direction, published) for direction in DIRECTIONS]


def _best_of_neural(rows: Sequence[Row], direction: str, published: Published) -> Finding:
    """Whether the learner that was published as the best of them is; nobody can say where it was not run."""
    place = DIRECTIONS.index(direction)
    best = min(published, key=lambda arm: published[arm][place])
    theirs = ", ".join(f"{arm_style(arm).label} {published[arm][place]:.2f}" for arm in dict.fromkeys((best, "sharp")))
    claim = f"{arm_style(best).label} has the fewest bits of the neural learners, {direction}"
    known = tables.means_on_shared(rows, (*published, "transformer-small"), f"{direction}_bits")
    ranked = sorted(known.items(), key=lambda pair: pair[1])
    shown = ", ".join(f"{arm_style(arm).label} {bits:.3f}" for arm, bits in ranked) or "-"
    others = [tables.difference(rows, best, arm, f"{direction}_bits") for arm in known if arm != best]
    word = verdict(others if best in known else [None], Claim("below", tables.HAIR))
    return Finding(claim, theirs, shown, word)


def _better(rows: Sequence[Row], ours: str, theirs: str, published: str) -> Finding:
    claim = f"{arm_style(ours).label} is better than {arm_style(theirs).label} (prequential, paired)"
    return tables.better(rows, ours, theirs, "bits", claim, published)


def all_tables(rows: Sequence[Row], published: Published) -> str:
    """The main table, the differences, retention, and the published table."""
    bits = ("bits", *(f"{direction}_bits" for direction in DIRECTIONS))
    parts = [
        tables.main_table(rows, "All learners"),
        runaway_table(rows, "Worse than guessing"),
        tables.difference_table(rows, "sharp", bits, "SHARP against each"),
        tables.hearing_table(rows, "What each level hears of the one above"),
        tables.retention_table(rows, "What is kept"),
        published_table(rows, published),
    ]
    return tables.joined(parts)


def published_table(rows: Sequence[Row], published: Published) -> str:
    """The published table beside ours, scored as there: capped where it is, whatever the width here."""
    lines = []
    for arm, values in published.items():
        metric = "bits" if arm == UNCAPPED else "bits_clipped"
        ours = [tables.plus_minus(tables.estimate(rows, arm, f"{d}_{metric}")) for d in DIRECTIONS]
        lines.append((arm_style(arm).label, *(f"{value:.2f}" for value in values), *ours))
    columns = ("learner", *(f"{d}, published" for d in DIRECTIONS), *(f"{d}, here" for d in DIRECTIONS))
    note = "Published: width 512. Both: bits capped at 4.755, but not the Clockwork RNN's. Sizes here as above."
    return markdown(Grid(title="The published table", columns=columns, rows=tuple(lines), note=note))


def study(name: str, title: str, published: Published, kind: str) -> Experiment:
    """All learners on one kind of scale (`segments.SCALES`), beside one published table."""
    return Experiment(
        name=name,
        title=title,
        jobs=lambda scale, protocol: segments.jobs(f"{kind}{scale}", protocol),
        work=segments.work,
        figure=figure,
        findings=lambda rows: claims(rows, published),
        runs=segments.runs,
        scored=segments.scored,
        more_figures=more_figures,
        page=lambda rows: all_tables(rows, published),
    )


EXPERIMENT = study("text8", "every learner on whole segments of text8, read once", PUBLISHED, "")
LONG = study("text8-long", "every learner on one long stream of text8", PUBLISHED_LONG, "long-")
