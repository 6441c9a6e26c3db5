"""What a hidden state still knows of the past: a linear read-out of the token r steps back.

In come the states of a learner along a token sequence, (N, H), and the tokens, (N,); out comes an accuracy per lag. The
read-out is fitted on the first half and scored on the second, so it cannot pass by remembering. `memory-carryover`
calls this; any learner whose states can be listed may.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError

Real = npt.NDArray[np.float64]
Method = Literal["logistic", "ridge"]


@dataclass(frozen=True)
class ReadOut:
    """Accuracy of the read-out at one lag; lag 0 is the token the state has just taken in."""

    lag: int
    accuracy: float
    scored: int

    @property
    def error(self) -> float:
        """1 − accuracy."""
        return 1.0 - self.accuracy


def read_out_lags(
    states: npt.ArrayLike,
    tokens: npt.ArrayLike,
    lags: Sequence[int],
    *,
    vocabulary: int,
    method: Method = "logistic",
    penalty: float = 1e-4,
) -> list[ReadOut]:
    """Read token t − lag out of state t, for each lag. states[t] is the state after tokens[t] was taken in."""
    features, seen = np.asarray(states, dtype=np.float64), np.asarray(tokens)
    if features.ndim != 2 or seen.shape != features.shape[:1]:
        raise ConfigError(f"states {features.shape} and tokens {seen.shape}: they must be (N, H) and (N,)")
    if not lags or min(lags) < 0 or len(seen) - max(lags) < 4:
        raise ConfigError(f"lags = {list(lags)} for {len(seen)} states: they must be ≥ 0 and leave at least 4 states")
    results = []
    for lag in lags:
        x, y = features[lag:], seen[: len(seen) - lag]  # (N − lag, H), (N − lag,)
        half = len(y) // 2
        weights = fit(x[:half], y[:half], vocabulary=vocabulary, method=method, penalty=penalty)
        # Contiguous halves: neighbouring states share most of their past, so interleaved halves would leak.
        results.append(ReadOut(lag, float(np.mean(weights.guess(x[half:]) == y[half:])), len(y) - half))
    return results


@dataclass(frozen=True)
class LinearClassifier:
    """Scores = standardised features · weights; the guess is the largest."""

    centre: Real  # (H,)
    scale: Real  # (H,)
    weights: Real  # (H + 1, V): the last row is the bias

    def guess(self, features: Real) -> npt.NDArray[np.int64]:
        """The most likely class of each row."""
        scores = _design(features, self.centre, self.scale) @ self.weights  # (N, V)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)


def fit(
    features: Real,
    labels: npt.NDArray[Any],
    *,
    vocabulary: int,
    method: Method = "logistic",
    penalty: float = 1e-4,
) -> LinearClassifier:
    """A linear classifier; `logistic` maximises likelihood, `ridge` regresses on one-hot labels in closed form."""
    if method not in ("logistic", "ridge"):
        raise ConfigError(f"method = {method!r}: it must be 'logistic' or 'ridge'")
    if not penalty > 0.0:
        raise ConfigError(f"penalty = {penalty!r}: it must be above 0, or constant features have no solution")
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-12, scale, 1.0)  # a unit that never moves says nothing; leave it at 0
    x = _design(features, centre, scale)  # (N, H + 1)
    targets = np.eye(vocabulary)[labels]  # (N, V)
    gram = x.T @ x / len(x)
    identity = np.eye(gram.shape[0])
    if method == "ridge":
        weights: Real = np.linalg.solve(gram + penalty * identity, x.T @ targets / len(x))
    else:
        step = np.asarray(np.linalg.inv(0.5 * gram + penalty * identity), dtype=np.float64)
        weights = _logistic(x, targets, step, penalty)
    return LinearClassifier(centre, scale, weights)


def _logistic(
    x: Real, targets: Real, step: Real, penalty: float, *, rounds: int = 150, tolerance: float = 1e-4
) -> Real:
    """Minimise mean cross-entropy + penalty/2 ‖W‖² by accelerated Newton steps with a fixed curvature.

    The softmax Hessian never exceeds ½ XᵀX/N (Böhning 1992), so `step`, the inverse of that bound, always descends; no
    step size to choose. Momentum restarts when it points uphill. Twice the rounds and a tenth of the tolerance moved no
    error by more than 0.001 (10,000 states of 100 units).
    """
    weights = np.zeros((x.shape[1], targets.shape[1]))
    ahead, momentum = weights, 1.0
    for _ in range(rounds):
        logits = x @ ahead
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        gradient = x.T @ (logits - targets) / len(x) + penalty * ahead
        if np.abs(gradient).max() < tolerance:
            return ahead
        following = ahead - step @ gradient
        if np.sum(gradient * (following - weights)) > 0.0:
            momentum = 1.0
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / grown * (following - weights)
        weights, momentum = following, grown
    return weights


def _design(features: Real, centre: Real, scale: Real) -> Real:
    """Standardised features with a column of ones for the bias, (N, H + 1)."""
    return np.column_stack([(features - centre) / scale, np.ones(len(features))])
