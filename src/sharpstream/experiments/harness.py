"""An experiment is a list of independent jobs, a figure and a verdict; the harness runs it and never loses a job.

Each job writes its rows to `jobs/KEY.json` when it is done, so a command that is repeated runs only what is missing.
Workers are processes of one thread each. `sharp reproduce` calls `reproduce`; each module gives one `Experiment`.
"""

import fnmatch
import functools
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig
from sharpstream.config_files import to_dict
from sharpstream.errors import ConfigError, RunError, SharpError
from sharpstream.evaluate.machine import describe
from sharpstream.evaluate.pairs import Estimate
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import NOT_RUN, Claim, verdict
from sharpstream.experiments.answers import answer
from sharpstream.experiments.pace import Progress
from sharpstream.experiments.speed import kind_of, scoring_share
from sharpstream.experiments.workers import work_off
from sharpstream.factory import model_of
from sharpstream.files import write_whole
from sharpstream.report.grid import rows_as_csv, rows_from_csv
from sharpstream.rundir import differences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WorkOff = Callable[[Mapping[str, Callable[[], object]], int, Progress], dict[str, SharpError]]
TOO_SMALL = "too small to say"  # at the scale `quick`, whatever came out
MADE = "<!-- made from rows.csv: `sharp pages` makes it again; write above or below -->"
END = "<!-- end of what is made -->"
EXPERIMENTS = {
    "memory-carryover": "sharpstream.experiments.simulations.memory_carryover",
    "drift": "sharpstream.experiments.simulations.drift",
    "head-depth": "sharpstream.experiments.simulations.head_depth",
    "replay-quality": "sharpstream.experiments.simulations.replay_quality",
    "acceleration": "sharpstream.experiments.simulations.acceleration",
    "text8": "sharpstream.experiments.language.text8",
    "text8-long": "sharpstream.experiments.language.text8:LONG",
    "text8-sleep": "sharpstream.experiments.language.text8_sleep",
    "text8-threshold": "sharpstream.experiments.language.text8_threshold",
    "text8-wide": "sharpstream.experiments.language.text8_wide",
    "text8-tuning": "sharpstream.experiments.language.text8_tuning",
    "pg19": "sharpstream.experiments.language.pg19",
    "pg19-subword": "sharpstream.experiments.language.pg19_subword",
    "nonstationarity": "sharpstream.experiments.language.nonstationarity",
    "wall-time": "sharpstream.experiments.language.wall_time",
    "effective-context": "sharpstream.experiments.effective_context",
    "frontier": "sharpstream.experiments.language.frontier",
    "frontier-texts": "sharpstream.experiments.language.frontier_texts",
    "experts": "sharpstream.experiments.experts",
    "memory-kinds": "sharpstream.experiments.memory_kinds",
    "episodic-sleep": "sharpstream.experiments.language.episodic_sleep",
    "episodic-slow": "sharpstream.experiments.language.episodic_slow",
}


@dataclass(frozen=True)
class Job:
    """One independent piece of work: plain settings, and a key that names it for ever."""

    key: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One claim of the paper beside what came out here."""

    claim: str
    published: str
    ours: str
    verdict: str  # a word of evaluate/verdicts.py


def judged(claim: str, published: str, ours: str, estimates: Sequence[Estimate | None], test: Claim) -> Finding:
    """A claim beside what came out here, with the word that the estimates give it."""
    word = verdict(estimates, test)
    return Finding(claim, published, "-" if word == NOT_RUN else ours, word)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What `sharp reproduce NAME` needs of a module; `work` runs in a worker and may use the directory it is given."""

    name: str
    title: str
    jobs: Callable[[str, str], Sequence[Job]]  # (scale, protocol) → jobs
    work: Callable[[Job, Path], list[Cells]]
    figure: Callable[[Sequence[Row]], "Figure"]
    findings: Callable[[Sequence[Row]], Sequence[Finding]]
    runs: Callable[[Job], Sequence[RunConfig]] | None = None
    """The runs a job makes, for `sharp plan` to measure; None where a job is not a run."""
    scored: Callable[[Job], int] = lambda job: 0
    """Tokens a job scores frozen beside what its runs probe by themselves, for `sharp plan` and the time left."""
    more_figures: Callable[[Sequence[Row]], Mapping[str, "Figure"]] = lambda rows: {}
    """Further pictures by the name of their file."""
    page: Callable[[Sequence[Row]], str] = lambda rows: ""
    """What RESULTS.md says beside the claims: tables in Markdown."""
    answer: Callable[[Sequence[Row]], str] = lambda rows: ""
    """Its first words, where the claims sorted by verdict would not answer what was asked; not at the scale `quick`."""


def experiment_named(name: str) -> Experiment:
    """The experiment of that name, or an error that lists them."""
    if name not in EXPERIMENTS:
        raise ConfigError(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    module, _, own_name = EXPERIMENTS[name].partition(":")  # a module may hold several
    found: Experiment = getattr(import_module(module), own_name or "EXPERIMENT")
    return found


def reproduce(
    name: str,
    scale: str,
    protocol: str,
    out: Path,
    *,
    workers: int,
    command: str,
    only: str = "*",
    work: WorkOff = work_off,
) -> list[Row]:
    """Run what is missing of the jobs whose key matches `only`, then write rows, pictures and RESULTS.md; all rows.

    What is written is made of every job that is done, so an experiment of many hours shows what it has so far.
    """
    experiment = experiment_named(name)
    jobs = experiment.jobs(scale, protocol)
    wanted = chosen(name, jobs, only)
    missing = [job for job in wanted if not job_file(out, job).exists()]
    failed = _run(experiment, wanted, missing, out, workers, work) if missing else {}
    done = [job for job in jobs if job_file(out, job).exists()]
    stamp = {"experiment": name, "scale": scale, "protocol": protocol, "command": command}
    rows = [Row({**stamp, **cells}) for job in done for cells in _cells(experiment, job, job_file(out, job))]
    if rows:
        _write(experiment, rows, out, command, (len(done), len(jobs)))
    if failed:
        told = "; ".join(f"{key}: {problem}" for key, problem in failed.items())
        raise RunError(f"{len(failed)} of {len(wanted)} jobs failed ({told}); repeat the command to try those again")
    return rows


def _write(experiment: Experiment, rows: Sequence[Row], out: Path, command: str, done: tuple[int, int]) -> None:
    """Rows, pictures, page."""
    write_whole(out / "rows.csv", rows_as_csv(rows))
    pictures = _draw(experiment, rows, out)
    page = out / "RESULTS.md"
    write_whole(page, placed(_text(page), results_page(experiment, rows, command, pictures, done)))


def _draw(experiment: Experiment, rows: Sequence[Row], out: Path) -> list[str]:
    """The pictures of these rows; their names, in the order of the page."""
    from sharpstream.report.style import save_figure

    pictures = {experiment.name: experiment.figure(rows), **experiment.more_figures(rows)}
    for picture, figure in pictures.items():
        save_figure(figure, out / f"{picture}.png")
    return list(pictures)


def read_rows(out: Path) -> list[Row]:
    """The rows of an experiment's directory."""
    return [Row(cells) for cells in rows_from_csv((out / "rows.csv").read_text(encoding="utf-8"))]


def page_from_rows(out: Path, *, draw: bool = False) -> str:
    """The page made again from rows.csv, also where the jobs are no longer there; with its pictures when asked."""
    page, rows = out / "RESULTS.md", read_rows(out)
    experiment, old = experiment_named(rows[0]["experiment"]), _text(page)
    kept = (out / "jobs").is_dir()
    jobs = experiment.jobs(rows[0]["scale"], rows[0]["protocol"]) if kept else []
    done = (sum(job_file(out, job).exists() for job in jobs), len(jobs))
    pictures = _draw(experiment, rows, out) if draw else re.findall(r"\]\((\S+)\.png\)", old)
    return placed(old, results_page(experiment, rows, rows[0]["command"], pictures, done))


def placed(old: str, made: str) -> str:
    """A page whose made part is this; what a person wrote around the marks stays as it is."""
    before, mark, rest = old.partition(MADE)
    after = rest.partition(END)[2] if mark else "\n"
    return f"{before if mark else ''}{MADE}\n{made}{END}{after}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def chosen(name: str, jobs: Sequence[Job], only: str) -> list[Job]:
    """The jobs whose key matches the pattern; an error that lists the keys when none does."""
    wanted = [job for job in jobs if fnmatch.fnmatchcase(job.key, only)]
    if not wanted:
        raise ConfigError(f"no job of {name} is called {only!r}; there are: {', '.join(job.key for job in jobs)}")
    return wanted


def job_file(out: Path, job: Job) -> Path:
    """Where a finished job keeps its rows."""
    return out / "jobs" / f"{job.key}.json"


def _cells(experiment: Experiment, job: Job, path: Path) -> list[Cells]:
    """What a finished job measured; an error when it was made with other settings than the job has now."""
    try:
        done = json.loads(path.read_text())
        found = differences(json.loads(json.dumps(dict(job.settings))), done["settings"])
        for now, made in zip(decisive(experiment, job), done.get("runs", []), strict=False):
            found += differences(_as_far_as(made, now), made)
        if found:
            told = f"{path} was made with other settings ({'; '.join(found)}); delete it, or choose another --out"
            raise RunError(told)
        return list(done["rows"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise RunError(f"{path} cannot be read ({problem}); delete it and repeat the command") from problem


def decisive(experiment: Experiment, job: Job) -> list[dict[str, Any]]:
    """What decides the rows of a job that is runs: a recipe that changed must not pass for the one that was run."""
    configs = experiment.runs(job) if experiment.runs else []
    return [
        {
            "learner": c.learner,
            "tokens": c.tokens,
            "seed": c.seed,
            "stream": to_dict(c.stream),
            "model": to_dict(model_of(c)),
        }
        for c in configs
    ]


def _as_far_as(made: Any, now: Any) -> Any:
    """What is compared: settings that did not exist when the job was done decided nothing then."""
    if isinstance(made, Mapping) and isinstance(now, Mapping):
        return {name: _as_far_as(made[name], now[name]) for name in now if name in made}
    return now


def do_job(name: str, job: Job, out: Path) -> None:
    """Run one job in this process and keep its rows; called by the workers."""
    machine, experiment = describe(), experiment_named(name)
    began = time.time()
    rows = experiment.work(job, out / "runs" / job.key)
    stamp = {"hardware": machine.hardware, "software": machine.software}
    done = {
        "settings": dict(job.settings),
        "runs": decisive(experiment, job),
        "seconds": time.time() - began,
        "rows": [{**row, **stamp} for row in rows],
    }
    write_whole(job_file(out, job), json.dumps(done))


def _run(
    experiment: Experiment, wanted: Sequence[Job], missing: Sequence[Job], out: Path, workers: int, work: WorkOff
) -> dict[str, SharpError]:
    """All missing jobs, as many at once as there are workers; those that failed. Done ones tell how long they take."""
    runs = experiment.runs or (lambda job: [])
    tokens = {job.key: sum(config.tokens for config in runs(job)) for job in missing}
    scored = {job.key: experiment.scored(job) for job in missing}
    shares = {job.key: max(map(scoring_share, runs(job)), default=1.0) for job in missing}
    kinds = {job.key: tuple(kind_of(config, vocabulary=0) for config in runs(job)) for job in wanted}
    place = out.resolve()  # a worker may stand elsewhere
    tasks = {job.key: functools.partial(do_job, experiment.name, job, place) for job in missing}
    progress = Progress(tokens, scored, shares, kinds, out / "runs", workers, len(wanted) - len(missing))
    return work(tasks, workers, progress)


def shown_findings(experiment: Experiment, rows: Sequence[Row]) -> list[Finding]:
    """What a page says of the claims; a quick look is too small to judge any of them."""
    findings = list(experiment.findings(rows))
    if rows[0]["scale"] != "quick":
        return findings
    return [replace(f, verdict=f.verdict if f.verdict == NOT_RUN else TOO_SMALL) for f in findings]


def _paragraph(text: str) -> list[str]:
    return [text, ""] if text else []


def results_page(
    experiment: Experiment, rows: Sequence[Row], command: str, pictures: Iterable[str], done: tuple[int, int]
) -> str:
    """RESULTS.md: the answer, the command, published beside ours, the experiment's own tables, the pictures."""
    findings = shown_findings(experiment, rows)
    own = experiment.answer(rows) if rows[0]["scale"] != "quick" else ""
    lines = [f"# {experiment.name}: {experiment.title}", "", *_paragraph(own or answer(findings)), f"`{command}`", ""]
    if done[0] < done[1]:
        lines += [f"**Not finished: {done[0]} of {done[1]} jobs.** Repeat the command to go on.", ""]
    lines += ["| claim | published | here | verdict |", "|---|---|---|---|"]
    lines += [f"| {f.claim} | {f.published} | {f.ours} | **{f.verdict}** |" for f in findings]
    lines += ["", *filter(None, [experiment.page(rows).strip("\n")])]
    lines += [line for name in pictures for line in ("", f"![{name.replace('-', ' ')}]({name}.png)")]
    digest = hashlib.sha256(rows_as_csv(rows).encode()).hexdigest()[:12]
    lines += ["", f"{len(rows)} rows in rows.csv (sha256 {digest}…)."]
    return "\n".join(lines) + "\n"
