"""memory-kinds: which memory, and does training it pay? Every kind of context block under the same questions.

Alone: how far back it can be read, how it keeps distances, how it drifts. In SHARP: rules of nonlinear(K) with and
without sleep, text, and its cost. Arms share seeds, streams, width and everything else but the memory.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sharpstream.config import HOLD_INPUTS, NEVER_LEARN, RunConfig, SharpConfig, StreamConfig
from sharpstream.evaluate.drift import mean_distance
from sharpstream.evaluate.geometry import kept_distance
from sharpstream.evaluate.probe_linear import read_out_lags
from sharpstream.evaluate.rows import Cells
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments import memory_kinds_figures as drawn
from sharpstream.experiments import memory_kinds_page as shown
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Experiment, Job
from sharpstream.experiments.memory_kinds_answer import answer
from sharpstream.experiments.memory_kinds_page import ARMS, KINDS, MIXED
from sharpstream.experiments.simulations.common import error_curve
from sharpstream.experiments.simulations.memory_carryover import REGIMES
from sharpstream.learners.sharp import Sharp
from sharpstream.loop import run
from sharpstream.rundir import Log, RunDirectory
from sharpstream.streams import open_stream

HELD = 20  # inputs that delay and legendre hold: their embedding is a twentieth of the width
LAGS = (2, 3, 4, 5, 6, 8, 12, 16)
SPANS = (2, 4, 8, 16)
EVERY, PROBE = 2_000, 500  # drift: tokens between two looks, tokens looked at
TEXT_EVERY = 100_000
TEXT_ARMS = (*KINDS, "rnn no sleep")
DECIDING = ("rnn", "rnn no sleep", "orthogonal", MIXED)  # whether training and sleep pay: more seeds, a rule is cheap
SIZES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 1, "deciding": 1, "kinds": ("rnn", "orthogonal", "delay"), "block": 3_000, "probe": 1_500,
              "drift": 6_000, "rules": {2: 20_000}, "text": ("python-docs", 4_000), "rounds": 1},
    "laptop": {"seeds": 3, "deciding": 8, "kinds": KINDS, "block": 10_000, "probe": 4_000, "drift": 60_000,
               "rules": {2: 150_000, 4: 400_000, 6: 600_000}, "text": ("text8", 3_000_000), "rounds": 7},
    "paper": {"seeds": 10, "deciding": 10, "kinds": KINDS, "block": 10_000, "probe": 10_000, "drift": 200_000,
              "rules": {2: 1_000_000, 4: 3_000_000, 6: 3_000_000}, "text": ("text8", 10_000_000), "rounds": 7},
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """The cheap questions first, each over all seeds; a key begins with its question."""
    size = SIZES[scale]
    arms = [arm for arm in ARMS if ARMS[arm][0] in size["kinds"]]
    name, length = size["text"]
    asked: list[tuple[str, str, dict[str, Any]]] = [
        (f"block-{regime}", kind, {"regime": regime, "tokens": size["block"], "probe": size["probe"]})
        for kind in size["kinds"] for regime in REGIMES
    ]  # fmt: skip
    asked += [("drift", kind, {"tokens": size["drift"]}) for kind in size["kinds"]]
    for k, tokens in size["rules"].items():
        asked += [(f"rule-K{k}", arm, {"k": k, "tokens": tokens}) for arm in arms]
    asked += [("text", arm, {"stream": name, "tokens": length}) for arm in TEXT_ARMS if arm in arms]
    questions = dict.fromkeys(question for question, _, _ in asked)
    found = [Job("speed", {"part": "speed", "kinds": list(size["kinds"]), "rounds": size["rounds"]})]
    for question in questions:
        many = size["deciding"] if question.startswith("rule-") else size["seeds"]
        for seed in range(many):
            found += [
                Job(f"{question}-{arm.replace(', ', '-').replace(' ', '-')}-{seed}",
                    {"part": question.split("-")[0], "arm": arm, "seed": seed, **settings})
                for which, arm, settings in asked if which == question and (seed < size["seeds"] or arm in DECIDING)
            ]  # fmt: skip
    return found


def with_memory(sharp: SharpConfig, arm: str) -> SharpConfig:
    """The same model with an arm's memories; its width stays, and with it the size of what is read."""
    kind, sleeps = ARMS[arm]
    holds = kind in HOLD_INPUTS
    changed = replace(
        sharp,
        memory=kind,
        upper_memory="rnn" if arm == MIXED else "same",
        embedding=sharp.width // HELD if holds else sharp.embedding,
    )
    return changed if sleeps else recipes.never_sleeps(changed)


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job that is one.

    Rules with `film-normed`, which finds K = 6 after about 300,000 tokens where `film` needs 1.2 million: else no arm
    would see its rule at a size that ends in hours. Text at width 128 with on-tick credit, three times as fast.
    """
    s = settings
    if s["part"] == "rule":
        base = recipes.acceleration()
        sharp, stream = recipes.film_normed(base.sharp), StreamConfig(name="nonlinear", k=s["k"])
    else:
        base = recipes.text8_small()
        tuned = replace(recipes.text8_on_tick(base.sharp), adam=recipes.text8_steps("sharp"))
        start = s["seed"] * 10_000_000 if s["stream"] == "text8" else 0
        sharp, stream = tuned, StreamConfig(name=s["stream"], start=start, end=start + s["tokens"])
    return base.replace(sharp=with_memory(sharp, s["arm"]), stream=stream, tokens=s["tokens"], seed=s["seed"])


def runs(job: Job) -> list[RunConfig]:
    """The run of a rule or a text; the other questions ask blocks, not runs."""
    return [config_of(job.settings)] if job.settings["part"] in ("rule", "text") else []


def work(job: Job, directory: Path) -> list[Cells]:
    """Rows are long: question, where it was asked, arm, seed, at what lag, span or token, and the answer."""
    return ASKED[job.settings["part"]](job.settings, directory)


def _row(s: Mapping[str, Any], part: str, where: str, at: float, value: float) -> Cells:
    return {"part": part, "where": where, "arm": s["arm"], "seed": s["seed"], "at": at, "value": value}


def _block(s: Mapping[str, Any], directory: Path) -> list[Cells]:
    """One block alone, trained on a regime (if it learns): what can be read of its states there, and their geometry."""
    learner = Sharp(with_memory(recipes.memory_carryover().sharp, s["arm"]), 7, seed=s["seed"])
    learner.learn(open_stream(StreamConfig(name=s["regime"]), seed=1_000 + s["seed"]).take(s["tokens"]))
    tokens = open_stream(StreamConfig(name=s["regime"]), seed=2_000 + s["seed"]).take(s["probe"])
    states = learner.hidden_states(tokens)
    read = read_out_lags(states, tokens, LAGS, vocabulary=7)
    rows = [_row(s, "read-out", s["regime"], one.lag, one.error) for one in read]
    return rows + [_row(s, "geometry", s["regime"], span, kept_distance(states, tokens, span)) for span in SPANS]


def _drift(s: Mapping[str, Any], directory: Path) -> list[Cells]:
    """Mean distance between a fixed sequence's states now and 2000 tokens ago, over their mean length."""
    config = with_memory(recipes.drift().sharp, s["arm"])
    learner, rule = Sharp(config, 7, seed=s["seed"]), recipes.drift().stream
    stream, probe = open_stream(rule, seed=1_000 + s["seed"]), open_stream(rule, seed=2_000 + s["seed"]).take(PROBE)
    fresh = Sharp(config, 7, seed=s["seed"])  # the probe always starts from an empty memory
    before, rows = fresh.hidden_states(probe), []
    for step in range(EVERY, s["tokens"] + 1, EVERY):
        learner.learn(stream.take(EVERY))
        fresh.model.p[:] = learner.model.p
        now = fresh.hidden_states(probe)
        moved = mean_distance(before, now) / float(np.linalg.norm(now, axis=1).mean())
        rows.append(_row(s, "drift", "nonlinear(2)", step, moved))
        before = now
    return rows


def _rule(s: Mapping[str, Any], directory: Path) -> list[Cells]:
    """The share of wrong guesses along the stream."""
    curve = error_curve(directory, config_of(s), 10_000)
    return [_row(s, "rule", f"nonlinear({s['k']})", point["tokens"], point["error"]) for point in curve]


def _text(s: Mapping[str, Any], directory: Path) -> list[Cells]:
    """Bits along the text, each before its character was learned."""
    every = min(TEXT_EVERY, max(s["tokens"] // 10, 1))
    run(directory, config_of(s).replace(log_every=every), checkpoint_seconds=60.0)
    rows = [row for row in Log(RunDirectory(directory).metrics_file).rows() if row["event"] == "interval"]
    shutil.rmtree(directory)
    return [_row(s, "text", s["stream"], row["tokens"], row["bits"]) for row in rows]


def _speed(s: Mapping[str, Any], directory: Path) -> list[Cells]:
    """Microseconds of processor time a token, of the text's model; every kind in turn, round after round."""
    base = recipes.never_sleeps(recipes.text8_on_tick(recipes.text8_small().sharp))
    tokens = np.random.default_rng(0).integers(0, 27, 2_000)
    phases = {"memory at rest": 1e6, "memory learns": 0.0}  # τ that is never, and always, exceeded
    works: dict[str, Work] = {
        f"{kind}, {phase}": learning(Sharp(with_memory(replace(base, tau=tau), kind), 27), tokens)
        for kind in s["kinds"]
        for phase, tau in phases.items()
        if kind not in NEVER_LEARN or phase == "memory at rest"
    }
    times = in_turn(works, s["rounds"], clock=time.process_time)
    return [
        {"part": "speed", "where": name.split(", ")[1], "arm": name.split(", ")[0], "seed": number, "at": base.width,
         "value": 1e6 * seconds}
        for name, timed in times.items() for number, seconds in enumerate(timed.rounds)
    ]  # fmt: skip


ASKED = {"block": _block, "drift": _drift, "rule": _rule, "text": _text, "speed": _speed}


EXPERIMENT = Experiment(
    name="memory-kinds",
    title="which memory, and does training it pay",
    jobs=jobs,
    work=work,
    figure=drawn.figure,
    findings=shown.findings,
    more_figures=drawn.figures,
    page=shown.page,
    answer=answer,
    runs=runs,
)
