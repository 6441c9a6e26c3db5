"""RNN, LSTM and GRU, fused: embedding, stacked cells, linear read-out. Their twin is `reference/recurrent.py`."""

from typing import Any

import numpy.typing as npt

from sharpstream.config import RecurrentConfig
from sharpstream.learners.recurrent_learner import RecurrentLearner
from sharpstream.learners.recurrent_parameters import CELLS, recurrent_layout


class Recurrent(RecurrentLearner):
    """Stacked recurrent cells that learn online.

    >>> import numpy as np
    >>> learner = Recurrent(RecurrentConfig(cell="gru", layers=2, width=8, embedding=4), vocabulary=3)
    >>> bits = learner.learn(np.array([0, 1, 2] * 10))
    >>> bits.shape, learner.predict().shape
    ((30,), (3,))
    """

    def __init__(
        self, config: RecurrentConfig, vocabulary: int, *, seed: int = 0, vectors: npt.NDArray[Any] | None = None
    ) -> None:
        self.name = config.cell
        layout = recurrent_layout(config, vocabulary)
        super().__init__(
            config, vocabulary, seed, vectors, kind=CELLS[config.cell], levels=config.layers, layout=layout
        )

    @classmethod
    def example(cls, dtype: Any) -> "Recurrent":
        """A small one that reaches every kernel of the recurrent learners: one loop serves all of them."""
        return cls(RecurrentConfig(layers=1, width=4, embedding=2, dtype=dtype), 3)
