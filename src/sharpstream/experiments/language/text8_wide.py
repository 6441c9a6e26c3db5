"""text8-wide: SHARP at the paper's own size, width 512, beside the RNN and the GRU of that size; and what it earns.

An arm is a line of `ARMS`: a learner, what is changed in it, on which text, how much of it. Pattern blocks take credit
on-tick but for one arm, which shows on a million characters what that changes; γ was chosen on the tuning slice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sharpstream.config import RunConfig, SharpConfig, StreamConfig
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.arms import SIZES, run_of
from sharpstream.experiments.language.measure import DIRECTIONS, Span, measured, probe_spans
from sharpstream.experiments.language.segments import FUTURE, MILLION
from sharpstream.experiments.language.text8 import PUBLISHED, SPREADS
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import arm_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Change = Callable[[SharpConfig], SharpConfig]
TUNING = 50 * MILLION  # where the slice for choices begins; nothing reported is read from it
ON_TICK, EVERY_STEP = "sharp-tick", "sharp"
PARTS = ("tick-no-sleep", "tick-dead", "tick-one-level")  # what `tick-sleep` is without one of its parts
RIVALS = {"tick-sleep": "rnn", EVERY_STEP: "gru"}  # SHARP → who has read as much
LEVEL, SPREAD = PUBLISHED["sharp"][0], SPREADS["sharp"][0]  # forward, capped, after 10M


@dataclass(frozen=True)
class Arm:
    """One line of the study."""

    learner: str
    tokens: int
    """How much of each of its segments it reads, in parts of the scale's million."""
    starts: tuple[int, ...] = (0,)
    change: Change = lambda sharp: sharp
    carry: Literal["aligned", "overlap"] = "aligned"


def with_gamma(gamma: float) -> Change:
    """On-tick credit with this slow-down."""
    return lambda sharp: replace(recipes.on_tick(sharp), gamma=gamma)


def _ticking(change: Change) -> Change:
    return lambda sharp: change(recipes.text8_on_tick(sharp))


ARMS: dict[str, Arm] = {
    **{f"gamma-{gamma:g}": Arm("sharp", 300_000, (TUNING,), with_gamma(gamma)) for gamma in (0.1, 0.4, 1.0)},
    ON_TICK: Arm("sharp", 10 * MILLION, (0, 10 * MILLION), recipes.text8_on_tick),
    EVERY_STEP: Arm("sharp", MILLION),
    "tick-sleep": Arm("sharp", 2 * MILLION, (0,), recipes.text8_on_tick),
    "tick-no-sleep": Arm("sharp", 2 * MILLION, (0,), _ticking(recipes.never_sleeps)),
    "tick-dead": Arm("sharp", 2 * MILLION, (0,), _ticking(recipes.dead_upper_levels)),
    "tick-one-level": Arm("sharp", 2 * MILLION, (0,), _ticking(recipes.one_level)),
    "rnn": Arm("rnn", 2 * MILLION),
    "rnn-overlap": Arm("rnn", 2 * MILLION, carry="overlap"),
    # 7.9M weights and both moments of each pass through memory at every token, 5 ms of it: half as much text.
    "gru": Arm("gru", MILLION),
    "gru-overlap": Arm("gru", MILLION, carry="overlap"),
}


@dataclass(frozen=True)
class Scale:
    """Which text, how large the learners, and how many tokens stand for one of the arms'."""

    stream: str
    size: str
    future: Span
    probe: int
    log_every: int
    shrink: int = 1
    """Every number of tokens is divided by this."""


SCALES = {
    "quick": Scale("python-docs", "tiny", (12_000, 13_000), 500, 500, 5_000),
    "laptop": Scale("text8", "512", FUTURE, MILLION, 50_000),
    "paper": Scale("text8", "512", FUTURE, MILLION, 50_000),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """In the order of the arms; a segment is named by its first character."""
    return [
        Job(f"{arm}-from{start // MILLION}M", {"scale": scale, "protocol": protocol, "arm": arm, "start": start})
        for arm, line in ARMS.items()
        for start in line.starts
    ]


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job."""
    scale, arm = SCALES[settings["scale"]], ARMS[settings["arm"]]
    start, tokens = settings["start"] // scale.shrink, max(arm.tokens // scale.shrink, 100)
    base = run_of(arm.learner, SIZES[scale.size], settings["protocol"])
    return base.replace(
        sharp=arm.change(base.sharp),
        recurrent=replace(base.recurrent, carry=arm.carry),
        stream=StreamConfig(name=scale.stream, start=start, end=start + tokens),
        tokens=tokens,
        seed=settings["start"] // (10 * MILLION),
        log_every=scale.log_every,
    )


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm on its text; what is only a choice of γ is not scored frozen."""
    scale, config = SCALES[job.settings["scale"]], config_of(job.settings)
    span = (config.stream.start, config.stream.start + config.tokens)
    probes = probe_spans(span, scale.future, min(scale.probe, config.tokens // 2))
    chooses = job.settings["start"] == TUNING
    protocol = protocol_named(job.settings["protocol"])
    return measured(directory, config, job.settings["arm"], protocol, {} if chooses else probes)


def reported(rows: Sequence[Row]) -> list[Row]:
    """What is not of the tuning slice."""
    return [row for row in rows if not row["arm"].startswith("gamma-")]


def figure(rows: Sequence[Row]) -> "Figure":
    """Prequential bits of the learners on the text that most of them have read."""
    arms = tables.arms_of(reported(rows)) or tables.arms_of(rows)
    learners = [arm for arm in arms if arm != ON_TICK and arm not in PARTS] or arms
    return pictures.curves_figure(rows, learners, "Learners of width 512 on text8")


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """The two million in which the parts are compared, as differences; and SHARP along whole segments."""
    parts = [row for row in rows if row["arm"].startswith("tick-")]
    whole = [row for row in rows if row["arm"] == ON_TICK]
    drawings = {
        "against": lambda: pictures.against_figure(parts, "tick-sleep"),
        "segments": lambda: pictures.curves_figure(whole, [ON_TICK], "Along a segment of text8") if whole else None,
    }
    return pictures.known_figures(drawings)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published level, the published order on the same text, and whether each part is worth something here."""
    ours = tables.estimate(rows, ON_TICK, "forward_bits_clipped")
    gap = ours and replace(ours, mean=ours.mean - LEVEL, low=ours.low - LEVEL, high=ours.high - LEVEL)
    claim = "SHARP is at or below the published level, forward, capped, after 10M"
    level = judged(claim, f"{LEVEL} ± {SPREAD}", tables.plus_minus(ours) or "-", [gap], Claim("below", SPREAD))
    order = [
        tables.better(
            rows, ours, f"{rival}{carry}", metric, f"better than {arm_style(f'{rival}{carry}').label}, {when}",
            f"{LEVEL - PUBLISHED[rival][0]:+.2f} forward, capped",
        )
        for ours, rival in RIVALS.items()
        for carry in ("", "-overlap")
        for metric, when in (("bits", "before learning"), ("forward_bits", "frozen, forward"))
    ]  # fmt: skip
    parts = [
        tables.better(rows, "tick-sleep", arm, "bits", f"better than {arm_style(arm).label} (first 2M)", "better")
        for arm in PARTS
    ]
    return [level, *order, *parts]


def page(rows: Sequence[Row]) -> str:
    """The arms, what on-tick credit changes, and the choice of γ."""
    shown = reported(rows)
    bits = ("bits", *(f"{direction}_bits" for direction in DIRECTIONS))
    return tables.joined(
        (
            tables.main_table(shown, "All arms") if shown else "",
            same_text(rows, "On the same text", (EVERY_STEP, ON_TICK, "rnn", "rnn-overlap", "gru", "gru-overlap")),
            tables.difference_table(shown, "tick-sleep", bits, "What each part earns, first 2M"),
            tables.hearing_table(shown, "What each level hears of the one above"),
            _gammas(rows),
        )
    )


def same_text(rows: Sequence[Row], title: str, arms: Sequence[str]) -> str:
    """Means of the first, second, … million of segment 0 of whatever reads it, from the curves."""
    lines = []
    for arm in arms:
        at = {r["tokens"]: r["value"] for r in rows if r["arm"] == arm and r["metric"] == "curve" and r["segment"] == 0}
        means = [_mean_until(at, million * MILLION) for million in range(1, 4)]
        if any(mean is not None for mean in means):
            lines.append((arm_style(arm).label, *means))
    columns = ("learner", "first million", "second million", "third million")
    note = "True bits before learning, characters 0 to 3M of text8."
    return markdown(Grid(title=title, columns=columns, rows=tuple(lines), note=note)) if lines else ""


def _mean_until(curve: Mapping[int, float], end: int) -> float | None:
    """The mean of the intervals in the million that ends here; None when it was not reached."""
    part = [bits for tokens, bits in curve.items() if end - MILLION < tokens <= end]
    return sum(part) / len(part) if end in curve and part else None


def _gammas(rows: Sequence[Row]) -> str:
    """The choice of γ."""
    lines = [(arm, tables.mean_of(rows, arm, "bits")) for arm in tables.arms_of(rows) if arm.startswith("gamma-")]
    note = "Prequential bits on characters 50.0M to 50.3M, on-tick; the best is in the recipe (`text8_on_tick`)."
    grid = Grid(title="Choosing γ", columns=("slow-down", "bits"), rows=tuple(lines), note=note, decimals=4)
    return markdown(grid) if lines else ""


EXPERIMENT = Experiment(
    name="text8-wide",
    title="SHARP at the published width, read once",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [config_of(job.settings)],
    scored=lambda job: 0 if job.settings["start"] == TUNING else len(DIRECTIONS) * SCALES[job.settings["scale"]].probe,
    more_figures=more_figures,
    page=page,
)
