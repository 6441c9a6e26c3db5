"""The tables that stand in the README and on the pages above the studies: made from rows, never copied by hand.

A page marks the place with `<!-- table NAME -->` and `<!-- end of table -->`; `sharp pages` writes what lies between.
In come the committed rows of several studies, out comes Markdown; a line that was not measured is left out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sharpstream.errors import RunError
from sharpstream.evaluate.pairs import Estimate, mean_interval
from sharpstream.evaluate.rows import Row
from sharpstream.experiments.harness import read_rows
from sharpstream.report.grid import Grid, markdown, rows_from_csv

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
    Line("episodic without its network (`fast`)", "frontier/paper", "episodic fast"),
    Line("zpaq -m5 (goes on learning)", "text8/text8", "zpaq-5"),
    Line("PPMd of order 16 (goes on learning)", "text8/text8", "ppmd-16"),
    Line("counts, order 5", "text8/text8", "counts-5"),
    Line("GRU, width 128", "text8/text8", "gru", "2.41"),
    Line("RNN, width 128", "text8/text8", "rnn", "2.47"),
    Line("SHARP, width 512, on-tick", "text8/text8-wide", "sharp-tick", "2.32"),
    Line("SHARP, width 512, on-tick, first 2M only", "text8/text8-wide", "tick-sleep", "", 2_000_000),
    Line("Transformer 5M, one update per 1024", "text8/text8", "transformer-5m", "2.41"),
    Line("Transformer 10M, one update per 1024", "text8/text8", "transformer-10m", "2.43"),
    Line("SHARP, width 128", "text8/text8", "sharp"),
    Line("Clockwork RNN, width 128", "text8/text8", "clockwork", "2.95 (not capped)"),
    Line("film-normed, width 128 (not the paper's block)", "text8/text8", "film-normed"),
)
FORWARD = ("forward_bits", "forward")  # the second is how the frontier calls it
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
    note = "First ten million characters, read once; ± is half of the 95 % interval, where there are several seeds."
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
    kept: dict[str, Sequence[Row]] = {}

    def rows(study: str) -> Sequence[Row]:
        if study not in kept:
            kept[study] = read_rows(results / study)
        return kept[study]

    return {"text8": lambda: text8_table(rows), "engine": lambda: engine_table(results)}


def filled(text: str, results: Path) -> str:
    """A page with its tables as the rows have them now."""
    known = tables(results)

    def replaced(place: re.Match[str]) -> str:
        name = place.group(2)
        if name not in known:
            raise RunError(f"there is no table {name!r}; there are: {', '.join(known)}")
        return f"{place.group(1)}{markdown(known[name]())}{place.group(3)}"

    return PLACE.sub(replaced, text)
