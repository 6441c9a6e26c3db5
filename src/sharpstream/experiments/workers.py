"""The processes that do an experiment's jobs: one thread each, watched, and gone when nobody waits for them any more.

A worker that is told to stop, or whose command dies, saves the run it is in and ends: nothing goes on unseen, and the
same command later continues there.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TypeVar

from sharpstream.errors import RunError, SharpError
from sharpstream.experiments.pace import Progress
from sharpstream.stopping import Stopped, handling

Under = TypeVar("Under")  # what stands for a task under way: a future, or Ray's reference
EVERY_SECONDS = 60.0  # a line about what is under way, when no job has ended for so long
STOPPED = 128 + signal.SIGTERM  # the exit code of a process that SIGTERM ended
DIE_WITH_PARENT = 1  # Linux: PR_SET_PDEATHSIG


def work_off(tasks: Mapping[str, Callable[[], object]], workers: int, progress: Progress) -> dict[str, SharpError]:
    """Do every task, so many at a time, with a line for each that ends and for what is under way; those that failed.

    An error that a person can mend costs its own task only: whoever comes back in the morning has the others.
    """
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    spawn = get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent)
    with handling(_leave, signal.SIGTERM), pool:
        waiting: dict[Future[None], str] = {pool.submit(_do, task): key for key, task in tasks.items()}
        try:
            return wait_for_all(waiting, _ended, _problem, progress)
        except BrokenProcessPool as problem:
            raise RunError("a worker was stopped; what is done is kept: repeat the command to go on") from problem
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


def wait_for_all(
    waiting: dict[Under, str],
    ended: Callable[[Iterable[Under]], Iterable[Under]],
    problem_of: Callable[[Under], SharpError | None],
    progress: Progress,
) -> dict[str, SharpError]:
    """Tell each task as it ends, and what is under way when none has for a while; the tasks that failed, by key.

    `waiting` is emptied on the way. `ended` waits, at most EVERY_SECONDS, for some of these.
    """
    failed: dict[str, SharpError] = {}
    while waiting:
        keys = {waiting.pop(one): one for one in ended(waiting)}
        failed |= {key: problem for key, one in keys.items() if (problem := problem_of(one))}
        told = [f"{key} FAILED ({failed[key]})" if key in failed else key for key in keys]
        print(progress.line(told, waiting.values(), failed=len(failed)), flush=True)
    return failed


def _ended(futures: Iterable[Future[None]]) -> set[Future[None]]:
    return wait(futures, timeout=EVERY_SECONDS, return_when=FIRST_COMPLETED).done


def _problem(future: Future[None]) -> SharpError | None:
    """What a person can mend; anything else is a bug and ends everything with its traceback."""
    try:
        future.result()
    except SharpError as problem:
        return problem
    return None


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
