"""The constants of a Legendre memory: dM/dt = (A M + B e) / q, stepped exactly for an input held over one tick.

In plain NumPy, apart from the compiled step in `legendre.py`: whoever only lays out parameters needs no compiler.
"""

import numpy as np
import numpy.typing as npt

Real = npt.NDArray[np.float64]


def transition(orders: int) -> tuple[Real, Real]:
    """Ā (q, q) and B̄ (q,): one tick of the Legendre delay system with a window of q ticks.

    A_ij = (2i + 1)·(−1 if i < j else (−1)^(i−j+1)), B_i = (2i + 1)(−1)^i, both over q; a held input enters as one more
    state that stands still, so one exponential gives both.

    >>> turn, enter = transition(1)
    >>> bool(np.isclose(turn[0, 0], np.exp(-1.0))), bool(np.isclose(enter[0], 1.0 - np.exp(-1.0)))
    (True, True)
    """
    i, j = np.arange(orders)[:, None], np.arange(orders)[None, :]
    system = np.zeros((orders + 1, orders + 1))
    system[:-1, :-1] = (2 * i + 1) * np.where(i < j, -1.0, (-1.0) ** (i - j + 1))
    system[:-1, -1:] = (2 * i + 1) * (-1.0) ** i
    moved = exponential(system / orders)
    return moved[:-1, :-1], moved[:-1, -1]


def exponential(matrix: Real) -> Real:
    """e^matrix, by a Taylor sum of its 2^−k-th part, squared k times."""
    k = max(0, int(np.ceil(np.log2(np.abs(matrix).sum(axis=1).max() + 1e-300))) + 1)
    small = matrix / 2.0**k
    total, term = np.eye(len(matrix)), np.eye(len(matrix))
    for n in range(1, 20):  # ‖small‖ ≤ 1/2, so what is left out is below 2^−19 / 19!
        term = term @ small / n
        total = total + term
    for _ in range(k):
        total = total @ total
    return total
