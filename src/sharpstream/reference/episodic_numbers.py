"""What the parts of the episodic twin share: a softmax and an Adagrad step, in float64."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def log_softmax(logits: Array) -> Array:
    """Over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def adagrad(table: Array, entry: int, gradient: float, rate: float, small: float = 0.0) -> None:
    """One step of table[entry, 0]; table[entry, 1] is the sum of squares."""
    table[entry, 1] += gradient * gradient
    table[entry, 0] -= rate * gradient / math.sqrt(table[entry, 1] + small)
