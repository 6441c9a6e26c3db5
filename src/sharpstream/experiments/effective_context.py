"""effective-context: how far back each learner really reaches, by wiping its memory every m tokens.

The published table claims α^L tokens for SHARP and T for the recurrent learners. Here each learner reads a stream once,
is frozen, and is scored with its state set back every m tokens, m = 4 … 4096: text8 in bits, nonlinear(K) in errors.
Rows have the mean over all tokens and, for what is used, over those with at least m/2 tokens behind them. Of a rule
each quarter of what is scored begins one token later: a visit is four tokens long, as is the shortest memory, which
would else meet the same place of every visit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import RecurrentConfig, RunConfig, SharpConfig, StreamConfig, TransformerConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.context import RESET_LENGTHS, ContextPoint, remembered, used_context
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language.arms import SIZES, run_of
from sharpstream.experiments.language.measure import Span, read
from sharpstream.frozen import opened
from sharpstream.learners.contract import Array, Resettable, Tokens
from sharpstream.loop import run
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import BLUE, ORANGE, VERMILLION, arm_style, new_figure, styled
from sharpstream.streams import open_stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = (1, 3, 5)
SHARPS = {f"sharp-{levels}": levels for levels in LEVELS}
ARMS = (*SHARPS, "rnn", "gru", "transformer", "counts")
TEXT = "text"
TOLERANCE = {TEXT: 0.01}  # bits within which a shorter memory is as good; errors: one in two hundred
NEAR = 0.005
VISIT = 4  # tokens of nonlinear(K) from one hub to the next
CLAIMED = "α^L (SHARP: 4, 64, 1024 for 1, 3, 5 levels); T = 4 (RNN, GRU)"


@dataclass(frozen=True)
class Scale:
    """Which text and how much of it, which rules and how much of those, over how many tokens it is scored."""

    text: str
    size: str
    tokens: int
    future: int
    rules: Mapping[int, int]
    """K → tokens of nonlinear(K)."""
    scored: int
    lengths: tuple[int, ...] = RESET_LENGTHS


SCALES = {
    "quick": Scale("python-docs", "tiny", 6_000, 12_000, {2: 6_000}, 2_048, (4, 16, 64, 256)),
    "laptop": Scale("text8", "128", 2_000_000, 51_000_000, {2: 1_000_000, 4: 2_000_000, 6: 2_000_000}, 100_000),
    "paper": Scale("text8", "512", 10_000_000, 51_000_000, dict.fromkeys((2, 4, 6), 5_000_000), 100_000),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Text first, then the rules, learner by learner."""
    places = [TEXT, *(f"nonlinear-{k}" for k in SCALES[scale].rules)]
    return [
        Job(f"{place}-{arm}", {"scale": scale, "protocol": protocol, "place": place, "arm": arm})
        for place in places
        for arm in ARMS
    ]


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job."""
    scale, arm, place = SCALES[settings["scale"]], settings["arm"], settings["place"]
    if place != TEXT:
        k = int(place.removeprefix("nonlinear-"))
        return _rule_run(arm, recipes.acceleration()).replace(
            stream=StreamConfig(name="nonlinear", k=k), tokens=scale.rules[k]
        )
    names = {"counts": "counts-5", "transformer": next(iter(SIZES[scale.size].transformers))}
    name = "sharp" if arm in SHARPS else names.get(arm, arm)
    config = run_of(name, SIZES[scale.size], settings["protocol"])
    return _levelled(arm, config).replace(
        stream=StreamConfig(name=scale.text, start=0, end=scale.tokens), tokens=scale.tokens
    )


def _rule_run(arm: str, base: RunConfig) -> RunConfig:
    """The learner of an arm at the size of the simulations."""
    s = base.sharp
    name = "sharp" if arm in SHARPS else arm
    recurrent = RecurrentConfig(layers=s.levels, width=s.width, embedding=s.embedding, adam=s.adam)
    transformer = TransformerConfig(layers=2, width=96, heads=4, d_ff=192, chunk=256, adam=replace(s.adam, lr=1e-3))
    config = base.replace(learner=name, recurrent=recurrent, transformer=transformer)
    return _levelled(arm, config.replace(counts=replace(config.counts, accuracy=True)))


def _levelled(arm: str, config: RunConfig) -> RunConfig:
    """The same SHARP with the arm's number of levels; whoever else it is stays as it is."""
    return config.replace(sharp=with_levels(config.sharp, SHARPS[arm])) if arm in SHARPS else config


def with_levels(sharp: SharpConfig, levels: int) -> SharpConfig:
    """So many levels, and replays long enough to fill one window of the topmost."""
    length = max(sharp.sleep.replay_length, sharp.window * sharp.acceleration ** (levels - 1))
    return replace(sharp, levels=levels, sleep=replace(sharp.sleep, replay_length=length))


def work(job: Job, directory: Path) -> list[Cells]:
    """Learn once, then score frozen with every length of memory."""
    config, scale = config_of(job.settings), SCALES[job.settings["scale"]]
    tokens = _unseen(config, scale)
    run(directory, config, checkpoint_seconds=120.0)
    learner = opened(directory).learner
    if not isinstance(learner, Resettable):
        raise ConfigError(f"{learner.name} cannot be reset, so its context cannot be measured")
    stamp = {"place": job.settings["place"], "arm": job.settings["arm"], "seed": config.seed}
    rows = []
    for every in (*scale.lengths, 0):
        scores: dict[str, list[Array]] = {"bits": [], "bits_late": [], "error": [], "error_late": []}
        for part in [tokens] if job.settings["place"] == TEXT else staggered(tokens):
            bits = learner.evaluate_with_resets(part, every)
            wrong = 1.0 - learner.correct.astype(np.float64)
            for name, values in (("bits", bits), ("error", wrong)):
                scores[name].append(values)
                scores[f"{name}_late"].append(remembered(values, every) if values.size else values)
        whole = {name: np.concatenate(parts) for name, parts in scores.items()}
        means = {name: float(values.mean()) if values.size else None for name, values in whole.items()}
        rows.append({**stamp, "every": every, **means, "tokens": config.tokens})
    return rows


def staggered(tokens: Tokens) -> list[Tokens]:
    """Four parts of equal length, each beginning at another place of a visit.

    >>> [(int(part[0]), int(part[-1])) for part in staggered(np.arange(36))]
    [(0, 7), (9, 16), (18, 25), (27, 34)]
    """
    length = (len(tokens) - VISIT) // VISIT**2 * VISIT
    return [tokens[i * (length + 1) :][:length] for i in range(VISIT)]


def _unseen(config: RunConfig, scale: Scale) -> Tokens:
    """Text that nobody has read; of a rule, the stream as it goes on where learning ended."""
    if config.stream.name != "nonlinear":
        span: Span = (scale.future, scale.future + scale.scored)
        return read(config.stream, span)
    stream = open_stream(config.stream, seed=config.seed)
    stream.seek(config.tokens)
    return stream.take(scale.scored)


def measured_in(place: str) -> str:
    """Bits of a text, errors of a rule; of tokens with at least half a stretch behind them."""
    return "bits_late" if place == TEXT else "error_late"


def points(rows: Sequence[Row], place: str, arm: str) -> list[ContextPoint]:
    """What one learner has at each length of memory."""
    return [
        ContextPoint(row["every"], row[measured_in(place)])
        for row in rows
        if row["place"] == place and row["arm"] == arm and row["every"] > 0 and row[measured_in(place)] is not None
    ]


def reach(rows: Sequence[Row], place: str, arm: str) -> int | None:
    """The shortest memory that is as good as the longest; None where it was not run."""
    known = points(rows, place, arm)
    return used_context(known, tolerance=TOLERANCE.get(place, NEAR)) if known else None


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """One panel per stream: what is lost at each length of memory."""
    places = list(dict.fromkeys(row["place"] for row in rows))
    drawing = new_figure(max(4.4 * len(places) + 0.6, 7.2), 4.8)
    panels = drawing.subplots(1, len(places), squeeze=False)[0]
    for axes, place in zip(panels, places, strict=True):
        _draw(axes, rows, place)
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 2 + 2 * len(places)))
    drawing.suptitle("How far back each learner reaches: its memory is wiped every m tokens", fontsize=11)
    return drawing


COLOURS = {"sharp-1": ORANGE, "sharp-3": BLUE, "sharp-5": VERMILLION}


def _draw(axes: "Axes", rows: Sequence[Row], place: str) -> None:
    for arm in ARMS:
        known = points(rows, place, arm)
        if known:
            look = arm_style("sharp" if arm in SHARPS else arm)
            at, values = [p.every for p in known], [p.bits for p in known]
            colour = COLOURS.get(arm, look.colour)
            axes.plot(at, values, look.line, marker=look.marker, markersize=4, color=colour, label=label_of(arm))
    axes.set_xscale("log", base=2)
    name = "text, bits per character" if place == TEXT else f"nonlinear({place[-1]}), share of wrong guesses"
    axes.set(title=name, xlabel="m: tokens between two wipes of the memory")


def label_of(arm: str) -> str:
    """SHARP with its levels, or the learner's own label."""
    levels = SHARPS.get(arm)
    return arm_style(arm).label if levels is None else f"SHARP, {levels} level{'s' if levels > 1 else ''}"


def findings(rows: Sequence[Row]) -> list[Finding]:
    """What was claimed beside what is used; one run each, so numbers and no verdicts."""
    found = []
    for place in dict.fromkeys(row["place"] for row in rows):
        shown = [f"{label_of(arm)} {reach(rows, place, arm)}" for arm in ARMS if reach(rows, place, arm) is not None]
        found.append(Finding(f"tokens of context used, {place}", CLAIMED, ", ".join(shown), "one run each"))
    return found


def page(rows: Sequence[Row]) -> str:
    """Every length of memory, one table a stream."""
    parts = []
    for place in dict.fromkeys(row["place"] for row in rows):
        known = {arm: {p.every: p.bits for p in points(rows, place, arm)} for arm in ARMS}
        lengths = sorted({every for values in known.values() for every in values})
        lines = tuple(
            (label_of(arm), reach(rows, place, arm), *(values.get(every) for every in lengths))
            for arm, values in known.items()
            if values
        )
        tolerance = TOLERANCE.get(place, NEAR)
        what = "Bits" if place == TEXT else "Share of wrong guesses"
        note = (
            f"{what} of tokens with m/2 to m tokens behind them since the last wipe; used: the smallest m within "
            f"{tolerance:g} of the largest."
        )
        columns = ("learner", "used", *(f"m = {every}" for every in lengths))
        parts.append(markdown(Grid(title=place, columns=columns, rows=lines, note=note, decimals=3)).strip("\n"))
    return "\n\n".join(parts)


EXPERIMENT = Experiment(
    name="effective-context",
    title="how far back each learner reaches",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [config_of(job.settings)],
    scored=lambda job: (1 + len(SCALES[job.settings["scale"]].lengths)) * SCALES[job.settings["scale"]].scored,
    page=page,
)
