"""text8-long: the same learners over one long stream: who still learns, who falls apart, and what is kept."""

from collections.abc import Sequence

from sharpstream.experiments.harness import Experiment, Finding, Job, Row
from sharpstream.experiments.language import segments, text8

# Published after 90M characters, at width 512 under `paper`, capped as in text8.
PUBLISHED: text8.Published = {
    "sharp": (2.36, 2.32, 2.33),
    "rnn": (2.70, 4.63, 4.63),
    "lstm": (3.17, 3.16, 3.14),
    "gru": (2.57, 2.50, 2.56),
    "clockwork": (2.88, 2.85, 2.78),
    "transformer-10m": (2.22, 2.15, 2.20),
    "transformer-5m": (2.19, 2.12, 2.17),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """One job an arm."""
    return segments.jobs(f"long-{scale}", protocol)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of `text8` against this table."""
    return text8.claims(rows, PUBLISHED)


def page(rows: Sequence[Row]) -> str:
    """The tables of `text8` beside this one."""
    return text8.all_tables(rows, PUBLISHED)


EXPERIMENT = Experiment(
    name="text8-long",
    title="every learner on one long stream of text8",
    jobs=jobs,
    work=segments.work,
    figure=text8.figure,
    findings=findings,
    runs=segments.runs,
    scored=segments.scored,
    more_figures=text8.more_figures,
    page=page,
)
