"""Representational drift: how far a learner's states for one fixed sequence move while it keeps learning.

In come the states of the same probe sequence at two moments, (N, H) each; out comes a distance. The `drift` study calls
this every 1000 steps.
"""

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError


def mean_distance(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """mean_t ‖after_t − before_t‖₂.

    >>> mean_distance([[0.0, 0.0], [1.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]])
    2.5
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if old.ndim != 2 or old.shape != new.shape or not old.size:
        raise ConfigError(f"states of shapes {old.shape} and {new.shape}: both must be the same (N, H), not empty")
    return float(np.linalg.norm(new - old, axis=1).mean())
