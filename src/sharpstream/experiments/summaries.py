"""The tables that stand in the README and on the pages above the studies: made from rows, never copied by hand.

A page marks the place with `<!-- table NAME -->` and `<!-- end of table -->`; `sharp pages` writes what lies between.
In come the committed rows of several studies, out comes Markdown; a line that was not measured is left out.
"""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sharpstream.errors import RunError
from sharpstream.evaluate.pairs import Estimate, mean_interval
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import DIFFERS, HOLDS, NO_DIFFERENCE, NOT_DECIDED, NOT_RUN
from sharpstream.experiments.effective_context import TEXT, reach
from sharpstream.experiments.harness import experiment_named, read_rows, shown_findings
from sharpstream.experiments.language import pictures
from sharpstream.experiments.language.wall_time_page import PUBLISHED as PUBLISHED_SECONDS
from sharpstream.experiments.language.wall_time_page import times
from sharpstream.experiments.simulations.acceleration import LOOKS
from sharpstream.experiments.simulations.common import final_errors, select
from sharpstream.report.grid import Grid, markdown, rows_from_csv
from sharpstream.report.scatter import bits_against_seconds
from sharpstream.report.style import arm_style

PLACE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)
Rows = Callable[[str], Sequence[Row]]  # the directory of a study below results/ → its rows


@dataclass(frozen=True)
class Line:
    """One line of a table of bits: whose numbers, from which study."""

    label: str
    study: str
    arm: str
    published: str = ""
    tokens: int | None = 10_000_000


TEXT8 = (
    Line("**episodic**, 256 MB", "frontier/paper", "episodic"),
    Line("episodic, 4 GB", "frontier/paper", "episodic 4GB"),
    Line("episodic without network and residual (`fast`)", "frontier/paper", "episodic fast"),
    Line("zpaq -m5 (goes on learning)", "text8/text8", "zpaq-5"),
    Line("PPMd of order 16 (goes on learning)", "text8/text8", "ppmd-16"),
    Line("counts, order 5", "text8/text8", "counts-5"),
    Line("GRU, width 128", "text8/text8", "gru", "2.41"),
    Line("RNN, width 128", "text8/text8", "rnn", "2.47"),
    Line("SHARP, width 512, on-tick", "text8/text8-wide", "sharp-tick", "2.32"),
    Line("SHARP, width 512, on-tick, first 2M only", "text8/text8-wide", "tick-sleep", "", 2_000_000),
    Line("RNN, width 512, first 2M only", "text8/text8-wide", "rnn", "", 2_000_000),
    Line("Transformer 5M, one update per 1024", "text8/text8", "transformer-5m", "2.41"),
    Line("Transformer 10M, one update per 1024", "text8/text8", "transformer-10m", "2.43"),
    Line("SHARP, width 128", "text8/text8", "sharp"),
    Line("Clockwork RNN, width 128", "text8/text8", "clockwork", "2.95 (not capped)"),
    Line("film-normed, width 128 (not the paper's block)", "text8/text8", "film-normed"),
)
FORWARD = ("forward_bits", "forward", "forward_last")  # the frontier calls it so; the last is not of a mean
CAPPED = ("forward_bits_clipped",)


def text8_table(rows: Rows) -> Grid:
    """The first segment: before learning, and frozen on the held-out future."""
    lines = []
    for line in TEXT8:
        here = [row for row in rows(line.study) if row["arm"] == line.arm and _first_segment(row, line.tokens)]
        bits = _shown(here, ("bits",))
        if bits is not None:
            lines.append((line.label, bits, _shown(here, FORWARD), _shown(here, CAPPED), line.published))
    columns = ("learner", "before learning", "frozen, future", "the same, capped", "published (width 512, capped)")
    note = "First ten million characters, read once; ± is half of the 95 % interval, where there are several seeds. "
    note += "Frozen, the episodic learner of 256 MB reads what it learned in its mean; all others as it was last."
    return Grid(title="text8, bits per character", columns=columns, rows=tuple(lines), note=note)


def _first_segment(row: Row, tokens: int | None) -> bool:
    return bool(row["segment"] == 0 and row.get("token_budget", row["tokens"]) == tokens)


def _shown(rows: Iterable[Row], metrics: Sequence[str]) -> str | None:
    """The mean over seeds of the first of these metrics that was measured."""
    found: Estimate | None = None
    for metric in metrics:
        values = [row["value"] for row in rows if row["metric"] == metric]
        found = found or (mean_interval(values) if values else None)
    if found is None:
        return None
    return f"{found.mean:.3f}" if found.n == 1 else f"{found.mean:.3f} ± {found.half_width:.3f}"


# Arm: T, complexity and effective context as published, parameters as published, and its name in effective-context.
COLUMNS = {
    "sharp": ("4", "O(T)", "α^L = 1024", "9.7M (5M active)", "sharp-5"),
    "rnn": ("4", "O(T)", "T", "2.4M", "rnn"),
    "lstm": ("4", "O(T)", "T", "9.7M", None),
    "gru": ("4", "O(T)", "T", "7.3M", "gru"),
    "clockwork": ("4", "O(T)", "T", "4.3M", None),
    "transformer-5m": ("1024", "O(T²)", "T", "5.0M", None),
    "transformer-10m": ("1024", "O(T²)", "T", "9.7M", None),
}


def columns_table(rows: Rows) -> Grid:
    """What the published text8 table says beside its bits, and what was measured of it here."""
    timed, context = rows("text8/wall-time"), rows("effective-context")
    seconds = times(timed, 512)
    lines = []
    for arm, (window, complexity, claimed, size, reader) in COLUMNS.items():
        said = (arm_style(arm).label, window, complexity, claimed)
        reached = reach(context, TEXT, reader) if reader else None
        cost = f"{seconds[arm].seconds:.3g}" if arm in seconds else None
        lines.append((*said, reached, size, _size(timed, arm), f"{PUBLISHED_SECONDS[arm]:.2f}", cost))
    columns = ("learner", "T", "time", "effective context, claimed", "used here", "parameters, published", "here")
    return Grid(
        title="The other columns of the published table",
        columns=(*columns, "s / 1000 tokens, published", "here"),
        rows=tuple(lines),
        note="Effective context here: text8, width 128, after 2M characters. Parameters and seconds: width 512, "
        "alone on a core. The Transformers' published time is for a full window at every token, which nobody trained.",
    )


def _size(timed: Sequence[Row], arm: str) -> str | None:
    """Parameters and, where they are fewer, the active ones."""
    found = [(row["parameters"], row["active_parameters"]) for row in select(timed, width=512, arm=arm)]
    if not found:
        return None
    whole, active = map(int, found[0])
    return f"{whole:,}" if active == whole else f"{whole:,} ({active:,} active)"


WIDE = {"sharp-tick": "sharp-512-tick"}  # the picture has learners of other widths beside it


def frontier_points(rows: Rows) -> dict[str, tuple[float, float]]:
    """Every learner and compressor on the first ten million of text8: (seconds per 1000 characters, bits).

    From `frontier` where it has the arm, else from `text8` and `text8-wide`; ablations, other budgets and what is
    far above everyone stay there.
    """
    points: dict[str, tuple[float, float]] = {}
    for study, cost, scale in (
        ("frontier/paper", "microseconds", 1e-3),
        ("text8/text8", "seconds_per_1000", 1.0),
        ("text8/text8-wide", "seconds_per_1000", 1.0),
    ):
        here = [row for row in rows(study) if _first_segment(row, 10_000_000)]
        for arm in dict.fromkeys(row["arm"] for row in here):
            values = {row["metric"]: row["value"] for row in here if row["arm"] == arm}
            part_of = arm.startswith("episodic") and arm not in ("episodic", "episodic fast")
            hidden = part_of or arm in (*points, *pictures.FAR_ABOVE)
            if not hidden and values.get("bits", 0) and values.get(cost, 0):
                points[WIDE.get(arm, arm)] = (values[cost] * scale, values["bits"])
    return points


def draw_frontier(results: Path) -> Path:
    """The picture on top of the README."""
    from sharpstream.report.style import save_figure

    points = frontier_points(functools.cache(lambda study: read_rows(results / study)))
    title = "text8, first 10M characters (times of several runs): lower left is better"
    return save_figure(bits_against_seconds(points, title=title), results / "frontier" / "all.png")[0]


RULE_ARMS = ("alpha 4", "no sleep", "film-normed", "rnn", "rnn overlap")
LAST = 100_000  # tokens behind an error at the end


def rules_table(rows: Rows) -> Grid:
    """Who finds the rule of nonlinear(K): the error at the end of every repetition."""
    here = rows("simulations/acceleration")
    ks = (2, 4, 6)
    lines = []
    for arm in RULE_ARMS:
        cells = []
        for k in ks:
            part = select(here, k=k, arm=arm)
            last = max((row["tokens"] for row in part), default=0)
            cells.append(", ".join(f"{error:.3f}" for error in final_errors(part, last, LAST).values()) or None)
        if any(cells):
            lines.append((LOOKS[arm].label, *cells))
    columns = ("learner", *(f"nonlinear({k}): the last {4 * k - 1} tokens" for k in ks))
    note = (
        "Share of wrong guesses at the end, one number a repetition; not knowing the rule 0.333, best possible 0.208."
    )
    return Grid(
        title="Rules that reach further back than any gradient (4 tokens)",
        columns=columns,
        rows=tuple(lines),
        note=note,
    )


STUDIES = ("memory-carryover", "drift", "head-depth", "replay-quality", "acceleration")


def simulations_table(rows: Rows) -> Grid:
    """The five mechanistic studies: how many of the paper's claims and numbers hold here."""
    words = (HOLDS, NO_DIFFERENCE, DIFFERS, NOT_DECIDED, NOT_RUN)
    lines: list[tuple[str | int, ...]] = []
    for study in STUDIES:
        here = rows(f"simulations/{study}")
        verdicts = [finding.verdict for finding in shown_findings(experiment_named(study), here)]
        counts = [sum(verdict.startswith(word) for verdict in verdicts) for word in words]
        lines.append((f"[{study}]({study}/RESULTS.md)", *counts))
    note = "Published numbers and claims, judged by intervals over repetitions; each page names them one by one."
    return Grid(title="Claims of the paper, by verdict", columns=("study", *words), rows=tuple(lines), note=note)


def engine_table(results: Path) -> Grid:
    """What a token costs SHARP, from the committed benchmark."""
    rows = rows_from_csv((results / "bench" / "bench-engine.csv").read_text(encoding="utf-8"))
    value = {(row["arm"], row["quantity"]): row["value"] for row in rows}
    lines = (
        ("credit at every step (the paper's)", "wake, steady state", "{:.3f} ms"),
        ("credit on-tick", "wake, on-tick, steady state", "{:.3f} ms"),
        ("on-tick is faster by", "every-step / on-tick", "{:.1f} ×"),
        ("the PyTorch twin is slower by", "fused against reference, steady state", "{:.1f} ×"),
        ("a bare pass over p, m, v, placed as ours", "floor, buffers placed as ours", "{:.3f} ms"),
        ("frozen", "evaluate", "{:,.0f} tokens/s"),
    )
    cells = tuple(
        (label, *(form.format(value[width, name]) for width in ("H128", "H512"))) for label, name, form in lines
    )
    return Grid(
        title="One token of text8 (five levels, depth 2), one thread, all in one run",
        columns=("", "width 128", "width 512"),
        rows=cells,
        note=f"`{rows[0]['command']}`, {rows[0]['machine']}.",
    )


def tables(results: Path) -> dict[str, Callable[[], Grid]]:
    """Every table by its name."""
    rows = functools.cache(lambda study: read_rows(results / study))
    return {
        "text8": lambda: text8_table(rows),
        "columns": lambda: columns_table(rows),
        "simulations": lambda: simulations_table(rows),
        "rules": lambda: rules_table(rows),
        "engine": lambda: engine_table(results),
    }


def filled(text: str, results: Path) -> str:
    """A page with its tables as the rows have them now."""
    known = tables(results)

    def replaced(place: re.Match[str]) -> str:
        name = place.group(2)
        if name not in known:
            raise RunError(f"there is no table {name!r}; there are: {', '.join(known)}")
        return f"{place.group(1)}{markdown(known[name]())}{place.group(3)}"

    return PLACE.sub(replaced, text)
