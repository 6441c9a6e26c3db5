"""SHARP against itself with one thing changed, on the same text, from the same weights: what the ablations share."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharpstream.config import RunConfig, SharpConfig, StreamConfig
from sharpstream.evaluate.protocols import protocol_named
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.experiments.harness import Experiment, Finding, Job
from sharpstream.experiments.language import pictures, tables
from sharpstream.experiments.language.arms import SIZES, run_of
from sharpstream.experiments.language.measure import DIRECTIONS, measured, probe_spans
from sharpstream.experiments.language.segments import FUTURE, MILLION, Scale, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Change = Callable[[SharpConfig], SharpConfig]
ONCE = (0, 0)  # a part is not scored again on the way


SCALES = {
    "quick": Scale("python-docs", "tiny", ((0, 6_000),), (12_000, 13_000), 1_000, 1_000, ONCE),
    "laptop": Scale("text8", "128", ((0, 3 * MILLION), (10 * MILLION, 13 * MILLION)), FUTURE, MILLION, 50_000, ONCE),
    "paper": Scale(
        "text8",
        "128",
        tuple((m * 10 * MILLION, (m + 1) * 10 * MILLION) for m in range(5)),
        FUTURE,
        MILLION,
        100_000,
        ONCE,
    ),
}


def config_of(job: Job, changes: Mapping[str, Change], of: str = "sharp") -> RunConfig:
    """The run of a variant of this SHARP: only what its change changes differs from the others."""
    scale, part = SCALES[job.settings["scale"]], job.settings["part"]
    start, end = scale.segments[part]
    base = run_of(of, SIZES[scale.size], job.settings["protocol"])
    return base.replace(
        sharp=changes[job.settings["arm"]](base.sharp),
        stream=StreamConfig(name=scale.stream, start=start, end=end),
        tokens=end - start,
        seed=seed_of(part, job.settings.get("repetition", 0)),
        log_every=scale.log_every,
    )


def _job(settings: dict[str, Any], repetition: int) -> Job:
    key = f"part{settings['part']}-{settings['arm']}"
    return Job(f"{key}-seed{repetition}", {**settings, "repetition": repetition}) if repetition else Job(key, settings)


def ablation(
    name: str,
    title: str,
    changes: Mapping[str, Change],
    findings: Callable[[Sequence[Row]], list[Finding]],
    more_figures: Callable[[Sequence[Row]], Mapping[str, "Figure"]],
    of: str = "sharp",
    twice: Sequence[str] = (),
) -> Experiment:
    """An experiment whose arms are these changes of one SHARP of the main table, the first one being that as it is.

    Those that are run twice have a second seed on each part.
    """
    first = next(iter(changes))

    def jobs(scale: str, protocol: str) -> list[Job]:
        seeds = 1 if scale == "quick" else 2
        return [
            _job({"scale": scale, "protocol": protocol, "arm": arm, "part": part}, repetition)
            for repetition in range(seeds)
            for part in range(len(SCALES[scale].segments))
            for arm in (changes if repetition == 0 else twice)
        ]

    def work(job: Job, directory: Path) -> list[Cells]:
        config, scale = config_of(job, changes, of), SCALES[job.settings["scale"]]
        start, end = scale.segments[job.settings["part"]]
        probes = probe_spans((start, end), scale.future, min(scale.probe, (end - start) // 2))
        return measured(directory, config, job.settings["arm"], protocol_named(job.settings["protocol"]), probes)

    def figure(rows: Sequence[Row]) -> "Figure":
        return pictures.curves_figure(rows, tables.arms_of(rows), f"{title[0].upper()}{title[1:]}")

    def drawn(rows: Sequence[Row]) -> dict[str, "Figure"]:
        against = pictures.known_figures({"against": lambda: pictures.against_figure(rows, first)})
        return {**against, **more_figures(rows)}

    def page(rows: Sequence[Row]) -> str:
        bits = ("bits", *(f"{direction}_bits" for direction in DIRECTIONS))
        against = tables.difference_table(rows, first, bits, "SHARP as it is, against each")
        heard = tables.hearing_table(rows, "What each level hears of the one above")
        return tables.joined((tables.main_table(rows, "All arms"), against, heard))

    return Experiment(
        name=name,
        title=title,
        jobs=jobs,
        work=work,
        figure=figure,
        findings=findings,
        runs=lambda job: [config_of(job, changes, of)],
        scored=lambda job: len(DIRECTIONS) * SCALES[job.settings["scale"]].probe,
        more_figures=drawn,
        page=page,
    )
