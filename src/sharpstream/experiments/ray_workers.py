"""The same jobs as Ray Core tasks, on this machine or a cluster: the run directories stay the truth, Ray is disposable.

A task asks for one processor. A worker that dies is started again by Ray and goes on from its last checkpoint; when the
driver dies, repeating the command does the rest. Needs the extra `ray`; directories must be reachable by every node.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from sharpstream.errors import ConfigError, RunError, SharpError
from sharpstream.experiments.pace import Progress
from sharpstream.experiments.workers import EVERY_SECONDS, wait_for_all
from sharpstream.stopping import Stopped

RETRIES = 5  # of a worker that died; an error that a person can mend is not tried again
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def work_off_with_ray(
    tasks: Mapping[str, Callable[[], object]], workers: int, progress: Progress, address: str = ""
) -> dict[str, SharpError]:
    """Do every task on a Ray cluster (started here when no address is given); those that failed."""
    ray = _ray()
    _join(ray, workers, address)
    remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)

    def ended(references: Iterable[Any]) -> list[Any]:
        found: list[Any] = ray.wait(list(references), num_returns=1, timeout=EVERY_SECONDS)[0]
        return found

    try:
        waiting = {remote.options(name=key).remote(task): key for key, task in tasks.items()}
        return wait_for_all(waiting, ended, partial(_problem, ray), progress)
    finally:
        ray.shutdown()


def _do(task: Callable[[], object]) -> str:
    """In a worker: one task; what a person can mend comes back as words."""
    try:
        task()
    except SharpError as problem:
        return str(problem)
    except Stopped as stopped:
        raise RuntimeError(f"the worker was told to stop at token {stopped.tokens:,}") from None
    return ""


def _problem(ray: ModuleType, reference: Any) -> SharpError | None:
    """What went wrong with a task that ended, if anything."""
    try:
        told = ray.get(reference)
    except ray.exceptions.RayError as problem:
        return RunError(f"its worker was lost ({type(problem).__name__}); repeat the command to go on")
    return RunError(told) if told else None


def _join(ray: ModuleType, workers: int, address: str) -> None:
    """A cluster of our own, or the one at the address; every worker one thread, with our own modules."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {"env_vars": {**dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": paths}}
    own = {} if address else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(address=address or None, runtime_env=environment, log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, ValueError, RuntimeError) as problem:
        raise ConfigError(f"cannot join the Ray cluster at {address or 'this machine'}: {problem}") from problem


def _ray() -> ModuleType:
    try:
        import ray
    except ImportError as problem:
        raise ConfigError("--engine ray needs Ray: pip install 'sharpstream[ray]'") from problem
    found: ModuleType = ray
    return found
