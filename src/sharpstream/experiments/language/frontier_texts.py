"""frontier-texts: the episodic learner on what is not text8: documentation, source code and logs as bytes, and books.

A job is one arm on one text, read once. The compressors that people would use instead stand beside it.
"""

import hashlib
import sysconfig
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.config import StreamConfig
from sharpstream.errors import DataError
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.rows import Cells, Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Experiment, Finding, Job, judged
from sharpstream.experiments.language.frontier import BESIDE, timed_bits
from sharpstream.experiments.language.measure import read
from sharpstream.learners.contract import Tokens
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.scatter import bits_against_seconds
from sharpstream.streams.places import data_directory
from sharpstream.streams.python_docs import help_topics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BYTES, LETTERS = 256, 27
LEARNERS = ("episodic", "episodic fast")
ALL_ARMS = (*LEARNERS, *BESIDE)


@dataclass(frozen=True)
class Text:
    """A text of the study: what it is, how large its alphabet, and where it comes from."""

    what: str
    vocabulary: int
    take: Callable[[int], Tokens]
    """The first so many symbols."""
    most: int = 10_000_000


def of_bytes(data: bytes) -> Tokens:
    return np.frombuffer(data, dtype=np.uint8)


def python_source(length: int) -> Tokens:
    """Python's own library, file after file in the order of their names."""
    root, parts, size = Path(sysconfig.get_paths()["stdlib"]), [], 0
    for path in sorted(root.glob("*.py")) + sorted(root.glob("*/*.py")):
        if size >= length or "site-packages" in path.parts:
            break
        parts.append(path.read_bytes())
        size += len(parts[-1])
    return of_bytes(b"".join(parts)[:length])


def real_logs(length: int) -> Tokens:
    """Eight system logs of Loghub, one after the other."""
    path = (data_directory() or Path()) / "loghub.zip"
    if not path.is_file():
        raise DataError("there is no loghub.zip in SHARP_DATA; put the 2,000-line logs of Loghub there, zipped")
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith("_2k.log"))
        return of_bytes(b"".join(archive.read(name) for name in names)[:length])


TEXTS = {
    "help": Text("Python's help topics, bytes", BYTES, lambda n: of_bytes(help_topics()[:n])),
    "source": Text("Python's library, source, bytes", BYTES, python_source, most=5_000_000),
    "logs": Text("eight system logs (Loghub), bytes", BYTES, real_logs),
    "books": Text("PG-19, characters", LETTERS, lambda n: read(StreamConfig(name="pg19"), (0, n))),
}
SCALES = {
    "quick": (("help", "source"), 8_000),
    "laptop": (tuple(TEXTS), 10_000_000),
    "paper": (tuple(TEXTS), 10_000_000),
}


def jobs(scale: str, protocol: str) -> list[Job]:
    """Every arm on every text."""
    texts, most = SCALES[scale]
    return [
        Job(f"{text}-{arm.replace(' ', '-')}", {"text": text, "arm": arm, "most": min(most, TEXTS[text].most)})
        for text in texts
        for arm in ALL_ARMS
    ]


def work(job: Job, directory: Path) -> list[Cells]:
    """One arm on one text: bits and processor time."""
    text, arm = TEXTS[job.settings["text"]], job.settings["arm"]
    tokens = text.take(job.settings["most"])
    sha256 = hashlib.sha256(tokens.tobytes()).hexdigest()
    values = timed_bits(arm, tokens, text.vocabulary)
    about = {"arm": arm, "text": job.settings["text"], "seed": 0, "tokens": len(tokens), "sha256": sha256}
    return [{**about, "metric": metric, "value": value} for metric, value in values.items()]


def values_of(rows: Sequence[Row], arm: str, metric: str) -> dict[str, float]:
    """By text."""
    return {row["text"]: row["value"] for row in rows if row["arm"] == arm and row["metric"] == metric}


def figure(rows: Sequence[Row]) -> "Figure":
    """Mean over the texts that every arm has read."""
    bits = {arm: values_of(rows, arm, "bits") for arm in ALL_ARMS}
    cost = {arm: values_of(rows, arm, "microseconds") for arm in ALL_ARMS}
    known = [arm for arm in ALL_ARMS if bits[arm]]
    shared = set.intersection(*(set(bits[arm]) for arm in known)) or set(bits[known[0]])
    points = {
        arm: (fmean(cost[arm][t] for t in shared) / 1000, fmean(bits[arm][t] for t in shared))
        for arm in known
        if shared <= set(bits[arm])
    }
    return bits_against_seconds(points, title=f"Mean over {len(shared)} texts: lower left is better")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Below the best compressor on every text: relative, paired by text."""
    found = []
    for arm in LEARNERS:
        ours = values_of(rows, arm, "bits")
        best = {t: min(known) for t in ours if (known := _compressed(rows, t))}
        relative = {t: ours[t] / best[t] - 1.0 for t in best}
        gap = difference_where_both(relative, dict.fromkeys(relative, 0.0))
        shown = ", ".join(f"{t} {value:+.1%}" for t, value in relative.items())
        found.append(judged(f"{arm} below PPMd-16 and zpaq -m5", "-", shown, [gap], Claim("below", 0.005)))
    return found


def _compressed(rows: Sequence[Row], text: str) -> list[float]:
    return [values[text] for arm in ("ppmd-16", "zpaq-5") if text in (values := values_of(rows, arm, "bits"))]


def page(rows: Sequence[Row]) -> str:
    """Bits and microseconds, a line a text."""
    lines = []
    for name, text in TEXTS.items():
        cells = []
        for arm in ALL_ARMS:
            bits, cost = values_of(rows, arm, "bits").get(name), values_of(rows, arm, "microseconds").get(name)
            cells.append(None if bits is None else f"{bits:.4f} ({cost:.1f} µs)")
        length = next((row["tokens"] for row in rows if row["text"] == name), None)
        if length is not None:
            lines.append((text.what, length, *cells))
    note = "Bits per symbol before learning from it (processor time a symbol, one thread; compare within a line)."
    columns = ("text", "symbols", *ALL_ARMS)
    return markdown(Grid(title="Bits, all texts", columns=columns, rows=tuple(lines), note=note))


EXPERIMENT = Experiment(
    name="frontier-texts",
    title="documentation, source code, logs and books, read once",
    jobs=jobs,
    work=work,
    figure=figure,
    findings=findings,
    page=page,
    runs=lambda job: [],
)
