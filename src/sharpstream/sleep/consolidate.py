"""Consolidation, compiled: train one upper context block on the replayed states of the level below."""

import numpy as np

from sharpstream.kernels.adam import adam_step
from sharpstream.kernels.jit import Array, kernel
from sharpstream.kernels.views import copy
from sharpstream.memory.arrays import Workspace, block_arrays
from sharpstream.memory.context_block import KEEP, learn_vectors, surprise_vectors

EMA, LOSS, WINDOWS, UPDATES = range(4)  # what `progress` keeps while one block is trained, over all its tags


@kernel
def consolidate(
    p: Array,
    m: Array,
    v: Array,
    table: Array,
    first: int,
    level: int,
    kind: int,
    states: Array,
    noise: Array,
    hyper: Array,
    lr: float,
    tau: float,
    w: Workspace,
    progress: Array,
) -> None:
    """Slide a T-window over what one tag's level below gives, (P, H); learn while the smoothed error exceeds τ.

    noise (windows, T, H) is added to the inputs, never to the targets; it is empty when there is none.
    """
    window = w.output.shape[0]
    bp, bm, bv = (
        block_arrays(p, table, first, level),
        block_arrays(m, table, first, level),
        block_arrays(v, table, first, level),
    )
    carried = np.zeros_like(w.states[0])
    noisy = np.empty((window, states.shape[1]), dtype=states.dtype)
    w.aligned[0] = 0
    for i in range(states.shape[0] - window + 1):
        clean = states[i : i + window]
        for t in range(window):
            copy(clean[t], noisy[t])
        if noise.shape[0]:
            for t in range(window):
                for j in range(noisy.shape[1]):
                    noisy[t, j] += noise[i, t, j]
            w.aligned[0] = 0  # fresh noise: nothing of the last window holds
        loss = surprise_vectors(kind, bp, noisy, clean, carried, w)
        progress[EMA] = KEEP * progress[EMA] + (1.0 - KEEP) * loss
        progress[LOSS] += loss
        progress[WINDOWS] += 1
        if progress[EMA] > tau:
            progress[UPDATES] += 1
            learn_vectors(kind, bp, bm, bv, noisy, w, adam_step(p, hyper, lr, int(progress[UPDATES])))
