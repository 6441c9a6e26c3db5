"""Every arm on every segment of a text: which text, how much of it, how large the learners; jobs and how they run.

`text8` and `text8-long` are this with different scales; so is anything that compares all learners on parts of a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.experiments.harness import Job, Row
from sharpstream.experiments.language.arms import BETWEEN, COMPRESSORS, PUBLISHED_TRANSFORMERS, SIMPLE, SIZES, run_of
from sharpstream.experiments.language.measure import DIRECTIONS, Span, compressed, measured, probe_spans

MILLION = 1_000_000
WIDE = "sharp-512"  # SHARP at the published width, beside a table of smaller learners


@dataclass(frozen=True)
class Scale:
    """Which text, how much of it, how large the learners, and how often it is looked at."""

    stream: str
    size: str
    segments: tuple[Span, ...]
    future: Span
    """Held out: nobody learns from it."""
    probe: int
    """Tokens of each frozen probe."""
    log_every: int
    retention: tuple[int, int]
    """Every so many tokens the first so many of each part are scored again."""
    arms: tuple[str, ...] = ()
    """Who is run; all of them when not given."""
    once: tuple[str, ...] = ()
    """Who is run on the first segment only: the dearest."""
    wide: int = 0
    """Tokens SHARP at width 512 reads of the first segment; 0: it is not run."""


FUTURE = (51 * MILLION, 52 * MILLION)  # of the 52M characters we have; 50M to 51M are for tuning
QUICK_ARMS = ("unigram", "counts-5", "sharp", "rnn", "gru")
SCALES = {
    "quick": Scale("python-docs", "tiny", ((0, 6_000), (6_000, 12_000)), (12_000, 13_000), 1_000, 1_000, (2_000, 500)),
    "laptop": Scale(
        "text8",
        "128",
        ((0, 10 * MILLION), (10 * MILLION, 20 * MILLION)),
        FUTURE,
        MILLION,
        100_000,
        (MILLION, 20_000),
        once=tuple(PUBLISHED_TRANSFORMERS),
        wide=MILLION,
    ),
    "paper": Scale(
        "text8",
        "512",
        tuple((m * 10 * MILLION, (m + 1) * 10 * MILLION) for m in range(5)),
        FUTURE,
        MILLION,
        100_000,
        (MILLION, 20_000),
    ),
    "long-quick": Scale(
        "python-docs", "tiny", ((0, 10_000),), (12_000, 13_000), 1_000, 1_000, (2_000, 500), QUICK_ARMS
    ),
    "long-laptop": Scale("text8", "128", ((0, 20 * MILLION),), FUTURE, MILLION, 100_000, (2 * MILLION, 20_000)),
    "long-paper": Scale("text8", "512", ((0, 50 * MILLION),), FUTURE, MILLION, 100_000, (5 * MILLION, 20_000)),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Segment by segment, the quick learners first: an interrupted experiment has whole columns."""
    s = SCALES[scale]
    arms = s.arms or (*SIMPLE, *SIZES[s.size].neural, *COMPRESSORS)
    found = [
        _job(scale, protocol, arm, number)
        for number in range(len(s.segments))
        for arm in arms
        if (number == 0 or arm not in s.once) and (arm != BETWEEN or protocol == "fair")  # nobody published that one
    ]
    return [*found, *([_job(scale, protocol, WIDE, 0)] if s.wide else [])]


def _job(scale: str, protocol: str, arm: str, number: int) -> Job:
    settings = {"scale": scale, "protocol": protocol, "arm": arm, "segment": number}
    return Job(f"segment{number}-{arm}", settings)


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job; of a compressor, which part of the text it reads."""
    s, arm = SCALES[settings["scale"]], settings["arm"]
    start, end = s.segments[settings["segment"]]
    if arm in COMPRESSORS:
        base = RunConfig()
    elif arm == WIDE:
        base, end = run_of("sharp", SIZES["512"], settings["protocol"]), start + s.wide
    else:
        base = run_of(arm, SIZES[s.size], settings["protocol"])
    return base.replace(
        stream=StreamConfig(name=s.stream, start=start, end=end),
        tokens=end - start,
        seed=settings["segment"],  # every repetition its own seed, the same for every arm
        log_every=s.log_every,
        probe_every=s.retention[0],
        probe_length=s.retention[1],
    )


def work(job: Job, directory: Path) -> list[Row]:
    """One arm on one segment."""
    settings, config = job.settings, config_of(job.settings)
    s, protocol = SCALES[settings["scale"]], protocol_named(settings["protocol"])
    start, end = config.stream.start, config.stream.end or 0
    probes = probe_spans((start, end), s.future, min(s.probe, (end - start) // 2))
    if settings["arm"] in COMPRESSORS:
        return compressed(settings["arm"], config, protocol, probes)
    return measured(directory, config, settings["arm"], protocol, probes)


def runs(job: Job) -> list[RunConfig]:
    """For `sharp plan`: compressors are no runs."""
    return [] if job.settings["arm"] in COMPRESSORS else [config_of(job.settings)]


def scored(job: Job) -> int:
    """Tokens scored frozen after the run."""
    return 0 if job.settings["arm"] in COMPRESSORS else len(DIRECTIONS) * SCALES[job.settings["scale"]].probe
