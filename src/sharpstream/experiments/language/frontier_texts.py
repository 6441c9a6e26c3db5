"""frontier-texts: the episodic learner on what is not text8: documentation, source code and logs as bytes, and books.

A job is one arm on one text, read once. What people would use instead stands beside it: compressors, or order-3 counts
where the symbols are subwords.
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

BYTES, LETTERS, WORDLLAMA = 256, 27, 32_000
LEARNERS = ("episodic", "episodic fast")
COUNTED = "counts-3"
ALL_ARMS = (*LEARNERS, *BESIDE, COUNTED)
SUBWORDS = {f"subwords-{million}M": million * 1_000_000 for million in (0, 3, 6)}  # other books each; choices: 1M to 2M


@dataclass(frozen=True)
class Text:
    """A text of the study: what it is, how large its alphabet, and where it comes from."""

    what: str
    vocabulary: int
    take: Callable[[int], Tokens]
    """The first so many symbols."""
    most: int = 10_000_000
    beside: Sequence[str] = BESIDE


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


def subwords_from(start: int) -> Callable[[int], Tokens]:
    """Tokens of the wordllama tokenizer, from one of them on."""
    return lambda length: read(StreamConfig(name="pg19-subword"), (start, start + length))


TEXTS = {
    "help": Text("Python's help topics, bytes", BYTES, lambda n: of_bytes(help_topics()[:n])),
    "source": Text("Python's library, source, bytes", BYTES, python_source, most=5_000_000),
    "logs": Text("eight system logs (Loghub), bytes", BYTES, real_logs),
    "books": Text("PG-19, characters", LETTERS, lambda n: read(StreamConfig(name="pg19"), (0, n))),
    **{
        name: Text(f"PG-19, subwords from {start:,}", WORDLLAMA, subwords_from(start), 1_000_000, (COUNTED,))
        for name, start in SUBWORDS.items()
    },
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
        for arm in (*LEARNERS, *TEXTS[text].beside)
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
    known = [arm for arm in (*LEARNERS, *BESIDE) if bits[arm]]
    shared = set.intersection(*(set(bits[arm]) for arm in known)) or set(bits[known[0]])
    points = {
        arm: (fmean(cost[arm][t] for t in shared) / 1000, fmean(bits[arm][t] for t in shared))
        for arm in known
        if shared <= set(bits[arm])
    }
    return bits_against_seconds(points, title=f"Mean over {len(shared)} texts: lower left is better")


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Below the best compressor on every text, and below counts where symbols are subwords."""
    pressed = [_below(rows, arm, ("ppmd-16", "zpaq-5"), f"{arm} below PPMd-16 and zpaq -m5") for arm in LEARNERS]
    return [*pressed, _below(rows, "episodic", (COUNTED,), "episodic below order-3 counts on subwords")]


def _below(rows: Sequence[Row], arm: str, rivals: Sequence[str], claim: str) -> Finding:
    """Relative to the best rival of each text that has one, paired by text."""
    ours, theirs = values_of(rows, arm, "bits"), [values_of(rows, rival, "bits") for rival in rivals]
    best = {text: min(known) for text in ours if (known := [bits[text] for bits in theirs if text in bits])}
    relative = {text: ours[text] / bits - 1.0 for text, bits in best.items()}
    gap = difference_where_both(relative, dict.fromkeys(relative, 0.0))
    shown = ", ".join(f"{text} {value:+.1%}" for text, value in relative.items())
    return judged(claim, "-", shown, [gap], Claim("below", 0.005))


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
