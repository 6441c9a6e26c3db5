"""frontier: bits against microseconds; the episodic learner, its parts taken away one by one, budgets, comparators.

A job is one arm on one segment of text: one pass, then frozen on unseen text and on its own beginning. Time is
processor time of one thread. The parts (scale laptop) are taken away from the learner without its residual, which is
an arm of its own there. Figure and tables are in `frontier_page.py`.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sharpstream.config import CountsConfig, EpisodicConfig, RunConfig, StreamConfig
from sharpstream.evaluate.rows import Cells
from sharpstream.experiments.harness import Experiment, Job
from sharpstream.experiments.language.frontier_page import figure, findings, page
from sharpstream.experiments.language.measure import Span, read
from sharpstream.experiments.pace import mark
from sharpstream.factory import make_learner
from sharpstream.learners.compressors import ppmd, zpaq
from sharpstream.learners.contract import Tokens
from sharpstream.learners.episodic import Episodic

MILLION, CHUNK = 1_000_000, 100_000
FUTURE = (51 * MILLION, 52 * MILLION)
VOCABULARY = 27
Change = Callable[[EpisodicConfig], EpisodicConfig]


def without(**parts: Any) -> Change:
    """The learner with some settings changed."""
    return lambda config: replace(config, **parts)


ARMS: dict[str, Change] = {
    "episodic": without(),
    "episodic fast": without(network=0, residual=False),
    "episodic, no residual": without(residual=False),
    "episodic, with residual": without(residual=True),
    "episodic, no words": without(words=False),
    "episodic, no skips": without(skips=False),
    "episodic, no states": without(states=False),
    "episodic, no selectors": without(selectors=False),
    "episodic, no match": without(match=False),
    "episodic, no corrections": without(corrections=False),
    "episodic 16MB": without(memory="16MB"),
    "episodic 64MB": without(memory="64MB"),
    "episodic 1GB": without(memory="1GB"),
    "episodic 4GB": without(memory="4GB"),
}
BESIDE = ("counts-5", "ppmd-16", "zpaq-5")
BUDGETS = tuple(arm for arm in ARMS if arm.endswith("B"))
PARTS = tuple(arm for arm in ARMS if arm not in (*BUDGETS, "episodic, no residual"))
WHOLE_TEXTS = ("episodic", "episodic fast", "episodic, no residual", *BUDGETS, *BESIDE)
SCALES: dict[str, dict[str, Any]] = {
    "quick": {
        "stream": "python-docs", "segments": ((0, 6_000), (6_000, 12_000)), "future": (12_000, 13_000),
        "memory": "1MB", "arms": ("episodic", "episodic fast", "episodic, no states", "counts-5", "ppmd-16"),
    },
    "laptop": {
        "stream": "text8", "segments": ((0, MILLION), (10 * MILLION, 11 * MILLION), (20 * MILLION, 21 * MILLION)),
        "future": FUTURE, "memory": "256MB", "arms": PARTS, "residual": False,
    },
    "paper": {
        "stream": "text8", "future": FUTURE, "memory": "256MB", "arms": WHOLE_TEXTS,
        "segments": ((0, 10 * MILLION), (10 * MILLION, 20 * MILLION), (20 * MILLION, 30 * MILLION)),
    },
}  # fmt: skip


def jobs(scale: str, protocol: str) -> list[Job]:
    """Every arm on every segment, segment after segment."""
    s = SCALES[scale]
    return [
        Job(
            f"segment{number}-{arm.replace(', ', '-').replace(' ', '-')}",
            {
                "arm": arm, "segment": number, "stream": s["stream"], "span": list(span),
                "future": list(s["future"]), "memory": s["memory"],
                **({} if s.get("residual", True) else {"residual": False}),
            },
        )
        for number, span in enumerate(s["segments"])
        for arm in s["arms"]
    ]  # fmt: skip


def run_of_arm(arm: str, memory: str = "256MB", *, residual: bool = True) -> RunConfig | None:
    """The learner an arm runs, with a residual unless the arm has its own will; None for a compressor."""
    if arm in ARMS:
        config = ARMS[arm](EpisodicConfig(residual=residual))
        small = memory != "256MB" and config.memory == "256MB"
        return RunConfig(learner="episodic", episodic=replace(config, memory=memory) if small else config)
    if arm.startswith("counts-"):
        return RunConfig(learner="counts", counts=CountsConfig(order=int(arm.removeprefix("counts-"))))
    return None


def work(job: Job, directory: Path) -> list[Cells]:
    """One pass over the segment, its bits and its time, then the frozen scores."""
    s = job.settings
    stream = StreamConfig(name=s["stream"])
    text, future = read(stream, _span(s["span"])), read(stream, _span(s["future"]))
    mark(directory, 0)
    values = timed_bits(
        s["arm"], text, VOCABULARY, memory=s["memory"], future=future, residual=s.get("residual", True),
        watch=lambda tokens: mark(directory, tokens),
    )  # fmt: skip
    about = {"arm": s["arm"], "segment": s["segment"], "stream": s["stream"], "seed": 0, "tokens": len(text)}
    return [{**about, "metric": metric, "value": value} for metric, value in values.items()]


def _span(pair: list[int]) -> Span:
    return pair[0], pair[1]


def timed_bits(
    arm: str,
    text: Tokens,
    vocabulary: int,
    *,
    memory: str = "256MB",
    future: Tokens | None = None,
    residual: bool = True,
    watch: Callable[[int], None] = lambda tokens: None,
) -> dict[str, float]:
    """Bits and processor time of one pass; with `future`, also frozen on it and on the beginning of the text.

    `watch` is told how many tokens have been learned from.
    """
    config = run_of_arm(arm, memory, residual=residual)
    if config is None:
        return _compressed(arm, text, vocabulary)
    learner = make_learner(config, vocabulary)
    make_learner(config, vocabulary).learn(text[:10])  # compiles, outside the clock
    began, bits = time.process_time(), []
    for start in range(0, len(text), CHUNK):
        bits.append(learner.learn(text[start : start + CHUNK]))
        watch(min(start + CHUNK, len(text)))
    seconds = time.process_time() - began
    values = {"bits": float(np.concatenate(bits).mean()), "microseconds": 1e6 * seconds / len(text)}
    if future is not None:
        probe = min(len(text), len(future))
        values["forward"] = float(learner.evaluate(future).mean())
        values["backward"] = float(learner.evaluate(text[:probe]).mean())
        if isinstance(learner, Episodic) and learner.config.memory == EpisodicConfig().memory:
            values["forward_last"] = float(reading_the_last(learner).evaluate(future).mean())
    return values


def reading_the_last(learner: Episodic) -> Episodic:
    """The same learner, whose frozen passes read what it learned last instead of its mean."""
    last = Episodic(replace(learner.config, mean_every=0), learner.vocabulary)
    state = learner.state_dict()
    last.load_state_dict({name: array for name, array in state.items() if not name.startswith("pattern.mean_")})
    return last


def runs(job: Job) -> list[RunConfig]:
    """What a job runs, for the time it takes and to notice that settings have changed; compressors are no runs."""
    s = job.settings
    run, (start, end) = run_of_arm(s["arm"], s["memory"], residual=s.get("residual", True)), _span(s["span"])
    stream = StreamConfig(name=s["stream"], start=start, end=end)
    return [] if run is None else [run.replace(stream=stream, tokens=end - start)]


def scored(job: Job) -> int:
    """Tokens scored frozen afterwards."""
    start, end = _span(job.settings["span"])
    first, last = _span(job.settings["future"])
    return (last - first + min(last - first, end - start)) if runs(job) else 0


def _compressed(arm: str, text: Tokens, vocabulary: int) -> dict[str, float]:
    kind, number = arm.split("-")
    compressor = ppmd(int(number)) if kind == "ppmd" else zpaq(int(number))
    began = time.process_time()
    bits = compressor.prequential(text, vocabulary)
    return {"bits": bits, "microseconds": 1e6 * (time.process_time() - began) / len(text)}


EXPERIMENT = Experiment(
    name="frontier",
    title="bits against microseconds a character",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
    runs=runs,
    scored=scored,
)
