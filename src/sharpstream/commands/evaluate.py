"""`sharp evaluate DIR`: what a run's learner knows, frozen: the future, the present and its first past."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import tyro

from sharpstream.commands.options import parse
from sharpstream.evaluate.context import RESET_LENGTHS, ContextPoint, effective_context, used_context
from sharpstream.evaluate.probes import score_probe
from sharpstream.evaluate.retention import RetentionMatrix, Segment
from sharpstream.evaluate.transfer import backward_transfer, forgetting, recall_gain
from sharpstream.frozen import opened
from sharpstream.learners.contract import Resettable
from sharpstream.loop import Run
from sharpstream.streams import open_stream


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Forward (unseen future), current (last learned) and backward (first learned) bits, with learning off."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """A run's directory."""
    length: int = 10_000
    """Tokens in each of the three probes."""
    context: bool = False
    """Also the bits when memory is wiped every m tokens, m = 4 to 4096: how much of the past is used."""
    json: bool = False
    """Print JSON."""


def main(argv: Sequence[str]) -> int:
    """Load the newest checkpoint, score the three probes, print them."""
    options = parse(EvaluateOptions, argv, command="evaluate")
    work = opened(options.directory)
    found: dict[str, Any] = {"probes": probe(work, options.length)}
    if options.context:
        found["context"] = context(work, max(options.length, max(RESET_LENGTHS)))
    found |= transfer(work)
    if options.json:
        print(json.dumps(found))
    else:
        show(found, f"{options.directory}: frozen after {work.total.tokens:,} tokens")
    return 0


def show(found: Mapping[str, Any], title: str) -> None:
    """The same for a person."""
    from rich.console import Console
    from rich.table import Table

    console, table = Console(), Table(title=title)
    for heading in ("probe", "tokens", "true bits", "bits capped at 4.755", "accuracy"):
        table.add_column(heading, justify="left" if heading == "probe" else "right")
    for row in found["probes"]:
        accuracy = "-" if row["accuracy"] is None else f"{row['accuracy']:.4f}"
        table.add_row(row["probe"], f"{row['tokens']:,}", f"{row['bits']:.4f}", f"{row['bits_clipped']:.4f}", accuracy)
    console.print(table)
    points = [ContextPoint(**point) for point in found.get("context", [])]
    for point in points:
        console.print(f"memory wiped every {point.every:>5,} tokens: {point.bits:.4f} bits", highlight=False)
    if points:
        console.print(f"it makes use of about the last {used_context(points):,} tokens", highlight=False)
    for name, value in found.get("transfer", {}).items():
        console.print(f"{name.replace('_', ' ')}: {value:+.4f} bits (positive is good)", highlight=False)


def context(work: Run, length: int) -> list[Mapping[str, Any]]:
    """Bits on the end of what was learned when the hidden state is wiped every m tokens."""
    stream = open_stream(replace(work.config.stream, end=None), seed=work.config.seed)
    length = min(length, work.total.tokens)
    stream.seek(work.total.tokens - length)
    tokens = stream.take(length)
    lengths = [every for every in RESET_LENGTHS if every <= tokens.size]
    return [vars(point) for point in effective_context(cast(Resettable, work.learner), tokens, lengths=lengths)]


def transfer(work: Run) -> dict[str, Any]:
    """Backward transfer, forgetting and recall gain from the probes the run made on its way, if it made any."""
    rows = [row for row in work.metrics.rows() if row["event"] == "probe"]
    if len(rows) < 2:
        return {}
    every, columns = rows[0]["every"], max(len(row["bits"]) for row in rows)
    matrix = RetentionMatrix([Segment(f"segment {i}", i * every, (i + 1) * every) for i in range(columns)])
    for row in rows:
        matrix.add(row["tokens"], row["bits"] + [float("nan")] * (columns - len(row["bits"])))
    found = {"backward_transfer": backward_transfer(matrix), "forgetting": forgetting(matrix)}
    if len(rows[-1]["bits"]) * every > rows[-1]["tokens"]:  # the last row has an unseen segment
        found["recall_gain"] = recall_gain(matrix)
    return {"transfer": found}


def probe(work: Run, length: int) -> list[Mapping[str, Any]]:
    """The three probes of a run's own stream; forward goes on where learning ended, if the corpus does."""
    learned = work.total.tokens
    length = min(length, learned)
    stream = open_stream(replace(work.config.stream, end=None), seed=work.config.seed)
    rows: list[Mapping[str, Any]] = []
    for name, start in (("forward", learned), ("current", learned - length), ("backward", 0)):
        stream.seek(start)
        tokens = stream.take(length)
        if tokens.size:
            rows.append(vars(score_probe(work.learner, tokens, probe=name)))
    return rows
