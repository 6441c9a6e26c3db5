"""pg19-subword: every learner on books as subwords, read once: the second half of the paper's PG-19 table.

Neural learners read frozen pretrained vectors through a projection of their own and predict by a full softmax. Bits per
token are true ones; bits per character compare tokenizers; the published, capped figure stands beside. Options of Adam
read the first part of the text only, each beside its arm. `quick` needs no data: a small tokenizer of its own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sharpstream.config import (
    CountsConfig,
    EpisodicConfig,
    RecurrentConfig,
    RunConfig,
    SharpConfig,
    StreamConfig,
    TransformerConfig,
)
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language import pg19, pictures, tables
from sharpstream.experiments.language.arms import PUBLISHED_TRANSFORMERS, RECURRENT, SMALL_TRANSFORMER
from sharpstream.experiments.language.measure import DIRECTIONS, measured, read
from sharpstream.experiments.language.published import Published
from sharpstream.experiments.language.rarity import rarity_rows
from sharpstream.experiments.language.segments import seed_of
from sharpstream.experiments.language.subword_page import arms_shown, page
from sharpstream.experiments.regimes import under
from sharpstream.frozen import opened
from sharpstream.streams import open_stream
from sharpstream.streams.subword import SMALL_SIZE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Published bits per token, each capped at 4.755, at width 512 with GPT-2's vocabulary: forward, current, backward.
PUBLISHED: Published = {
    "sharp": (4.26, 4.26, 4.26),
    "rnn": (4.54, 4.56, 4.55),
    "lstm": (4.52, 4.54, 4.53),
    "gru": (4.50, 4.52, 4.51),
    "transformer-18m": (3.95, 3.77, 3.94),
    "transformer-23m": (3.94, 3.76, 3.94),
}
# A word that comes once in 100,000 tokens has a gradient of its tiny probability at all the others. Adam divides it by
# its own size, so the word's output falls a whole step each time, until its gradient is as small as ε: published, 1e-8.
EPSILON = 1e-4
Change = Callable[[SharpConfig], SharpConfig]


def _keeping(moments: Literal["no-momentum", "factored", "factored-no-momentum"]) -> Change:
    """Fewer moments of the output layer."""
    return lambda sharp: replace(sharp, output_adam=moments)


def _patient(sharp: SharpConfig) -> SharpConfig:
    """An ε below which a gradient counts as small."""
    return replace(sharp, adam=replace(sharp.adam, eps=EPSILON))


# Option → the arm that it changes, and how; recurrent stacks take their Adam from SHARP's settings.
OPTIONS: dict[str, tuple[str, Change]] = {
    "sharp-no-momentum": ("sharp", _keeping("no-momentum")),
    "sharp-factored": ("sharp", _keeping("factored")),
    "sharp-factored-no-momentum": ("sharp", _keeping("factored-no-momentum")),
    "sharp-epsilon": ("sharp", _patient),
    "rnn-epsilon": ("rnn", _patient),
}
COUNTS = tuple(f"counts-{order}" for order in (1, 2, 3))
SIMPLE = ("uniform", "unigram", *COUNTS, "episodic")
CHUNK = 256  # tokens of a Transformer's chunk, as published


@dataclass(frozen=True, kw_only=True)
class Scale(pg19.Scale):
    """Which books, how much of them, and the models."""

    sharp: SharpConfig
    options: int = 0
    """Tokens that the options of Adam read; 0: they are not run."""
    transformers: Mapping[str, TransformerConfig] = field(default_factory=dict)


def _sized(width: int) -> SharpConfig:
    return replace(recipes.pg19_subword().sharp, width=width)


_TINY = replace(_sized(8), levels=2, depth=2, embedding=4, input_size=SMALL_SIZE)
_PUBLISHED = zip(("transformer-18m", "transformer-23m"), PUBLISHED_TRANSFORMERS.values(), strict=True)
SCALES = {
    "quick": Scale(
        "python-docs-subword", "", "tiny", 3_000, 500, 1_000, (1_500, 300), without=("lstm", "counts-2"),
        sharp=replace(_TINY, sleep=replace(_TINY.sleep, every=1_000, tags=2, replay_length=32)),
        transformers={"transformer": TransformerConfig(layers=1, width=16, heads=2, d_ff=32)},
    ),
    "laptop": Scale(
        "pg19-subword", "pg19-subword-validation", "128", 500_000, 20_000, 10_000, (100_000, 5_000),
        seeds={"sharp": 2, "rnn": 2, "gru": 2}, sharp=_sized(128), options=100_000,
        transformers={"transformer": SMALL_TRANSFORMER},
    ),
    "paper": Scale(
        "pg19-subword", "pg19-subword-validation", "512", 20_000_000, 1_000_000, 100_000, (2_000_000, 20_000),
        sharp=_sized(512), transformers=dict(_PUBLISHED),
    ),
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """The quick learners first, options of Adam last."""
    s = SCALES[scale]
    arms = (*SIMPLE, "sharp", *RECURRENT, *s.transformers, *(OPTIONS if s.options else ()))
    return pg19.repeated(arms, s, {"scale": scale, "protocol": protocol})


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job: one step size for all, the published one; states are forgotten at every book as published."""
    s, protocol, arm = SCALES[settings["scale"]], settings["protocol"], settings["arm"]
    run = model_of(arm, s).replace(
        stream=StreamConfig(name=s.stream),
        tokens=s.options if arm in OPTIONS else s.tokens,
        seed=seed_of(0, settings["repetition"]),
        log_every=s.log_every,
        probe_every=0 if arm in OPTIONS else s.retention[0],
        probe_length=s.retention[1],
        reset_states_per_book=protocol == "paper",
    )
    return under(protocol_named(protocol), run)


def model_of(arm: str, scale: Scale) -> RunConfig:
    """The learner of an arm and its settings."""
    sharp = scale.sharp
    size, adam = sharp.input_size, sharp.adam
    if arm in COUNTS:
        return RunConfig(learner="counts", counts=CountsConfig(order=int(arm[-1]), accuracy=True))
    if arm == "episodic":
        return RunConfig(learner="episodic", episodic=EpisodicConfig(accuracy=True))
    if arm in ("uniform", "unigram"):
        return RunConfig(learner=arm)
    if arm in RECURRENT:
        stack = RecurrentConfig(
            layers=sharp.levels, width=sharp.width, embedding=sharp.embedding, input_size=size, adam=adam
        )
        return RunConfig(learner=arm, recurrent=stack)
    if arm in scale.transformers:
        transformer = replace(scale.transformers[arm], chunk=CHUNK, input_size=size, adam=adam)
        return RunConfig(learner="transformer", transformer=transformer)
    if arm == "sharp":
        return RunConfig(sharp=sharp)
    if arm in OPTIONS:
        base, changed = OPTIONS[arm]
        return model_of(base, replace(scale, sharp=changed(sharp)))
    raise ConfigError(f"there is no arm {arm!r}; there are: {', '.join((*SIMPLE, 'sharp', *RECURRENT, *OPTIONS))}")


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm: its run and frozen books, as tokens and as characters; of an option of Adam the run alone."""
    settings = job.settings
    config, scale, arm = config_of(settings), SCALES[settings["scale"]], settings["arm"]
    protocol, stream = protocol_named(settings["protocol"]), open_stream(config.stream, seed=0)
    taken = min(config.tokens, stream.length or config.tokens)  # all there is, where that is less
    config = config.replace(tokens=taken)
    if arm in OPTIONS:
        return measured(directory, config, arm, protocol, {})
    rows = pg19.read_books(directory, config, scale, arm, protocol)
    whole = {row["metric"]: row for row in rows if row["metric"] in ("bits", "error")}
    assert stream.characters is not None
    learned, bits = read(config.stream, (0, taken)), whole["bits"]
    characters = int(stream.characters[learned].sum())
    rows.append({**bits, "metric": "bits_per_character", "value": bits["value"] * taken / characters})
    if "error" in whole:
        rows.append({**whole["error"], "metric": "accuracy", "value": 1.0 - whole["error"]["value"]})
    if math.isinf(bits["value"]):
        return rows  # learning left the finite numbers: there is no state to score
    unseen = pg19.probe_texts(config, scale)[DIRECTIONS[0]][0]
    return rows + rarity_rows(opened(directory).learner, unseen, learned, bits)


def figure(rows: Sequence[Row]) -> "Figure":
    """Prequential bits along the books."""
    return pictures.curves_figure(rows, arms_shown(rows), "PG-19: bits per subword, books in a row", unit="token")


def more_figures(rows: Sequence[Row]) -> dict[str, "Figure"]:
    """Frozen books, and what is kept of them."""
    drawings = {
        "probes": lambda: pictures.probes_figure(rows, arms_shown(rows), unit="token"),
        "retention": lambda: pictures.retention_picture(rows, "sharp"),
    }
    return pictures.known_figures(drawings)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """SHARP against each, on held-out books and before learning; published gaps are between capped bits."""
    found = []
    for arm in (*RECURRENT, "transformer-18m", "transformer-23m", "transformer", "counts-3", "episodic"):
        gap = "not published" if arm not in PUBLISHED else f"{PUBLISHED['sharp'][0] - PUBLISHED[arm][0]:+.2f}, capped"
        for metric, name in (("forward_bits", "held-out books"), ("bits", "before learning")):
            claim = f"SHARP has fewer bits than {arm}, {name}"
            found.append(tables.better(rows, "sharp", arm, metric, claim, gap if metric == "forward_bits" else "-"))
    return found


def scored(job: Job) -> int:
    """Tokens scored frozen after the run, at most."""
    return 0 if job.settings["arm"] in OPTIONS else (2 * pg19.ENDS + 5) * SCALES[job.settings["scale"]].probe


EXPERIMENT = Experiment(
    name="pg19-subword",
    title="every learner on books as subwords, read once",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    runs=lambda job: [config_of(job.settings)],
    scored=scored,
    more_figures=more_figures,
    page=lambda rows: page(rows, PUBLISHED, {option: base for option, (base, _) in OPTIONS.items()}),
)
