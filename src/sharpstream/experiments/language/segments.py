"""Every arm on every segment of a text: which text, how much of it, how large the learners; jobs and how they run.

`text8` and `text8-long` are this with different scales; so is anything that compares all learners on parts of a text.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells
from sharpstream.experiments.harness import Job
from sharpstream.experiments.language.arms import (
    BLOCKS,
    COMPRESSORS,
    COUNTS,
    PUBLISHED_TRANSFORMERS,
    SIMPLE,
    SIZES,
    run_of,
)
from sharpstream.experiments.language.measure import DIRECTIONS, Span, compressed, measured, probe_spans
from sharpstream.streams import open_stream
from sharpstream.streams.catalogue import entries, status_of
from sharpstream.streams.text8 import CANONICAL

MILLION = 1_000_000
LONGEST = 90 * MILLION  # characters of the published long stream


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
    times: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """On how many of the segments an arm is run, and with how many seeds on each; else on all, with one."""
    whole: bool = False
    """The one segment and the future are taken from the corpus that is there (`resolved`)."""


FUTURE = (51 * MILLION, 52 * MILLION)  # of the 52M characters we have; 50M to 51M are for tuning
TWO, THREE = (2, 1), (3, 1)
LAPTOP_TIMES = {
    "sharp": (3, 2),
    **dict.fromkeys(("rnn", "gru", *COUNTS, "unigram", "uniform"), THREE),
    **dict.fromkeys((*BLOCKS, "lstm", "clockwork", "transformer-small", *COMPRESSORS), TWO),
    **dict.fromkeys(PUBLISHED_TRANSFORMERS, (1, 1)),
}
QUICK_ARMS = ("unigram", "counts-5", "sharp", "rnn", "gru")
SCALES = {
    "quick": Scale("python-docs", "tiny", ((0, 6_000), (6_000, 12_000)), (12_000, 13_000), 1_000, 1_000, (2_000, 500)),
    "laptop": Scale(
        "text8",
        "128",
        ((0, 10 * MILLION), (10 * MILLION, 20 * MILLION), (20 * MILLION, 30 * MILLION)),
        FUTURE,
        MILLION,
        100_000,
        (MILLION, 20_000),
        times=LAPTOP_TIMES,
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
    "long-paper": Scale(
        "text8", "512", ((0, LONGEST),), (99 * MILLION, CANONICAL), MILLION, 100_000, (5 * MILLION, 20_000), whole=True
    ),
}


def resolved(scale: Scale, length: int) -> Scale:
    """The scale on a corpus of so many characters: as many tens of millions as leave two, at most the published 90.

    >>> whole = SCALES["long-paper"]
    >>> [(one.segments[0][1], one.future) for one in (resolved(whole, 52 * MILLION), resolved(whole, CANONICAL))]
    [(50000000, (51000000, 52000000)), (90000000, (99000000, 100000000))]
    """
    if not scale.whole:
        return scale
    step = 10 * MILLION
    end = min(LONGEST, (length - 2 * MILLION) // step * step)
    if end < step:
        raise ConfigError(
            f"{scale.stream} has {length:,} characters here; this scale needs at least {step + 2 * MILLION:,}"
        )
    return replace(scale, segments=((0, end),), future=(length - MILLION, length))


def scale_of(settings: Mapping[str, Any]) -> Scale:
    """The scale of a job, on the corpus that is there; where it is not here yet, on the one that would be fetched."""
    scale = SCALES[settings["scale"]]
    return resolved(scale, corpus_length(scale.stream)) if scale.whole else scale


@functools.cache
def corpus_length(name: str) -> int:
    """Characters of a corpus, and a word to the person about it when it is not the whole."""
    absent = next(status_of(entry)[0] for entry in entries() if entry.name == name) == "to download"
    return CANONICAL if absent else (open_stream(StreamConfig(name=name), seed=0).length or CANONICAL)


def jobs(scale: str, protocol: str) -> list[Job]:
    """Segment by segment, the quick learners first: an interrupted experiment has whole columns."""
    s = SCALES[scale]
    arms = s.arms or (*SIMPLE, *SIZES[s.size].neural, *COMPRESSORS)
    return [
        _job(scale, protocol, arm, number, repetition)
        for number in range(len(s.segments))
        for arm in arms
        for repetition in range(_times(s, arm, protocol)[1])
        if number < _times(s, arm, protocol)[0] and (arm not in BLOCKS or protocol == "fair")  # not in that table
    ]


def _times(scale: Scale, arm: str, protocol: str) -> tuple[int, int]:
    """Segments and seeds of an arm; beside the published table one seed is enough, and one segment but for SHARP."""
    segments, seeds = scale.times.get(arm, (len(scale.segments), 1))
    if protocol == "paper" and scale.times:
        return min(segments, 2 if arm == "sharp" else 1), 1
    return segments, seeds


def _job(scale: str, protocol: str, arm: str, number: int, repetition: int) -> Job:
    settings = {"scale": scale, "protocol": protocol, "arm": arm, "segment": number}
    if repetition == 0:
        return Job(f"segment{number}-{arm}", settings)
    return Job(f"segment{number}-{arm}-seed{repetition}", {**settings, "repetition": repetition})


def config_of(settings: Mapping[str, Any]) -> RunConfig:
    """The run of a job; of a compressor, which part of the text it reads."""
    s, arm = scale_of(settings), settings["arm"]
    start, end = s.segments[settings["segment"]]
    if arm in COMPRESSORS:
        base = RunConfig()
    else:
        base = run_of(arm, SIZES[s.size], settings["protocol"])
    return base.replace(
        stream=StreamConfig(name=s.stream, start=start, end=end),
        tokens=end - start,
        seed=seed_of(settings["segment"], settings.get("repetition", 0)),
        log_every=s.log_every,
        probe_every=s.retention[0],
        probe_length=s.retention[1],
    )


def seed_of(segment: int, repetition: int) -> int:
    """Every segment its own seed, the same for every arm; further ones far from those."""
    return segment + 1_000 * repetition


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm on one segment."""
    settings, config = job.settings, config_of(job.settings)
    s, protocol = scale_of(settings), protocol_named(settings["protocol"])
    start, end = config.stream.start, config.stream.end or 0
    probes = probe_spans((start, end), s.future, min(s.probe, (end - start) // 2))
    if settings["arm"] in COMPRESSORS:
        rows = compressed(settings["arm"], config, probes)
    else:
        rows = measured(directory, config, settings["arm"], protocol, probes)
    return [{**row, "future": "{}-{}".format(*s.future)} for row in rows] if s.whole else rows


def runs(job: Job) -> list[RunConfig]:
    """For `sharp plan`: compressors are no runs."""
    return [] if job.settings["arm"] in COMPRESSORS else [config_of(job.settings)]


def scored(job: Job) -> int:
    """Tokens scored frozen after the run."""
    return 0 if job.settings["arm"] in COMPRESSORS else len(DIRECTIONS) * SCALES[job.settings["scale"]].probe
