"""Kernels are compiled in a process of their own: the compiler's memory goes when it goes.

A process that compiled an LSTM held 278 MB for as long as it lived, one that loaded it from the cache 162 MB.
"""

import contextlib
import functools
import hashlib
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
from filelock import FileLock
from llvmlite import binding

from sharpstream.kernels import jit
from sharpstream.learners.contract import Layered

CHILD = "SHARP_COMPILING"  # set in the process that compiles
PACKAGE = Path(__file__).parents[1]


@functools.cache
def ensure(kind: str, dtype: str) -> None:
    """Have a child process compile what `module:Class` needs, unless that was done before on this kind of machine."""
    if os.environ.get(CHILD) or jit.UNCOMPILED:
        return
    if not os.environ.get("NUMBA_CACHE_DIR"):
        with contextlib.suppress(OSError):  # a cache that cannot be written is no reason not to learn
            jit.prune_caches(time.time())
    if is_compiled(kind, dtype):
        return
    ready = marker(kind, dtype)
    with contextlib.suppress(OSError):
        ready.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(ready.with_suffix(".lock")):  # whoever comes second waits instead of compiling the same again
            if not is_compiled(kind, dtype):
                _compile_in_a_child(kind, dtype)


def _compile_in_a_child(kind: str, dtype: str) -> None:
    """Where no child can be started, this process compiles for itself: the same bits, more memory."""
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = f"from sharpstream.learners.warm import compile_now; compile_now({kind!r}, {dtype!r})"
    subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, CHILD: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )


def is_compiled(kind: str, dtype: str) -> bool:
    """Whether nothing is left to compile for this class."""
    return marker(kind, dtype).exists()


def marker(kind: str, dtype: str) -> Path:
    """The file that says: compiled, from exactly this source, for this processor."""
    machine = hashlib.sha256(f"{jit.source_digest()} {binding.get_host_cpu_name()}".encode()).hexdigest()[:16]
    name = kind.rpartition(":")[2].lower()
    return Path(numba.config.CACHE_DIR) / f"{name}-{dtype}-{machine}.ready"  # type: ignore[attr-defined]


def compile_now(kind: str, dtype: str) -> None:
    """Call everything a learner of this class ever compiles, through its own small example, then leave the marker."""
    module, _, name = kind.partition(":")
    tokens = np.arange(60, dtype=np.int32) % 3
    learner = getattr(import_module(module), name).example(dtype)
    learner.learn(tokens)
    learner.predict()
    learner.evaluate_with_resets(tokens, every=7)
    if isinstance(learner, Layered):
        learner.hidden_states(tokens)
    learner.load_state_dict(learner.state_dict())
    ready = marker(kind, dtype)
    ready.parent.mkdir(parents=True, exist_ok=True)
    ready.touch()
