"""acceleration: which α extends the reach of the memories, what sleep adds, and where a vanilla RNN ends."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sharpstream.config import AdamConfig, RecurrentConfig, RunConfig, SharpConfig, StreamConfig
from sharpstream.evaluate.pairs import difference_where_both, estimate_of, median_difference_where_both
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.regimes import under
from sharpstream.experiments.simulations.common import (
    ALIKE,
    draw_error_levels,
    draw_quartiles,
    error_curve,
    final_errors,
    median_of,
    near,
    select,
    token_axis,
)
from sharpstream.experiments.simulations.halfway import table, tokens_until_halfway, told
from sharpstream.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    ArmStyle,
    new_figure,
    styled,
    tokens_label,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ends = Mapping[str, Mapping[int, float]]  # arm → seed → error at the end
EVERY = 20_000
FAILS = 0.3  # who is wrong more often than this has not found the rule
SHARP_ARMS = {f"alpha {alpha}": alpha for alpha in (1, 2, 4, 6)}
NORMED = ("film-normed", "film-normed no sleep")  # the other pattern block, at α 4
ARMS = (*SHARP_ARMS, "no sleep", "dead upper levels", "one level", "rnn", "rnn overlap", *NORMED)
SIZES: dict[str, dict[str, Any]] = {
    "quick": {"repetitions": 1, "tokens": {2: 20_000}},
    "laptop": {"repetitions": 3, "tokens": {2: 1_000_000, 4: 3_000_000, 6: 3_000_000}},
    "paper": {"repetitions": 10, "tokens": {2: 5_000_000, 4: 5_000_000, 6: 5_000_000}},
}
MORE = {("laptop", 6, "alpha 4"): 8, ("laptop", 6, "no sleep"): 8}  # repetitions where the answer hangs on them
PUBLISHED = {  # (K, arm) → (tokens, error)
    (2, "alpha 4"): (1_000_000, 0.21),
    (2, "rnn overlap"): (1_000_000, 0.333),
    (4, "alpha 4"): (700_000, 0.215),
    (4, "no sleep"): (3_000_000, 0.304),
    (4, "alpha 1"): (3_000_000, 0.32),
    (4, "alpha 6"): (3_000_000, 0.260),
    (4, "rnn overlap"): (3_000_000, 0.335),
    (6, "alpha 4"): (4_000_000, 0.222),
    (6, "alpha 6"): (5_000_000, 0.286),
}
LOOKS = {  # one colour a pattern block or learner; broken lines are without sleep, or as published
    "alpha 4": ArmStyle("SHARP", VERMILLION),
    "no sleep": ArmStyle("SHARP, no sleep", VERMILLION, "--"),
    "alpha 1": ArmStyle("SHARP, α = 1", BLUE),
    "alpha 2": ArmStyle("SHARP, α = 2", GREEN),
    "alpha 6": ArmStyle("SHARP, α = 6", "#000000"),
    "dead upper levels": ArmStyle("SHARP, dead upper levels", GREY, "--"),
    "one level": ArmStyle("SHARP, one level", ORANGE),
    "film-normed": ArmStyle("SHARP, film-normed", PURPLE),
    "film-normed no sleep": ArmStyle("SHARP, film-normed, no sleep", PURPLE, "--"),
    "rnn": ArmStyle("RNN, aligned state", SKY),
    "rnn overlap": ArmStyle("RNN, as published", SKY, ":"),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Repetitions first, small K first: an interrupted experiment has whole panels."""
    size = SIZES[scale]
    most = max(size["repetitions"], *MORE.values())
    return [
        Job(
            f"K{k}-{arm.replace(' ', '-')}-{seed}",
            {"k": k, "arm": arm, "seed": seed, "tokens": tokens, "protocol": protocol},
        )
        for seed in range(most)
        for k, tokens in size["tokens"].items()
        for arm in ARMS
        if seed < MORE.get((scale, k, arm), size["repetitions"])
    ]


def config_of(arm: str, k: int, seed: int, tokens: int, protocol: str) -> RunConfig:
    """The run of one arm; every SHARP arm starts from the same weights and reads the same stream."""
    base = recipes.acceleration().replace(seed=seed, tokens=tokens, stream=StreamConfig(name="nonlinear", k=k))
    sharp = under(protocol_named(protocol), base).sharp
    if arm.startswith("rnn"):
        carry: Literal["aligned", "overlap"] = "overlap" if arm == "rnn overlap" else "aligned"
        adam = AdamConfig(lr=sharp.adam.lr, weight_decay=sharp.adam.weight_decay)
        recurrent = RecurrentConfig(layers=3, width=100, embedding=30, window=4, carry=carry, adam=adam)
        return base.replace(learner="rnn", recurrent=recurrent)
    if arm in SHARP_ARMS:
        alpha = SHARP_ARMS[arm]
        # A replay must reach one full window of the top level, whatever α; the published ones had 16 but for α = 4.
        length = (64 if alpha == 4 else 16) if protocol == "paper" else sharp.window * alpha ** (sharp.levels - 1)
        return base.replace(sharp=replace(sharp, alpha=alpha, sleep=replace(sharp.sleep, replay_length=length)))
    variants: dict[str, Callable[[SharpConfig], SharpConfig]] = {
        "no sleep": recipes.never_sleeps,
        "film-normed": recipes.film_normed,
        "film-normed no sleep": lambda s: recipes.never_sleeps(recipes.film_normed(s)),
        "dead upper levels": recipes.dead_upper_levels,
        "one level": lambda s: recipes.never_sleeps(replace(s, levels=1)),
    }
    return base.replace(sharp=variants[arm](sharp))


def runs(job: Job) -> list[RunConfig]:
    """The one run of a job."""
    s = job.settings
    return [config_of(s["arm"], s["k"], s["seed"], s["tokens"], s["protocol"])]


def work(job: Job, directory: Path) -> list[Cells]:
    """One run; its error along the stream."""
    s, (config,) = job.settings, runs(job)
    stamp = {"k": s["k"], "arm": s["arm"], "seed": s["seed"]}
    return [{**stamp, **point} for point in error_curve(directory, config, EVERY)]


@styled
def figure(rows: Sequence[Row]) -> "Figure":
    """One panel per K: every arm's error along the stream."""
    ks = sorted({row["k"] for row in rows})
    drawing = new_figure(5.2 * len(ks), 4.8)
    panels = drawing.subplots(1, len(ks), sharey=True, squeeze=False)[0]
    for axes, k in zip(panels, ks, strict=True):
        for arm in ARMS:
            part, look = select(rows, k=k, arm=arm), LOOKS[arm]
            draw_quartiles(axes, part, "tokens", "error", colour=look.colour, label=look.label, line=look.line)
        draw_error_levels(axes)
        axes.set(title=f"K = {k}: needs the last {4 * k - 1} tokens", ylim=(0.19, 0.42))
        token_axis(axes)
    panels[0].set_ylabel("share of wrong guesses")
    shown = {label: line for axes in panels for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    drawing.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=6)
    drawing.suptitle("How far back each learner reaches: median and interquartile range over repetitions")
    return drawing


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published points, then the claims: α = T is best, sleep helps beyond the local horizon, the RNN fails."""
    found = []
    for (k, arm), (tokens, error) in PUBLISHED.items():
        ours = final_errors(select(rows, k=k, arm=arm), tokens, 5 * EVERY)
        found.append(near(f"K {k}, {arm}, at {tokens / 1e6:g}M", error, ours))
    for k in sorted({row["k"] for row in rows}):
        here = select(rows, k=k)
        last = max(row["tokens"] for row in here)
        ends = {arm: final_errors(select(here, arm=arm), last, 5 * EVERY) for arm in ARMS}
        found += [*_alphas(k, ends), _sleep(k, ends), _sooner(k, here, last)]
        rnn = ends["rnn"].values()
        claim, shown = f"K {k}: the RNN fails (aligned state)", f"{median_of(rnn):.3f}"
        found.append(judged(claim, "≈ 0.333", shown, [estimate_of(FAILS - error for error in rnn)], Claim("below")))
    return found


def _beyond(k: int, band: float) -> Claim:
    """Sleep and α make something less where the rule reaches beyond the local horizon, and no difference at K 2."""
    return Claim("below" if k > 2 else "within", band)


def _alphas(k: int, ends: Ends) -> list[Finding]:
    """α 4 against each of the others, paired by seed."""
    ours, found = ends["alpha 4"], []
    for arm, alpha in SHARP_ARMS.items():
        if alpha != 4:
            claim = f"K {k}: α = 4 ends {'better than' if k > 2 else 'as'} α = {alpha}"
            shown = f"{median_of(ours.values()):.3f}, {median_of(ends[arm].values()):.3f}"
            gap = difference_where_both(ours, ends[arm])
            found.append(judged(claim, "α = T is best" if k > 2 else "all alike", shown, [gap], _beyond(k, ALIKE)))
    return found


def _sleep(k: int, ends: Ends) -> Finding:
    """The same start with and without sleep, paired by seed; shown is the gain."""
    gain = median_of(ends["no sleep"].values()) - median_of(ends["alpha 4"].values())
    claim = f"K {k}: sleep {'helps' if k > 2 else 'adds nothing'} (equal start)"
    fewer = difference_where_both(ends["alpha 4"], ends["no sleep"])
    return judged(claim, "helps only beyond the local horizon", f"{gain:+.3f}", [fewer], _beyond(k, ALIKE))


def _sooner(k: int, rows: Sequence[Row], last: int) -> Finding:
    """Beside where they end: how soon the two arms are halfway. One line of the log is no difference.

    "Never" counts as the end of the run. That is too soon by nobody knows how much, so where it happens no mean is
    taken: the median pair decides, which such a run moves no further than any other late one.
    """
    asleep, awake = (tokens_until_halfway(select(rows, arm=arm)) for arm in ("alpha 4", "no sleep"))
    ours, theirs = ({seed: min(at, last) for seed, at in arm.items()} for arm in (asleep, awake))
    claim = f"K {k}: sleep {'helps to learn sooner' if k > 2 else 'makes nothing sooner'} (equal start)"
    shown = f"halfway after {told(asleep.values())} tokens with sleep, {told(awake.values())} without"
    never = any(math.isinf(at) for arm in (asleep, awake) for at in arm.values())
    sooner = (median_difference_where_both if never else difference_where_both)(ours, theirs)
    return judged(claim, "helps only beyond the local horizon", shown, [sooner], _beyond(k, EVERY))


def page(rows: Sequence[Row]) -> str:
    """Every repetition."""
    parts = []
    for k in sorted({row["k"] for row in rows}):
        here = select(rows, k=k)
        last = max(row["tokens"] for row in here)
        arms = {LOOKS[arm].label: select(here, arm=arm) for arm in ARMS}
        parts.append(table(f"K = {k}, {tokens_label(last)} tokens", arms, last, 5 * EVERY).strip("\n"))
    return "\n\n".join(parts)


EXPERIMENT = Experiment(
    name="acceleration",
    title="acceleration, sleep and the memory's span",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=runs,
    page=page,
)
