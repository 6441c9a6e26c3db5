"""text8 and text8-long: every learner on text8, read once, in segments or in one long stream.

The paper's two main tables, with their humblers beside them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharpstream.evaluate.rows import Row
from sharpstream.experiments.harness import Experiment, Finding
from sharpstream.experiments.language import pictures, segments, tables
from sharpstream.experiments.language.arms import BLOCKS, COMPRESSORS
from sharpstream.experiments.language.published import (
    FROZEN,
    Published,
    as_printed,
    best_of_neural,
    levels,
    neural_rivals,
    order,
    published_table,
)
from sharpstream.experiments.language.runaways import runaway_table
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Published bits, capped at 4.755 (Clockwork uncapped), at width 512 under `paper`.
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
SPREADS: Published = {  # standard deviations over nine segments, of the first table
    "sharp": (0.06, 0.07, 0.06),
    "rnn": (0.02, 0.02, 0.02),
    "lstm": (0.58, 0.61, 0.54),
    "gru": (0.03, 0.03, 0.03),
    "clockwork": (0.06, 0.06, 0.07),
    "transformer-5m": (0.02, 0.04, 0.02),
    "transformer-10m": (0.03, 0.04, 0.03),
}


AS_PRINTED = (
    "The claims above are judged by frozen bits as the paper printed them: capped, but not the Clockwork RNN's."
)


def figure(rows: Sequence[Row]) -> "Figure":
    """Prequential bits of all learners on one axis."""
    levels = ("ppmd-6", "zpaq-5")
    title = "Bits per character before learning from it"
    return pictures.curves_figure(rows, pictures.neural_and_best_counts(rows), title, levels)


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """Bars, retention, the gate, and bits against time."""
    shown = pictures.neural_and_best_counts(rows)
    drawings = {
        "probes": lambda: pictures.probes_figure(rows, shown),
        "retention": lambda: pictures.retention_picture(rows, "sharp"),
        "gate": lambda: pictures.gate_figure(rows, [arm for arm in ("sharp", *BLOCKS) if arm in shown]),
        "tradeoff": lambda: pictures.tradeoff_figure(rows),
    }
    return pictures.known_figures(drawings)


def claims(rows: Sequence[Row], published: Published, spreads: Published | None = None) -> list[Finding]:
    """Is SHARP the best of the neural learners, and how does it stand against counting and compressing?

    Under `paper` the published order and levels instead, both by what the paper would have printed.
    """
    if rows[0]["protocol"] == "paper":
        found = best_of_neural(as_printed(rows), published) + order(rows, published)
        return found + (levels(rows, published, spreads) if spreads else [])
    rivals = neural_rivals(published) | dict.fromkeys(("counts-5", *COMPRESSORS, *BLOCKS), "not compared")
    return best_of_neural(rows, published) + [_better(rows, "sharp", arm, gap) for arm, gap in rivals.items()]


def _better(rows: Sequence[Row], ours: str, theirs: str, published: str) -> Finding:
    claim = f"{arm_style(ours).label} is better than {arm_style(theirs).label} (prequential, paired)"
    return tables.better(rows, ours, theirs, "bits", claim, published)


def all_tables(rows: Sequence[Row], published: Published) -> str:
    """The main table, the differences, retention, and the published table."""
    bits = ("bits", *FROZEN)
    parts = [
        AS_PRINTED if rows[0]["protocol"] == "paper" else "",
        tables.main_table(rows, "All learners"),
        runaway_table(rows, "Worse than guessing"),
        tables.difference_table(rows, "sharp", bits, "SHARP against each"),
        tables.hearing_table(rows, "What each level hears of the one above"),
        tables.retention_table(rows, "What is kept"),
        published_table(rows, published),
    ]
    return tables.joined(parts)


def study(name: str, title: str, kind: str, published: Published, spreads: Published | None = None) -> Experiment:
    """All learners on one kind of scale (`segments.SCALES`), beside one published table."""
    return Experiment(
        name=name,
        title=title,
        jobs=lambda scale, protocol: segments.jobs(f"{kind}{scale}", protocol),
        work=segments.work,
        figure=figure,
        findings=lambda rows: claims(rows, published, spreads),
        runs=segments.runs,
        scored=segments.scored,
        more_figures=more_figures,
        page=lambda rows: all_tables(rows, published),
    )


EXPERIMENT = study("text8", "every learner on whole segments of text8, read once", "", PUBLISHED, SPREADS)
LONG = study("text8-long", "every learner on one long stream of text8", "long-", PUBLISHED_LONG)
