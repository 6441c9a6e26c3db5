"""What the fused recurrent baselines share: the learner contract over the compiled loop of `recurrent_wake.py`.

Until a window is full, predictions come from the tokens so far and nothing is learnt. There is no second, persistent
prediction state as in SHARP: there memory and prediction have different losses, here the prediction's loss is the one
that is learnt from, so one reading of the window serves both. With frozen weights the two would be the same state.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import ClockworkConfig, RecurrentConfig
from sharpstream.errors import ConfigError, NumericalError
from sharpstream.kernels.layout import Layout
from sharpstream.learners import recurrent_state, warm
from sharpstream.learners.contract import (
    Array,
    Bits,
    LearnerBase,
    Regime,
    State,
    Tokens,
    check_level,
    check_resets,
    check_tokens,
)
from sharpstream.learners.recurrent_arrays import CLOCKWORK, Desk, Mind, Model, make_desk, make_mind
from sharpstream.learners.recurrent_parameters import first_values
from sharpstream.learners.recurrent_wake import wake

KERNELS = "sharpstream.learners.recurrent:Recurrent"  # what `warm.py` compiles: one loop serves all of them
NO_TOKENS = np.zeros(0, dtype=np.int32)


class RecurrentLearner(LearnerBase):
    """A recurrent network that learns online by truncated gradients over the last T tokens."""

    name: str

    def __init__(
        self,
        config: RecurrentConfig | ClockworkConfig,
        vocabulary: int,
        seed: int,
        vectors: npt.NDArray[Any] | None,
        *,
        kind: int,
        levels: int,
        layout: Layout,
        periods: tuple[int, ...] = (),
        reverse: bool = False,
    ) -> None:
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.kind, self.levels, self.layout = kind, levels, layout
        self.regime: Regime = {"carry": config.carry, "window": config.window, "update_interval": 1}
        self.correct: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)  # argmax right? (last learn or evaluate)
        adam = config.adam
        self.model = Model(
            p=first_values(config, layout, seed),
            m=layout.zeros(config.dtype, place=1),
            v=layout.zeros(config.dtype, place=2),
            table=layout.table,
            hyper=np.array([adam.beta1, adam.beta2, adam.eps, adam.weight_decay]),
            vectors=dense_inputs(config.input_size, vocabulary, vectors, config.dtype),
            periods=np.array(periods, dtype=np.int64),
            kind=kind,
            read=layout.index["read.weight"],
            lr=adam.lr,
            overlap=config.carry == "overlap",
            reverse=reverse,
        )
        self.mind = make_mind(levels, config.width, config.window, config_is_lstm(config), config.dtype)
        self.desk = self._make_desk()
        self._no_states = np.zeros((0, 0), dtype=config.dtype)

    def _make_desk(self) -> Desk:
        c = self.config
        layers, units = (1, self.levels * c.width) if self.kind == CLOCKWORK else (self.levels, c.width)
        return make_desk(self.kind, layers, units, c.embedding, c.input_size, c.window, self.vocabulary, c.dtype)

    # ---- learning --------------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        self._run(self.mind, self.desk, NO_TOKENS, learning=True)  # after a token or a load: look ahead
        logits = self.desk.logits.astype(np.float64)
        p = np.exp(logits - logits.max())
        return np.asarray(p / p.sum())

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=int(self.mind.observed[0]))
        bits, self.correct = self._run(self.mind, self.desk, checked, learning=True)
        if self.desk.failed[0]:
            self.desk.failed[0] = 0
            raise NumericalError(
                f"learning left the finite numbers at token {int(self.mind.observed[0])}: its loss was not finite. "
                f"Try a smaller adam.lr (now {self.config.adam.lr:g}) or dtype = float64"
            )
        return bits

    def _run(
        self,
        mind: Mind,
        desk: Desk,
        tokens: npt.NDArray[np.int32],
        *,
        learning: bool = False,
        every: int = 0,
        level: int = 1,
        states: Array | None = None,
    ) -> tuple[Bits, npt.NDArray[np.bool_]]:
        bits, correct = np.empty(tokens.size), np.zeros(tokens.size, dtype=np.bool_)
        out = self._no_states if states is None else states
        layer, unit = (0, (level - 1) * self.config.width) if self.kind == CLOCKWORK else (level - 1, 0)
        warm.ensure(KERNELS, self.config.dtype)
        wake(self.model, mind, desk, tokens, learning, every, bits, correct, layer, unit, out)
        return bits, correct

    # ---- looking on --------------------------------------------------------------------------------------------------

    def evaluate(self, tokens: Tokens) -> Bits:
        return self.evaluate_with_resets(tokens, every=0)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with state, window and clock forgotten every so many tokens (0: never)."""
        checked, every = check_tokens(tokens, self.vocabulary), check_resets(every)
        bits, self.correct = self._run(self._copied_mind(), self._make_desk(), checked, every=every)
        return bits

    def hidden_states(self, tokens: Tokens, level: int = 1) -> Array:
        """A layer's (or Clockwork module's) state after each token from the present state, learning off, (n, H)."""
        checked, level = check_tokens(tokens, self.vocabulary), check_level(level, self.levels)
        states = np.empty((checked.size, self.config.width), dtype=self.config.dtype)
        self._run(self._copied_mind(), self._make_desk(), checked, level=level, states=states)
        return states

    def _copied_mind(self) -> Mind:
        return Mind(*(array.copy() for array in self.mind))

    def forget(self) -> None:
        mind = self.mind
        mind.carried[:] = mind.memory[:] = mind.fill[:] = mind.clock[:] = 0
        self.desk.ready[0] = 0

    def state_dict(self) -> State:
        return recurrent_state.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        recurrent_state.load_state_dict(self, state)

    def parameters(self, *, active: bool = False) -> int:
        return self.layout.count()  # every one of them learns at every token

    def compiled(self) -> bool:
        return warm.is_compiled(KERNELS, self.config.dtype)

    @property
    def growth_bytes(self) -> int:
        return self.mind.tokens.nbytes  # the window fills up


def config_is_lstm(config: RecurrentConfig | ClockworkConfig) -> bool:
    """Whether there is a memory beside the state."""
    return isinstance(config, RecurrentConfig) and config.cell == "lstm"


def dense_inputs(size: int, vocabulary: int, vectors: npt.NDArray[Any] | None, dtype: str) -> npt.NDArray[Any]:
    """The frozen input vectors, (V, D), or (0, 0) when tokens have a table; refuses what does not fit the config."""
    if vocabulary < 2:
        raise ConfigError(f"vocabulary = {vocabulary}: a learner needs at least 2 symbols to choose from")
    given = np.zeros((0, 0), dtype=dtype) if vectors is None else np.ascontiguousarray(vectors, dtype=dtype)
    if size and given.shape != (vocabulary, size):
        raise ConfigError(
            f"input_size = {size} needs frozen vectors of shape ({vocabulary}, {size}), not {given.shape}"
        )
    if not size and vectors is not None:
        raise ConfigError("vectors were given, but input_size = 0 says that tokens have a table of their own")
    return given
