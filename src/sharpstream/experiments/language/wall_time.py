"""wall-time: seconds per 1000 tokens learned online, every learner of the text8 table, on one thread.

A job is one width. Its learners are timed in turn, round after round in one process, so that a slow minute slows all of
them. SHARP's sleep is spread over the 20,000 tokens between two sleeps. The Transformers are timed as they are trained:
one update per chunk of 1024, whose pass also scores it; the published times are of a full window per token.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sharpstream.config import RunConfig, SharpConfig, StreamConfig
from sharpstream.evaluate.rows import Cells
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.harness import Experiment, Job
from sharpstream.experiments.language.arms import BLOCKS, SIZES, run_of
from sharpstream.experiments.language.wall_time_page import COUNTS, SLEEP_EVERY, figure, findings, page
from sharpstream.experiments.recipes import never_sleeps, no_gate, on_tick
from sharpstream.factory import make_learner
from sharpstream.learners.contract import Learner, Tokens
from sharpstream.learners.sharp import Sharp
from sharpstream.streams import open_stream

VOCABULARY = 27
RESTS = 1e9  # τ of the steady state: block 1's loss never exceeds it
SCALES: dict[str, dict[str, Any]] = {  # tokens per turn by size; counts are so fast that they get ten times as many
    "quick": {"rounds": 2, "tokens": {"tiny": 300}},
    "laptop": {"rounds": 5, "tokens": {"128": 4_000, "512": 1_000}},
    "paper": {"rounds": 15, "tokens": {"128": 4_000, "512": 1_000}},
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """One job per width, the learners of each timed in turn."""
    size = SCALES[scale]
    return [
        Job(
            f"width-{SIZES[name].width}",
            {"size": name, "rounds": size["rounds"], "tokens": tokens, "protocol": protocol},
        )
        for name, tokens in size["tokens"].items()
    ]


def work(job: Job, directory: Path) -> list[Cells]:
    """Seconds per 1000 tokens of every learner in every round."""
    s = job.settings
    size, text = SIZES[s["size"]], _text()
    works: dict[str, Work] = {}
    learners: dict[str, Learner] = {}
    for arm, config in _runs(s["size"], s["protocol"]).items():
        learners[arm] = make_learner(config, VOCABULARY)
        works[arm] = learning(learners[arm], text, _per_turn(config, s["tokens"]))
    sleeper = Sharp(no_gate(never_sleeps(run_of("sharp", size, s["protocol"]).sharp)), VOCABULARY)
    tag, works["sharp sleep"] = sleeping(sleeper, text[:100])
    learners["sharp sleep"] = sleeper
    timed = in_turn(works, s["rounds"], prepare={"sharp sleep": tag})
    seconds = {arm: np.array(each.rounds) for arm, each in timed.items()}
    return _rows(size.width, seconds, learners)


def _text() -> Tokens:
    """English that needs no corpus; how long a token takes does not hang on which text it is from."""
    stream = open_stream(StreamConfig(name="python-docs"), seed=0)
    return stream.take(stream.length or 0)


def _runs(size: str, protocol: str) -> dict[str, RunConfig]:
    """What is timed awake: SHARP with its first block at rest and learning, and every other learner."""
    shape = SIZES[size]
    sharp = run_of("sharp", shape, protocol)
    awake = never_sleeps(sharp.sharp)
    runs = {
        "sharp wake": sharp.replace(sharp=at_rest(awake)),
        "sharp wake, on-tick": sharp.replace(sharp=on_tick(at_rest(awake))),
        "sharp wake, every step learns": sharp.replace(sharp=no_gate(awake)),
    }
    others = [arm for arm in (*shape.neural, COUNTS) if arm != "sharp" and arm not in BLOCKS]
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
    else:
        others = [arm for arm in others if arm not in shape.transformers]
    return runs | {arm: run_of(arm, shape, protocol) for arm in others}


def at_rest(sharp: SharpConfig) -> SharpConfig:
    """The steady state: block 1 has learned what it can, and its gate stays shut."""
    return replace(sharp, tau=RESTS)


def _per_turn(config: RunConfig, tokens: int) -> int:
    """How many tokens a turn takes: whole chunks for a Transformer, more for counts."""
    if config.learner == "transformer":
        return config.transformer.chunk
    return 10 * tokens if config.learner == "counts" else tokens


def sleeping(learner: Sharp, tokens: Tokens) -> tuple[Callable[[], object], Work]:
    """What fills the tags, and one sleep. With τ 0 every step is tagged and every window learned from: the dearest."""

    def sleep() -> int:
        learner.sleep()
        return 1

    return lambda: learner.learn(tokens), sleep


def _rows(width: int, seconds: Mapping[str, Any], learners: Mapping[str, Learner]) -> list[Cells]:
    """One row per arm and round; SHARP's whole is its wake and its share of the sleep in the same round."""
    asleep = seconds["sharp sleep"]
    per_1000 = {arm: 1000 * each for arm, each in seconds.items()} | {"sharp sleep": asleep * 1000 / SLEEP_EVERY}
    per_1000["sharp"] = per_1000["sharp wake"] + per_1000["sharp sleep"]
    per_1000["sharp, on-tick"] = per_1000["sharp wake, on-tick"] + per_1000["sharp sleep"]
    per_1000["sharp, every step learns"] = per_1000["sharp wake, every step learns"] + per_1000["sharp sleep"]
    rows: list[Cells] = []
    for arm, values in per_1000.items():
        learner = learners.get(arm, learners["sharp sleep"])
        about = {"parameters": learner.parameters(), "active_parameters": learner.parameters(active=True)}
        for number, value in enumerate(values):
            row = {"width": width, "arm": arm, "round": number, "seconds_per_1000": float(value), **about}
            rows.append(row | {"seconds_per_sleep": float(asleep[number]) if arm == "sharp sleep" else None})
    return rows


EXPERIMENT = Experiment(
    name="wall-time",
    title="seconds per 1000 online tokens, sleep included",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
)
