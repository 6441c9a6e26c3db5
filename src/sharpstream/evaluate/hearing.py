"""How much a level hears of the one above: the bits that are lost when that is replaced by its running mean.

In come a frozen SHARP and tokens; out comes one number per level below the top, whatever the conditioning. The mean
keeps what a context says on average, so what is lost is what it says *now*. The ablations of the language tables ask.
"""

from sharpstream.learners.contract import Tokens
from sharpstream.learners.sharp import Sharp


def hearing(learner: Sharp, tokens: Tokens) -> list[float]:
    """Bits a token lost by making levels 1, 2, … L − 1 deaf, one at a time; about 0 where nothing is heard.

    >>> import numpy as np
    >>> from sharpstream.config import SharpConfig
    >>> hearing(Sharp(SharpConfig(levels=1, width=8, embedding=4), vocabulary=3), np.array([0, 1, 2]))
    []
    """
    whole = learner.evaluate(tokens).mean()
    return [float(learner.evaluate_deaf(tokens, level).mean() - whole) for level in range(1, learner.config.levels)]
