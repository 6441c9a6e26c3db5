"""What a retention matrix says: backward transfer, forgetting, recall gain. Positive is good.

The definitions are those of Lopez-Paz & Ranzato (2017) and Chaudhry et al. (2018), who measure accuracy; bits are
better when lower, so every difference is turned round. B[t, i] is bits on segment i at time t; K is the last time.
"after i" is the first time by which segment i was wholly learned, "before i" the last time when none of it had been.
"""

import numpy as np

from sharpstream.errors import ConfigError
from sharpstream.evaluate.retention import RetentionMatrix


def backward_transfer(matrix: RetentionMatrix) -> float:
    """mean_i ( B[after i, i] − B[K, i] ) over segments learned before the last time K.

    Positive: what came later made older segments easier. (Lopez-Paz & Ranzato: R_{T,i} − R_{i,i}, in accuracy.)
    """
    bits = matrix.bits
    return _mean([bits[after, i] - bits[-1, i] for i, after in _learned(matrix)])


def forgetting(matrix: RetentionMatrix) -> float:
    """mean_i ( min_{t<K} B[t, i] − B[K, i] ) over segments learned before K: negative is forgotten.

    This is minus the forgetting of Chaudhry et al., f_i = max_{l<k} a_{l,i} − a_{k,i}, so that positive is good here as
    everywhere. The best past time may be any time after the first tokens; the untrained row (time 0) does not count.
    """
    bits = matrix.bits
    trained = np.array(matrix.times) > 0
    differences = []
    for i, _ in _learned(matrix):
        past = bits[:-1, i][trained[:-1]]
        past = past[~np.isnan(past)]
        differences.append(float(past.min()) - bits[-1, i] if past.size else np.nan)
    return _mean(differences)


def recall_gain(matrix: RetentionMatrix, *, row: int = -1) -> float:
    """Bits of unseen segments minus bits of the segment seen first, at one time (the last by default).

    Unseen are the held-out segments and those not yet begun. Positive: the oldest material is still easier than
    what was never met. The two are different texts: use `matrix.corrected(count_bits)` to take their difficulty out.
    """
    time, values = matrix.times[row], matrix.bits[row]
    unseen = [values[i] for i, segment in enumerate(matrix.segments) if not segment.started_by(time)]
    seen = [(segment.end, i) for i, segment in enumerate(matrix.segments) if segment.learned_by(time)]
    if not unseen or not seen:
        raise ConfigError(
            f"recall gain at time {time} needs one segment already learned and one not yet begun or held out"
        )
    first = min(seen)[1]
    return _mean(unseen) - float(values[first])


def _learned(matrix: RetentionMatrix) -> list[tuple[int, int]]:
    """(column, row of the first time at or after its end) for segments learned before the last row."""
    pairs = []
    for i, segment in enumerate(matrix.segments):
        after = [t for t, time in enumerate(matrix.times[:-1]) if segment.learned_by(time)]
        if after:
            pairs.append((i, after[0]))
    return pairs


def _mean(differences: list[float]) -> float:
    """The mean over what was measured; NaN (nothing to say) when nothing was."""
    known = [float(value) for value in differences if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
