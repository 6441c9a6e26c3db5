"""Order-k counts under the learner contract: the baseline that humbles everyone (uniform, unigram, up to order 8).

Tokens come in through `learn`, bits come out. Memory is bounded by `counts_tables.py`, the formula is in
`counts_kernels.py`, the state in `counts_state.py`.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sharpstream.config import CountsConfig
from sharpstream.errors import ConfigError
from sharpstream.learners import counts_state
from sharpstream.learners.contract import Array, Bits, LearnerBase, Regime, State, Tokens, check_resets, check_tokens
from sharpstream.learners.counts_kernels import FIRST_SLOPE, learn_stream, predict_row, score_stream
from sharpstream.learners.counts_tables import FILL, OBSERVED, make_tables

FIRST_DISCOUNTS = (0.75, 1.1, 1.4)  # near where English letters take them


class Counts(LearnerBase):
    """Interpolated counts of the last `order` tokens.

    >>> learner = Counts(CountsConfig(order=2, table_bits=8), vocabulary=3)
    >>> bits = learner.learn(np.array([0, 1, 2] * 20))
    >>> bool(bits[-3:].max() < 0.1), int(learner.predict().argmax())
    (True, 0)
    """

    name = "counts"

    def __init__(self, config: CountsConfig, vocabulary: int, *, seed: int = 0) -> None:
        """Nothing here is random: the seed is accepted as every learner's is, and decides nothing."""
        if vocabulary < 2:
            raise ConfigError(f"vocabulary = {vocabulary}: a learner needs at least 2 symbols to choose from")
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime: Regime = {"carry": "-", "score_context": max(config.order, 0), "update_interval": 1}
        self.tables = make_tables(config.order, vocabulary, config.table_bits, listed=config.accuracy)
        self.tables.discounts[...] = FIRST_DISCOUNTS if config.discount is None else config.discount
        self.tables.slopes[...] = FIRST_SLOPE
        self.correct = np.zeros(0, dtype=np.bool_)  # of the last learn or evaluate, if config.accuracy

    @property
    def _uniform(self) -> bool:
        return self.config.order < 0

    def predict(self) -> npt.NDArray[np.float64]:
        row = np.empty(self.vocabulary)
        predict_row(self.tables, self._uniform, row)
        return row

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=int(self.tables.counters[OBSERVED]))
        bits = self._blank(checked.size)
        adapt, only_novel = self.config.discount is None, self.config.lower_orders == "novel"
        learn_stream(self.tables, self._uniform, adapt, only_novel, checked, bits, self.correct)
        return bits

    def evaluate(self, tokens: Tokens) -> Bits:
        return self.evaluate_with_resets(tokens, every=0)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with the history emptied every so many tokens (0: never). The tables are read, never copied."""
        checked, every = check_tokens(tokens, self.vocabulary), check_resets(every)
        bits = self._blank(checked.size)
        score_stream(self.tables, self._uniform, every, checked, bits, self.correct)
        return bits

    def _blank(self, size: int) -> Bits:
        self.correct = np.zeros(size if self.config.accuracy else 0, dtype=np.bool_)
        return np.empty(size)

    def forget(self) -> None:
        self.tables.counters[FILL] = 0

    def state_dict(self) -> State:
        return counts_state.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        counts_state.load_state_dict(self, state)

    def parameters(self, *, active: bool = False) -> int:
        """(context, symbol) counts in use now; all of them are active. It grows until the tables are full."""
        return counts_state.live_cells(self.tables)

    @property
    def growth_bytes(self) -> int:
        """Its tables fill up; a state also names their places, at most half as much again."""
        return 2 * sum(table.nbytes for table in self.tables)
