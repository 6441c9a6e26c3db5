"""The processes that do an experiment's jobs: one thread each, watched, and gone when nobody waits for them any more.

A worker that is told to stop, or whose command dies, saves the run it is in and ends: nothing goes on unseen, and the
same command later continues there.
"""

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from pathlib import Path

from sharpstream.errors import RunError
from sharpstream.report.progress import clock
from sharpstream.stopping import Stopped, handling

EVERY_SECONDS = 60.0  # a line about what is under way, when no job has ended for so long
STOPPED = 128 + signal.SIGTERM  # the exit code of a process that SIGTERM ended
DIE_WITH_PARENT = 1  # Linux: PR_SET_PDEATHSIG


def work_off(tasks: Mapping[str, Callable[[], object]], workers: int, progress: "Progress") -> None:
    """Do every task, so many at a time, with a line for each that ends and for what is under way."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    spawn = get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent)
    with handling(_leave, signal.SIGTERM), pool:
        waiting: dict[Future[None], str] = {pool.submit(_do, task): key for key, task in tasks.items()}
        try:
            while waiting:
                ended, _ = wait(waiting, timeout=EVERY_SECONDS, return_when=FIRST_COMPLETED)
                for future in ended:
                    future.result()
                names = [waiting.pop(future) for future in ended]
                print(progress.line(names, waiting.values()), flush=True)
        except BrokenProcessPool as problem:
            raise RunError("a worker was stopped; what is done is kept: repeat the command to go on") from problem
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


def _do(task: Callable[[], object]) -> None:
    """In a worker: one task; one that was asked to stop ends the worker, which would else take the next."""
    try:
        task()
    except Stopped:
        os._exit(STOPPED)


def end_with_parent() -> None:
    """In a worker: SIGTERM when the command dies, however it dies (Linux; elsewhere it would end its present job)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, int(signal.SIGTERM))


def _leave(number: int, frame: object) -> None:
    """SIGTERM ends the command as Ctrl-C does: with its workers told."""
    raise SystemExit(STOPPED)


class Progress:
    """How much of all jobs is done, in tokens where a job is runs, else in jobs; and when it ends at this rate."""

    def __init__(self, tokens: Mapping[str, int], runs: Path, done_before: int) -> None:
        known = [count for count in tokens.values() if count]
        usual = sum(known) / len(known) if known else 1.0  # a job that makes no run counts as the others do
        self.weights = {key: float(count or usual) for key, count in tokens.items()}
        self.runs, self.done_before = runs, done_before
        self.began, self.first = time.monotonic(), self.done(tokens)

    def done(self, unfinished: Iterable[str]) -> float:
        """Of all the work of this command, how much is behind us."""
        open_ = sum(self.weights[key] * (1.0 - self.share(key)) for key in unfinished)
        return sum(self.weights.values()) - open_

    def share(self, key: str) -> float:
        """How much of an unfinished job its run has logged."""
        return min(1.0, logged_tokens(self.runs / key) / self.weights[key])

    def line(self, ended: Iterable[str], unfinished: Iterable[str]) -> str:
        """`20 of 81 jobs, K6-alpha-2-0; 3 h 10 min left`, or what is under way when nothing has ended."""
        unfinished = list(unfinished)
        done, everything = self.done(unfinished), sum(self.weights.values())
        gained = done - self.first
        left = (time.monotonic() - self.began) / gained * (everything - done) if gained > 0 else None
        shares = ((key, self.share(key)) for key in unfinished)
        told = ", ".join(ended) or ", ".join(f"{key} {share:.0%}" for key, share in shares if share > 0) or "under way"
        jobs = self.done_before + len(self.weights)
        when = f"{clock(left)} left" if left is not None else "time left not known yet"
        return f"{jobs - len(unfinished)} of {jobs} jobs, {told}; {when}"


def logged_tokens(run: Path) -> int:
    """How far the run in this directory is by its log; 0 when there is none."""
    try:
        with open(run / "metrics.jsonl", "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
            lines = log.read().split(b"\n")
        return max((_tokens(line) for line in lines), default=0)
    except OSError:
        return 0


def _tokens(line: bytes) -> int:
    try:
        return int(json.loads(line)["tokens"])
    except (ValueError, KeyError, TypeError):  # half a line, at either end of what was read
        return 0
