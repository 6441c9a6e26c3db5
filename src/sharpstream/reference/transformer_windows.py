"""Which windows of a text a Transformer reads when it is scored frozen.

`full` (fair): windows of n tokens, each n // 2 further on; of every window but the first, only the last n // 2
predictions count. So each token is predicted from at least n − n // 2 + 1 and at most n tokens before it, or from all
there are. `short` (paper): every token is predicted from the 4 before it and nothing else.
"""

import numpy as np
import numpy.typing as npt

WINDOW = 4  # tokens in the isolated windows of the published scores
Windows = npt.NDArray[np.int64]  # rows: first token read, tokens read, how many of the last predictions count


def segments(length: int, every: int) -> list[tuple[int, int]]:
    """Start and end of each stretch of text within which context is carried; `every` 0: one."""
    if not length:
        return []
    return [(start, min(start + every, length)) for start in range(0, length, every)] if every else [(0, length)]


def full_windows(start: int, stop: int, n: int) -> Windows:
    """Sliding windows that score tokens start + 1 .. stop − 1 once each.

    >>> full_windows(0, 10, 4).tolist()
    [[0, 4, 4], [2, 4, 2], [4, 4, 2], [5, 4, 1]]
    """
    inputs = stop - 1 - start  # the last token is only predicted
    if inputs <= n:
        return np.array([[start, inputs, inputs]] * (inputs > 0), dtype=np.int64).reshape(-1, 3)
    rows, scored, stride = [(start, n, n)], n, n // 2
    while scored < inputs:
        new = min(stride, inputs - scored)  # the last window is moved back to stay of full length
        scored += new
        rows.append((start + scored - n, n, new))
    return np.array(rows, dtype=np.int64)


def short_windows(start: int, stop: int, n: int) -> Windows:
    """One window of up to 4 tokens (fewer at the start, and never more than n) for each token.

    >>> short_windows(0, 7, 1024).tolist()
    [[0, 1, 1], [0, 2, 1], [0, 3, 1], [0, 4, 1], [1, 4, 1], [2, 4, 1]]
    """
    targets = np.arange(start + 1, stop, dtype=np.int64)
    lengths = np.minimum(targets - start, min(WINDOW, n))
    return np.stack((targets - lengths, lengths, np.ones_like(targets)), axis=1)
