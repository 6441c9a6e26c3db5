"""How fast runs go by their own logs, and when an experiment will be done by that.

A token of one learner costs a hundred times that of another, so time left is counted learner by learner: what the logs
say of the same kind of run, else the mean of the kinds that are known. A token that is scored afterwards counts as so
much of one that is learned (`speed.scoring_share`). `workers.py` prints it as the jobs go.
"""

import heapq
import json
import math
import os
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise, starmap
from pathlib import Path
from statistics import fmean, median
from typing import Any

from sharpstream.report.progress import clock
from sharpstream.rundir import PROBE_FILE, row_or_none

TAIL = 4096  # bytes at the end of a log: enough to see where it is and how fast


class Progress:
    """How much of all jobs is done, in tokens where a job is runs, else in jobs; and when it ends at this pace."""

    def __init__(
        self,
        tokens: Mapping[str, int],  # a job's runs learn from so many
        scored: Mapping[str, int],  # and so many are scored when they have
        shares: Mapping[str, float],  # each of which costs so much of a learned one
        kinds: Mapping[str, Hashable],
        runs: Path,
        workers: int,
        done_before: int,
    ) -> None:
        self.tokens, self.shares = tokens, shares
        costs = {key: count + shares[key] * scored[key] for key, count in tokens.items() if count}
        usual = fmean(costs.values()) if costs else 1.0  # a job that makes no run counts as the others do
        self.weights = {key: costs.get(key, usual) for key in tokens}
        self.kinds, self.runs, self.workers, self.done_before = kinds, runs, workers, done_before
        self.paces: dict[Hashable, float] = {}  # kind → seconds per token
        self.look(kinds)  # what earlier commands did tells how fast, too
        self.began, self.first = time.monotonic(), self.open(tokens)

    def open(self, unfinished: Iterable[str]) -> float:
        """How much there is still to do."""
        return sum(self.weights[key] * (1.0 - self.share(key)) for key in unfinished)

    def share(self, key: str) -> float:
        """How much of an unfinished job its run has logged and scored."""
        run = self.runs / key
        return min(1.0, (logged_tokens(run) + self.shares[key] * scored_tokens(run)) / self.weights[key])

    def look(self, keys: Iterable[str]) -> None:
        """Take the pace of each kind from the logs of these jobs."""
        for key in keys:
            per_1000 = seconds_per_1000(rows_at_end(self.runs / key / "timing.jsonl"))
            if per_1000 is not None:
                self.paces[self.kinds[key]] = per_1000 / 1000

    def left(self, unfinished: Sequence[str]) -> float | None:
        """Seconds until the last job is done, each taken in order by the first worker that is free."""
        gained = self.first - self.open(unfinished)
        if self.paces:
            usual = fmean(self.paces.values())
        elif gained > 0:
            usual = self.workers * (time.monotonic() - self.began) / gained
        else:
            return None
        return wall_time(
            [self.open([key]) * self.paces.get(self.kinds[key], usual) for key in unfinished], self.workers
        )

    def stage(self, key: str, share: float) -> str:
        """How far a job is; one that has read everything is still scored for a while."""
        learned = logged_tokens(self.runs / key) >= (self.tokens[key] or math.inf)
        return f"{key} {share:.0%}, has learned and is scored" if learned else f"{key} {share:.0%}"

    def line(self, ended: Sequence[str], unfinished: Iterable[str], failed: int = 0) -> str:
        """`20 of 81 jobs, K6-alpha-2-0; 3 h 10 min left`, or what is under way when nothing has ended."""
        unfinished = list(unfinished)
        self.look(self.weights)
        left = self.left(unfinished)
        shares = {key: share for key in unfinished if (share := self.share(key)) > 0}
        told = ", ".join(ended) or ", ".join(starmap(self.stage, shares.items())) or "under way"
        jobs = self.done_before + len(self.weights)
        when = f"{clock(left or 0.0)} left" if left or not unfinished else "time left not known"
        return f"{jobs - len(unfinished) - failed} of {jobs} jobs, {told}; {when}"


def wall_time(seconds: Sequence[float], workers: int) -> float:
    """From start to end, each job taken in order by the first worker that is free, as the pool of processes does.

    >>> wall_time([3, 1, 1, 1], workers=2)
    3.0
    """
    free = [0.0] * workers
    for lasting in seconds:
        heapq.heapreplace(free, free[0] + lasting)
    return max(free)


def seconds_per_1000(rows: Iterable[Mapping[str, Any]]) -> float | None:
    """The median over intervals of the log, sleeps included: an interruption or a probe spoils one interval only.

    >>> seconds_per_1000([{"event": "interval", "tokens": n, "time": t} for n, t in ((500, 0.0), (1500, 2.0))])
    2.0
    """
    marks = [(row["tokens"], row["time"]) for row in rows if row.get("event") == "interval" and "time" in row]
    rates = [1000 * (t1 - t0) / (n1 - n0) for (n0, t0), (n1, t1) in pairwise(marks) if n1 > n0]
    return median(rates) if rates else None


def logged_tokens(run: Path) -> int:
    """How far the run in this directory is by its log; 0 when there is none."""
    return max((row["tokens"] for row in rows_at_end(run / "metrics.jsonl")), default=0)


def scored_tokens(run: Path) -> int:
    """How many tokens of frozen probes are scored, by the rows that are kept; 0 when there are none."""
    kept = (rows_at_end(path) for path in run.glob(PROBE_FILE.format("*")))
    return sum(row["tokens"] for rows in kept for row in rows)


def mark(run: Path, tokens: int) -> None:
    """Log that a job which is no run has learned from so many tokens by now, as a run would; 0 begins a new log."""
    run.mkdir(parents=True, exist_ok=True)
    row = json.dumps({"event": "interval", "tokens": tokens, "time": time.time()})
    for name in ("metrics.jsonl", "timing.jsonl"):
        with open(run / name, "a" if tokens else "w", encoding="utf-8") as log:
            log.write(row + "\n")


def rows_at_end(path: Path) -> list[dict[str, Any]]:
    """The last whole rows of a log that may be growing; none where there is no log."""
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL))
            lines = log.read().split(b"\n")
    except OSError:
        return []
    rows = [row for line in lines if (row := row_or_none(line)) is not None]  # half lines stand at either end
    return [row for row in rows if isinstance(row.get("tokens"), int)]
