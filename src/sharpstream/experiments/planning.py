"""How long an experiment will take here, before anything is started: its jobs, its kinds of runs, a clock.

In come an experiment's jobs that are not done, out comes a `Plan`: seconds per arm, in all, and from start to end with
so many workers. Each distinct kind of run is measured once (`speed.py`). `sharp plan` prints it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.experiments.harness import Experiment, Job, chosen, experiment_named, job_file
from sharpstream.experiments.pace import wall_time
from sharpstream.experiments.speed import Kind, Source, Speed, kind_of, measure, sleeps_of, source_of
from sharpstream.factory import available

Measure = Callable[[RunConfig, Source], Speed]


@dataclass(frozen=True)
class Load:
    """What one run asks of the machine."""

    kind: Kind
    tokens: int
    sleeps: int
    scored: int


@dataclass(frozen=True)
class Cost:
    """Seconds of one worker: learning awake, asleep, scoring frozen."""

    learning: float
    asleep: float
    scoring: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.learning + self.asleep + self.scoring


@dataclass(frozen=True)
class Arm:
    """Jobs that cost the same: one row of the table."""

    name: str  # what their keys have in common, * for the rest
    learner: str
    jobs: int
    tokens: int  # per job
    cost: Cost  # per job

    @property
    def rate(self) -> float:
        """Tokens per second awake."""
        return self.tokens / self.cost.learning


@dataclass(frozen=True)
class Plan:
    """What is left of an experiment and how long it takes."""

    arms: tuple[Arm, ...]
    jobs: int  # that were asked for, done ones with them
    done: int
    unknown: int  # jobs that make no run and so cannot be foreseen; not counted
    workers: int
    wall: float  # seconds from start to end
    drawn: tuple[str, ...]  # streams that are not here: measured on drawn tokens
    missing: tuple[str, ...]  # learners that need something that is not installed: their jobs are not counted
    unforeseen: bool  # some learners sleep by novelty: nobody knows when

    @property
    def busy(self) -> float:
        """Seconds of all workers together."""
        return sum(arm.jobs * arm.cost.seconds for arm in self.arms)


def plan(
    name: str,
    scale: str,
    protocol: str,
    out: Path,
    *,
    workers: int,
    only: str = "*",
    measured: Measure = measure,
    tell: Callable[[str], None] = lambda line: None,
) -> Plan:
    """The plan of the jobs whose key matches `only` and that `out` does not have yet."""
    experiment = experiment_named(name)
    runs = _runs_of(experiment)
    jobs = experiment.jobs(scale, protocol)
    wanted = chosen(name, jobs, only)
    missing = [job for job in wanted if not job_file(out, job).exists()]
    configs = {job.key: runs(job) for job in missing}
    lacking = {job.key: [c.learner for c in configs[job.key] if not available(c)] for job in missing}
    known = [job for job in missing if configs[job.key] and not lacking[job.key]]
    sources = cache(source_of)
    loads = {job.key: loads_of(configs[job.key], experiment.scored(job), sources) for job in known}
    every_run = [config for job in known for config in configs[job.key]]
    speeds = _speeds(every_run, sources, measured, tell)
    costs = {job.key: cost_of(loads[job.key], speeds) for job in known}
    return Plan(
        arms=_arms(known, loads, costs),
        jobs=len(wanted),
        done=len(wanted) - len(missing),
        unknown=sum(not configs[job.key] for job in missing),
        missing=tuple(learner for job in missing for learner in lacking[job.key][:1]),
        workers=workers,
        wall=wall_time([costs[job.key].seconds for job in known], workers),
        drawn=tuple(sorted({run.stream.name for run in every_run if not sources(run.stream).here})),
        unforeseen=any(run.learner == "sharp" and run.sharp.sleep.trigger == "novelty" for run in every_run),
    )


def _runs_of(experiment: Experiment) -> Callable[[Job], Sequence[RunConfig]]:
    if experiment.runs is None:
        raise ConfigError(
            f"{experiment.name} cannot be planned: only runs can be measured beforehand, and its jobs are mostly "
            f"something else; time one instead: sharp reproduce {experiment.name} --scale quick"
        )
    return experiment.runs


def loads_of(runs: Sequence[RunConfig], scored: int, sources: Callable[..., Source]) -> tuple[Load, ...]:
    """What each run of a job asks for; what the job scores afterwards is scored by its last run's learner."""
    loads = []
    for number, run in enumerate(runs, start=1):
        source = sources(run.stream)
        tokens = run.tokens if source.length is None else min(run.tokens, source.length)
        after = scored if number == len(runs) else 0
        frozen = probe_tokens(run, tokens, source.length) + after
        loads.append(Load(kind_of(run, source.vocabulary), tokens, sleeps_of(run, tokens), frozen))
    return tuple(loads)


def probe_tokens(run: RunConfig, tokens: int, length: int | None) -> int:
    """Tokens scored during a run: at time k·every the k segments learned and the next one, where the stream has it.

    >>> probe_tokens(RunConfig(probe_every=100, probe_length=10), tokens=300, length=None)  # (2 + 3 + 4) · 10
    90
    """
    every, segment = run.probe_every, run.probe_length
    if not every:
        return 0
    times = range(1, tokens // every + 1)
    whole = len(times) + 1 if length is None else max(0, (length - segment) // every + 1)  # segments the stream has
    return segment * sum(min(k + 1, whole) for k in times)


def _speeds(
    runs: Sequence[RunConfig], sources: Callable[..., Source], measured: Measure, tell: Callable[[str], None]
) -> dict[Kind, Speed]:
    """Each kind of run, measured once, by the first run of that kind."""
    examples: dict[Kind, RunConfig] = {}
    for run in runs:
        examples.setdefault(kind_of(run, sources(run.stream).vocabulary), run)
    speeds = {}
    for number, (kind, run) in enumerate(examples.items(), start=1):
        tell(f"measuring {number} of {len(examples)} kinds of run ({kind.learner}) ...")
        speeds[kind] = measured(run, sources(run.stream))
    return speeds


def cost_of(loads: Sequence[Load], speeds: dict[Kind, Speed]) -> Cost:
    """Seconds of one job."""
    return Cost(
        learning=sum(load.tokens / speeds[load.kind].learning for load in loads),
        asleep=sum(load.sleeps * speeds[load.kind].sleep for load in loads),
        scoring=sum(load.scored / speeds[load.kind].scoring for load in loads),
    )


def _arms(jobs: Sequence[Job], loads: dict[str, tuple[Load, ...]], costs: dict[str, Cost]) -> tuple[Arm, ...]:
    """One row for all jobs that ask for the same; keys of another form (rnn, rnn-overlap) never share a row."""
    rows: dict[tuple[tuple[Load, ...], int], list[str]] = {}
    for job in jobs:
        rows.setdefault((loads[job.key], job.key.count("-")), []).append(job.key)
    return tuple(
        Arm(
            name=common_name(keys),
            learner=", ".join(dict.fromkeys(load.kind.learner for load in same)),
            jobs=len(keys),
            tokens=sum(load.tokens for load in same),
            cost=costs[keys[0]],
        )
        for (same, _), keys in rows.items()
    )


def common_name(keys: Sequence[str]) -> str:
    """What keys of one form have in common, part by part.

    >>> common_name(["K2-alpha-4-0", "K4-alpha-4-0", "K4-alpha-4-1"])
    'K*-alpha-4-*'
    """
    columns = zip(*(key.split("-") for key in keys), strict=True)
    return "-".join(parts[0] if len(set(parts)) == 1 else f"{_beginning(parts)}*" for parts in columns)


def _beginning(words: Sequence[str]) -> str:
    """The letters that all words begin with."""
    alike = [len(set(letters)) == 1 for letters in zip(*words, strict=False)]
    return words[0][: alike.index(False) if False in alike else len(alike)]
