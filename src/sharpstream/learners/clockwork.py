"""Clockwork RNN, fused: modules at exponentially slower periods, all read out. Its twin is `reference/clockwork.py`."""

from typing import Any

import numpy.typing as npt

from sharpstream.config import ClockworkConfig
from sharpstream.learners.recurrent_arrays import CLOCKWORK
from sharpstream.learners.recurrent_learner import RecurrentLearner
from sharpstream.learners.recurrent_parameters import clockwork_layout


class Clockwork(RecurrentLearner):
    """Modules of tanh units; module i ticks when the token's number is a multiple of its period.

    >>> import numpy as np
    >>> learner = Clockwork(ClockworkConfig(modules=3, width=4, embedding=4), vocabulary=3)
    >>> learner.config.periods, learner.learn(np.array([0, 1, 2] * 10)).shape
    ((1, 2, 4), (30,))
    """

    name = "clockwork"

    def __init__(
        self, config: ClockworkConfig, vocabulary: int, *, seed: int = 0, vectors: npt.NDArray[Any] | None = None
    ) -> None:
        super().__init__(
            config,
            vocabulary,
            seed,
            vectors,
            kind=CLOCKWORK,
            levels=config.modules,
            layout=clockwork_layout(config, vocabulary),
            periods=config.periods,
            reverse=config.wiring == "reversed",
        )
        self.regime = {**self.regime, "wiring": config.wiring}
