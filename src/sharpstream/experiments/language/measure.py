"""One arm on one piece of text: run it (or go on), score it frozen, and give every number with its regime.

Rows are long: arm, segment, seed, metric, tokens (where it was taken), value, and the regime's fields. Compressors give
the same metrics by differences of compressed sizes; they learn while scored, and their regime says so.
"""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.errors import ConfigError, NumericalError
from sharpstream.evaluate.bits import PAPER_CAP
from sharpstream.evaluate.hearing import hearing
from sharpstream.evaluate.protocols import EvaluationProtocol
from sharpstream.evaluate.rows import NOT_APPLICABLE, Cells, Regime
from sharpstream.experiments.language.kept_scores import scored_once
from sharpstream.experiments.pace import seconds_per_1000
from sharpstream.experiments.regimes import regime_of
from sharpstream.frozen import opened
from sharpstream.learners import compressors
from sharpstream.learners.contract import Tokens
from sharpstream.learners.sharp import Sharp
from sharpstream.loop import Run, prepare, run
from sharpstream.streams import open_stream

Span = tuple[int, int]
DIRECTIONS = ("forward", "current", "backward")
CHECKPOINT_SECONDS = 120.0
HEARD = 100_000  # tokens of the future over which it is asked what each level hears from above


def read(stream: StreamConfig, span: Span) -> Tokens:
    """The tokens of a span of the corpus, whatever part of it the run reads."""
    source = open_stream(replace(stream, start=0, end=None), seed=0)
    if source.length is not None and source.length < span[1]:
        raise ConfigError(
            f"{stream.name} has {source.length:,} tokens; characters {span[0]:,} to {span[1]:,} are needed"
        )
    source.seek(span[0])
    return source.take(span[1] - span[0])


def probe_spans(segment: Span, future: Span, length: int) -> dict[str, Span]:
    """forward: the held-out future; current: the end of the segment; backward: its beginning.

    >>> probe_spans((0, 100), (150, 160), 10)
    {'forward': (150, 160), 'current': (90, 100), 'backward': (0, 10)}
    """
    start, end = segment
    return {"forward": future, "current": (end - length, end), "backward": (start, start + length)}


def measured(
    directory: Path, config: RunConfig, arm: str, protocol: EvaluationProtocol, probes: Mapping[str, Span]
) -> list[Cells]:
    """Run to the end, then the curve, the means, the cost, the retention matrix and the frozen probes."""
    texts = {name: read(config.stream, span) for name, span in probes.items()}  # what is missing is said before hours
    try:
        run(directory, config, checkpoint_seconds=CHECKPOINT_SECONDS)
    except NumericalError:
        return _diverged(directory, config, arm)
    work = opened(directory)
    found = Rows(arm, config, regime_of(work.learner, clip=None, tokens=config.tokens))
    log = work.metrics.rows()
    _add_curve(found, log)
    _add_totals(found, work)
    for row in log:
        if row["event"] == "probe":
            for place, bits in enumerate(row["bits"]):
                found.add("retention", bits, tokens=row["tokens"], place=place)
    cap = PAPER_CAP if protocol.clip is None else protocol.clip_for(work.learner.name, config.stream.name)
    for name, text in texts.items():
        scored = scored_once(work, text, probe=name, cap=cap or math.inf)
        found.add(f"{name}_bits", scored.bits)
        found.add(f"{name}_bits_clipped", scored.bits_clipped, clip=cap)
        for place, bits in enumerate(scored.parts):
            found.add(f"{name}_part", bits, place=place)
    if texts:
        for level, bits in heard(work, texts[DIRECTIONS[0]]).items():
            found.add("heard", bits, place=level)
    return found.rows


def heard(run: Run, text: Tokens) -> dict[int, float]:
    """Level → bits that it loses, frozen, made deaf to the one above; nothing of learners that have no levels."""
    if not isinstance(run.learner, Sharp):
        return {}
    return dict(enumerate(hearing(run.learner, text[:HEARD]), start=1))


def _diverged(directory: Path, config: RunConfig, arm: str) -> list[Cells]:
    """Learning left the finite numbers. That is a result: the curve as far as it goes, and bits without end."""
    work = prepare(directory, config)
    found = Rows(arm, config, regime_of(work.learner, clip=None, tokens=config.tokens))
    _add_curve(found, work.metrics.rows())
    found.add("bits", math.inf)
    found.add("parameters", work.learner.parameters())
    found.add("active_parameters", work.learner.parameters(active=True))
    return found.rows


class Rows:
    """Collects rows that share an arm, a segment, a seed and, but for the cap, a regime."""

    def __init__(self, arm: str, config: RunConfig, regime: Regime) -> None:
        self.rows: list[Cells] = []
        self.regime = regime.cells()
        self.stamp = {"arm": arm, "segment": config.stream.start, "seed": config.seed, "stream": config.stream.name}
        self.tokens = config.tokens

    def add(
        self,
        metric: str,
        value: float | None,
        *,
        tokens: int | None = None,
        place: int | None = None,
        clip: float | None = None,
    ) -> None:
        """One number, taken after so many tokens (the whole run when not given); nothing for an unknown one."""
        if value is not None:
            at = self.tokens if tokens is None else tokens
            row = {**self.stamp, "metric": metric, "tokens": at, "place": place, "value": value}
            self.rows.append({**row, **self.regime, "clip": clip})


def _add_curve(found: Rows, log: Iterable[Mapping[str, Any]]) -> None:
    for row in log:
        if row["event"] == "interval":
            found.add("curve", row["bits"], tokens=row["tokens"])
            found.add("gated", row.get("gated"), tokens=row["tokens"])


def _add_totals(found: Rows, work: Run) -> None:
    means = work.total.means()
    found.add("bits", means["bits"])
    found.add("bits_clipped", means["bits_clipped"], clip=PAPER_CAP)
    found.add("error", means["error"])
    found.add("parameters", work.learner.parameters())
    found.add("active_parameters", work.learner.parameters(active=True))
    found.add("seconds_per_1000", seconds_per_1000(work.timing.readable_rows()))


def compressed(name: str, config: RunConfig, probes: Mapping[str, Span]) -> list[Cells]:
    """PPMd or zpaq on the same tokens: prequential bits, the unseen future, and the beginning once more."""
    compressor = next(one for one in compressors.comparators() if one.name == name)
    vocabulary = open_stream(config.stream, seed=0).vocabulary
    train = read(config.stream, (config.stream.start, config.stream.start + config.tokens))
    began = time.perf_counter()
    bits = compressor.prequential(train, vocabulary)
    seconds = time.perf_counter() - began
    regime = Regime(
        clip=None,
        train_context=NOT_APPLICABLE,
        score_context="adaptive",
        carry=NOT_APPLICABLE,
        update_interval=1,
        token_budget=config.tokens,
    )
    found = Rows(name, config, regime)
    found.add("bits", bits)
    found.add("seconds_per_1000", 1000 * seconds / config.tokens)
    for direction in (name for name in ("forward", "backward") if name in probes):
        probe = read(config.stream, probes[direction])
        found.add(f"{direction}_bits", compressor.forward_adaptive(train, probe, vocabulary))
    return found.rows
