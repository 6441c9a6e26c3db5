"""How much of what a level is told from above stands still at ±1.

FiLM's gains and shifts are tanh of a linear map of the context. Where such a number is at ±1 it no longer depends on
the context, and no gradient passes: the level hears nothing through it, and the level above learns nothing from it.
`text8-film` calls this.
"""

import numpy as np
import numpy.typing as npt

from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Tokens
from sharpstream.learners.sharp import Sharp

STUCK = 0.9999  # |tanh| from here on has a slope below 1/5000

Real = npt.NDArray[np.float64]


def film_saturation(learner: Sharp, tokens: Tokens) -> list[float]:
    """The share of stuck gains and shifts of levels 1 to L − 1, a mean over these tokens, which the learner learns."""
    if learner.config.conditioning != "film" or learner.config.levels < 2 or not len(tokens):
        raise ConfigError("saturation is that of FiLM over some tokens: it needs two levels and conditioning = film")
    film = learner.desk.trace.film  # (L, 2H), of the last forward pass; the top level has none
    shares = np.zeros(len(film) - 1)
    for token in tokens:
        learner.observe(int(token))
        shares += stuck_share(film[:-1])
    return (shares / len(tokens)).tolist()  # type: ignore[no-any-return]


def stuck_share(values: npt.ArrayLike) -> Real:
    """The share of each row that is at ±1.

    >>> stuck_share([[-1.0, 0.5], [0.0, 0.3]]).tolist()
    [0.5, 0.0]
    """
    return np.mean(np.abs(values) >= STUCK, axis=1, dtype=np.float64)  # type: ignore[no-any-return]
