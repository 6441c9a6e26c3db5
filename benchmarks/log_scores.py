"""Real logs, every candidate score of their lines, and how good a score is; `logs.py` makes the table of them.

A line is scored when it arrives, by what came before it alone.
"""

import csv
import io
import time
import zipfile
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream import CountsConfig
from sharpstream.factory import make_learner
from sharpstream.learners.contract import Learner
from sharpstream.learners.counts import Counts
from sharpstream.watching.judge import Judge
from sharpstream.watching.masks import Mask
from sharpstream.watching.rarity import Rarity
from sharpstream.watching.score import combined
from sharpstream.watching.settings import default_run
from sharpstream.watching.tail import Tail

Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
RARE, DRAWS = 3, 500
WINNER = "rarity + ¼ surprise (the default)"
BASELINES = (
    "order-3 counts on masked lines, mean",
    "masked-line frequency",
    "drain3 on masked lines, rarity of the cluster",
)


@dataclass
class Log:
    """One log: its lines, which of them are rare or labelled, and their bits under two learners."""

    name: str
    lines: list[str]
    rare: Flags
    masked: list[str] = field(default_factory=list)
    episodic: list[Scores] = field(default_factory=list)
    fast: list[Scores] = field(default_factory=list)
    counts: list[Scores] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


# ---- the logs ------------------------------------------------------------------------------------------------------


def logs(archive: Path) -> Iterator[Log]:
    """Every log of the archive; where lines have a label, labelled lines are a log of their own, NAME (labels)."""
    with zipfile.ZipFile(archive) as file:
        for member in sorted(file.namelist()):
            if member.endswith(".log"):
                table = csv.DictReader(io.StringIO(file.read(member + "_structured.csv").decode("utf-8", "replace")))
                rows = list(table)
                raw = file.read(member).decode("utf-8", "surrogateescape").split("\n")
                lines = [line.removesuffix("\r") for line in raw][: len(rows)]
                often = Counter(row["EventId"] for row in rows)
                rare = np.array([often[row["EventId"]] <= RARE for row in rows])
                name = Path(member).name.removesuffix("_2k.log")
                yield Log(name, lines, rare)
                if "Label" in rows[0]:
                    # Where the raw line begins with its own label, that word must not be seen.
                    hidden = [line.removeprefix(row["Label"] + " ") for line, row in zip(lines, rows, strict=True)]
                    yield Log(f"{name} (labels)", hidden, np.array([row["Label"] != "-" for row in rows]))


def learn(log_: Log) -> None:
    """Mask every line and learn it with each learner, timing the default and the fast one as they are watched."""
    mask = Mask(["auto"])
    log_.masked = [mask.apply(line).text for line in log_.lines]
    run, fast = default_run(), default_run(fast=True)
    log_.episodic, log_.seconds["default"] = _watched(log_.lines, make_learner(run, 256))
    log_.fast, log_.seconds["fast"] = _watched(log_.lines, make_learner(fast, 256))
    log_.counts = bits(log_.masked, Counts(CountsConfig(order=3), 256))


def _watched(lines: list[str], learner: Learner) -> tuple[list[Scores], float]:
    """Bits of each masked line, and the CPU seconds of masking, learning and judging all of them."""
    mask, judge, found = Mask(["auto"]), Judge(5.0), []
    learner.predict()  # compiled before the clock runs
    began = time.process_time()
    for line in lines:
        masked = mask.apply(line)
        found.append(learner.learn(tokens(masked.text)))
        judge.see(masked, line, found[-1])
    return found, time.process_time() - began


def tokens(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer((text + "\n").encode("utf-8", "surrogateescape"), np.uint8)


def bits(lines: list[str], learner: Learner) -> list[Scores]:
    return [learner.learn(tokens(line)) for line in lines]


# ---- the candidates ------------------------------------------------------------------------------------------------


def mean(values: list[Scores]) -> Scores:
    return np.array([line.mean() for line in values])


def top(values: list[Scores], count: int) -> Scores:
    return np.array([np.sort(line)[-count:].mean() for line in values])


def window(values: list[Scores], size: int) -> Scores:
    return np.array([np.convolve(line, np.ones(min(size, line.size)), "valid").max() / size for line in values])


def tail_among(values: Scores, kinds: list[Any]) -> Scores:
    """−log of the share of earlier lines of the same kind that scored at least as high."""
    past: dict[Any, list[float]] = defaultdict(list)
    found = []
    for value, kind in zip(values.tolist(), kinds, strict=True):
        known = past[kind]
        found.append(-log((len(known) - bisect_left(known, value) + 1) / (len(known) + 2)))
        insort(known, value)
    return np.array(found)


def frequency(lines: list[Any]) -> Scores:
    """−log of how often this very line came before."""
    seen: Counter[Any] = Counter()
    found = []
    for line in lines:
        found.append(-log(seen[line] + 1))
        seen[line] += 1
    return np.array(found)


def rarity(log_: Log, values: list[Scores] | None) -> Scores:
    table = Rarity()
    pairs = [table.see(line.split()) for line in log_.masked]
    if values is None:
        return np.array([combined(pair, 1 - 0.02) for pair in pairs])
    return np.array([combined(pair, line.mean()) for pair, line in zip(pairs, values, strict=True)])


def drain(lines: list[str]) -> Scores:
    """−log of the share of lines so far that drain3 put into the cluster of this one; it reads masked lines."""
    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    miner = TemplateMiner(config=TemplateMinerConfig())
    sizes = [float(miner.add_log_message(line)["cluster_size"]) for line in lines]
    return np.array([-log(size / (number + 1)) for number, size in enumerate(sizes)])


def candidates(log_: Log) -> dict[str, Scores]:
    """Every score of every line of a log."""
    surprise = mean(log_.episodic)
    lengths = [len(line) // 10 for line in log_.masked]
    templates = [tuple(line.split()[:3]) for line in log_.masked]
    return {
        WINNER: rarity(log_, log_.episodic),
        "the same with --fast": rarity(log_, log_.fast),
        "rarity of word pairs alone": rarity(log_, None),
        "rarity + ¼ surprise of order-3 counts": rarity(log_, log_.counts),
        "surprise: mean": surprise,
        "surprise: mean of the 8 largest": top(log_.episodic, 8),
        "surprise: largest window of 16": window(log_.episodic, 16),
        "surprise: tail among lines of its length": tail_among(surprise, lengths),
        "surprise: tail among lines of its first words": tail_among(surprise, templates),
        "surprise: mean, and masked-line frequency": np.log(surprise + 0.02) + frequency(log_.masked),
        BASELINES[0]: mean(log_.counts),
        BASELINES[1]: frequency(log_.masked),
        BASELINES[2]: drain(log_.masked),
    }


# ---- how good ------------------------------------------------------------------------------------------------------


def auroc(scores: Scores, wanted: Flags) -> float:
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    hits = int(wanted.sum())
    return float((ranks[wanted].sum() - hits * (hits + 1) / 2) / (hits * (wanted.size - hits)))


def average_precision(scores: Scores, wanted: Flags) -> float:
    """Ties count as one step, so that the order of equal scores does not matter."""
    _, place = np.unique(-scores, return_inverse=True)
    hits = np.bincount(place, weights=wanted)
    return float((hits * np.cumsum(hits) / np.cumsum(np.bincount(place))).sum() / hits.sum())


def interval(
    measure: Callable[[Scores, Flags], float], scores: list[Scores], wanted: list[Flags]
) -> tuple[float, float]:
    """95 % of the mean over logs when the lines of each log are drawn anew."""
    rng = np.random.default_rng(0)
    means = []
    for _ in range(DRAWS):
        values = []
        for line_scores, flags in zip(scores, wanted, strict=True):
            draw = rng.integers(0, flags.size, flags.size)
            if flags[draw].any():
                values.append(measure(line_scores[draw], flags[draw]))
        means.append(float(np.mean(values)))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def alerts(scores: Scores, wanted: Flags, per_1000: float) -> dict[str, int]:
    """What the alert rule makes of a score, counted after its warm-up: lines, alerts, wanted lines, and both."""
    tail = Tail(per_1000)
    given = np.array([tail.alert(tail.judge(score)) for score in scores.tolist()])[tail.warmup :]
    after = wanted[tail.warmup :]
    return {
        "lines": given.size,
        "alerts": int(given.sum()),
        "wanted": int(after.sum()),
        "hits": int((given & after).sum()),
    }


def chosen_without(ap: dict[str, list[float]], left_out: int) -> str:
    """The score that the other logs would have chosen, baselines aside."""
    own = {name: values for name, values in ap.items() if name not in BASELINES}
    return max(own, key=lambda name: sum(value for i, value in enumerate(own[name]) if i != left_out))
