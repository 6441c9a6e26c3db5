"""Kernels are compiled in a process of their own: the compiler's memory goes when it goes.

A process that compiled an LSTM held 278 MB for as long as it lived, one that loaded it from the cache 162 MB.
"""

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding

from sharpstream.kernels import jit

CHILD = "SHARP_COMPILING"  # set in the process that compiles
PACKAGE = Path(__file__).parents[1]


@functools.cache
def ensure(kind: str, dtype: str) -> None:
    """Have a child process compile this kind of learner, unless that was done before on this kind of machine."""
    if os.environ.get(CHILD) or numba.config.DISABLE_JIT or marker(kind, dtype).exists():  # type: ignore[attr-defined]
        return
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = f"from sharpstream.learners.warm import compile_now; compile_now({kind!r}, {dtype!r})"
    # Where no child can be started, this process compiles for itself: the same bits, more memory.
    subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, CHILD: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )


def is_compiled(learner: object) -> bool:
    """Whether nothing is left to compile for this learner, as far as it says which kernels it needs."""
    kind = getattr(learner, "warm_kind", None)
    return kind is None or marker(kind, learner.config.dtype).exists()  # type: ignore[attr-defined]


def marker(kind: str, dtype: str) -> Path:
    """The file that says: compiled, from exactly this source, for this processor."""
    machine = hashlib.sha256(f"{jit.source_digest()} {binding.get_host_cpu_name()}".encode()).hexdigest()[:16]
    return Path(numba.config.CACHE_DIR) / f"{kind}-{dtype}-{machine}.ready"  # type: ignore[attr-defined]


def compile_now(kind: str, dtype: Any) -> None:
    """Call everything a learner of this kind ever compiles, then leave the marker."""
    tokens = np.arange(60, dtype=np.int32) % 3
    for learner in _examples(kind, dtype):
        learner.learn(tokens)
        learner.predict()
        learner.evaluate_with_resets(tokens, every=7)
        if hasattr(learner, "hidden_states"):
            learner.hidden_states(tokens)
        else:
            learner.load_state_dict(learner.state_dict())
    ready = marker(kind, dtype)
    ready.parent.mkdir(parents=True, exist_ok=True)
    ready.touch()


def _examples(kind: str, dtype: Any) -> list[Any]:
    """Small learners that between them reach every kernel; the sizes do not matter to the compiler."""
    if kind == "sharp":
        from sharpstream.config import SharpConfig, SleepConfig
        from sharpstream.learners.sharp import Sharp

        sleep = SleepConfig(every=50, tags=2, replay_length=16)
        learner = Sharp(SharpConfig(levels=2, width=4, embedding=2, depth=1, tau=0.0, dtype=dtype, sleep=sleep), 3)
        return [learner]
    if kind == "episodic":
        from sharpstream.config import EpisodicConfig
        from sharpstream.learners.episodic import Episodic

        return [Episodic(EpisodicConfig(memory="256kB", network=4, dtype=dtype), 3)]
    from sharpstream.config import RecurrentConfig
    from sharpstream.learners.recurrent import Recurrent

    return [Recurrent(RecurrentConfig(layers=1, width=4, embedding=2, dtype=dtype), 3)]
