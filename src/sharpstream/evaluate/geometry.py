"""How far a memory keeps the distances between the sequences behind its states: the paper's equation for a memory.

(1/C) d(S_i, S_j) ≤ ‖h_i − h_j‖ ≤ C d(S_i, S_j) for all pairs of moments, S_i the last s tokens before h_i. In come the
states along a token sequence and s; out comes 1/C. The `memory-kinds` study calls this.
"""

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError

PAIRS = 20  # so many pairs of one distance are needed for its quantiles
TAILS = (0.01, 0.99)  # of the pairs at one distance: a single odd pair must not decide


def kept_distance(states: npt.ArrayLike, tokens: npt.ArrayLike, span: int, *, moments: int = 800) -> float:
    """1/C at span s for the best unit of length: 1 keeps every distance, 0 loses some sequences altogether.

    d is the Euclidean distance of the sequences written in one-hot vectors, √(2 · differing places). Every distance
    that occurs counts alike, however many pairs have it; at each the outermost 1 % of pairs are left out.

    >>> tokens = np.random.default_rng(0).integers(0, 3, 300)
    >>> line = np.hstack([np.eye(3)[tokens], np.eye(3)[np.roll(tokens, 1)]])  # a delay line of two
    >>> round(kept_distance(line, tokens, 2), 6), kept_distance(line[:, :3], tokens, 2)
    (1.0, 0.0)
    """
    features, seen = np.asarray(states, dtype=np.float64), np.asarray(tokens)
    if features.ndim != 2 or seen.shape != features.shape[:1] or not 1 <= span < len(seen):
        raise ConfigError(f"states {features.shape}, tokens {seen.shape}, span {span}: (N, H), (N,) and 1 ≤ span < N")
    sequences = np.lib.stride_tricks.sliding_window_view(seen, span)  # (N − s + 1, s), the newest last
    chosen = np.unique(np.linspace(1, len(sequences) - 1, moments).astype(int))  # the first still knows the start
    sequences, features = sequences[chosen], features[chosen + span - 1]
    first, second = np.triu_indices(len(chosen), k=1)
    apart = np.zeros(len(first), dtype=np.int64)
    for place in sequences.T:
        apart += place[first] != place[second]
    squares = (features**2).sum(axis=1)
    gram = features @ features.T
    lengths = np.sqrt(np.maximum(squares[first] + squares[second] - 2.0 * gram[first, second], 0.0))
    lengths[lengths < 1e-7 * np.sqrt(squares.max(initial=1e-30))] = 0.0  # rounding of the difference of squares
    bounds = [
        np.quantile(lengths[apart == places] / np.sqrt(2.0 * places), TAILS)
        for places in range(1, span + 1)
        if np.count_nonzero(apart == places) >= PAIRS
    ]
    if not bounds:
        raise ConfigError(f"no {PAIRS} pairs of {len(chosen)} moments differ in their last {span} tokens; give more")
    low, high = np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]
    return float(np.sqrt(low / high)) if high > 0.0 else 0.0
