"""The episodic learner: a memory of what followed each context, written by observation only, and a pattern block that
learns to read it. Tokens come in through `learn`, bits come out.

The compiled loop is `episodic_loop.py`, the arrays are in `episodic_arrays.py`, the state in `episodic_state.py`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import EpisodicConfig
from sharpstream.errors import ConfigError, NumericalError
from sharpstream.learners import episodic_arrays as arrays
from sharpstream.learners import episodic_learn as learn
from sharpstream.learners import episodic_loop as loop
from sharpstream.learners import episodic_read as read
from sharpstream.learners import episodic_state, warm
from sharpstream.learners.contract import Array, Bits, Learner, LearnerBase, Regime, State, Tokens, check_resets
from sharpstream.learners.episodic_arrays import KERNELS
from sharpstream.learners.episodic_desk import make_desk
from sharpstream.learners.episodic_expert import Awake, Walk, walk_frozen
from sharpstream.learners.episodic_sleep import rates_asleep
from sharpstream.learners.episodic_tags import make_tags
from sharpstream.learners.episodic_tail import make_tail
from sharpstream.memory import episodic_keeping as keeping
from sharpstream.pattern.episodic_mean import MEANS
from sharpstream.pattern.episodic_residual import PLACES, ROW
from sharpstream.sleep import episodic_replay as replay
from sharpstream.streams.base import check_tokens

LARGEST_VOCABULARY = 65_536
RATE_VALUES = {
    learn.MIX: 0.014, learn.MIX_TIME: 20_000.0, learn.MIX_FLOOR: 5e-4, learn.MIX_KEEP: 0.999, learn.STATE: 0.15,
    learn.FINAL: 0.001, learn.FINAL_TIME: 20_000.0, learn.FINAL_FLOOR: 2e-4, learn.CORRECT: 0.02,
    learn.NETWORK: 3e-4, learn.NETWORK_ROWS: 4e-2, learn.NETWORK_TIME: 1e6, learn.ESCAPE: 0.002,
    learn.ESCAPE_CELL: 0.005, learn.ESCAPE_CORRECT: 0.002, learn.SHARE: 0.005, learn.SLOW: 1e-5,
    learn.RESIDUAL: 0.005, learn.RESIDUAL_ROWS: 0.06,
}  # fmt: skip


class Episodic(LearnerBase):
    """Remembers what followed each of many contexts of the past, and learns what its memories are worth.

    >>> learner = Episodic(EpisodicConfig(memory="1MB", network=0), vocabulary=3)
    >>> bits = learner.learn(np.array([0, 1, 2] * 40))
    >>> bool(bits[-3:].max() < 0.5), int(learner.predict().argmax())
    (True, 0)
    """

    name = "episodic"

    def __init__(
        self, config: EpisodicConfig, vocabulary: int, *, seed: int = 0, expert: Learner | None = None
    ) -> None:
        """`expert` is the learner that config.expert names; it reads the same tokens."""
        if (expert is None) != (config.expert == "none"):
            raise ConfigError(f"expert = {config.expert!r}, but the expert given is {expert and expert.name!r}")
        if not 2 <= vocabulary <= LARGEST_VOCABULARY:
            raise ConfigError(f"vocabulary = {vocabulary}: the episodic learner takes 2..{LARGEST_VOCABULARY} symbols")
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime: Regime = {"carry": "-", "memory": config.memory, "update_interval": 1}
        self.tail = make_tail(config, vocabulary)
        self.memory = arrays.make_memory(config, vocabulary, self.tail)
        contexts, models = len(self.memory.width), len(self.memory.least)
        self.cursor = arrays.make_cursor(models, config)
        self.pattern = arrays.make_pattern(config, vocabulary, contexts, models, seed, self.tail is not None)
        self.desk = make_desk(config, vocabulary, self.memory)
        self.rates = np.array([RATE_VALUES[rate] for rate in range(learn.RATES)])
        self.tags = make_tags(config, self.desk)
        self.asleep = rates_asleep(self.rates, config.replay_step)
        self.symbol_bytes = 2 if vocabulary > 256 else 1
        self.ring_size = self.memory.ring.size // self.symbol_bytes  # tokens
        self.expert: Learner | None = expert
        self.sizes = self._sizes()
        self.correct = np.zeros(0, dtype=np.bool_)  # of the last learn or evaluate, if config.accuracy

    def _sizes(self) -> Array:
        config, sizes = self.config, np.zeros(read.SWITCHES, dtype=np.int64)
        sizes[read.VOCABULARY], sizes[read.MOST] = self.vocabulary, arrays.most_candidates(self.vocabulary)
        sizes[read.WIDE], sizes[read.RING_SIZE] = self.symbol_bytes == 2, self.ring_size
        sizes[read.ON_STATES], sizes[read.ON_SELECTORS] = config.states, config.selectors
        sizes[read.ON_CORRECTIONS], sizes[read.ON_EXPERT] = config.corrections, config.expert != "none"
        sizes[read.ON_TAIL], sizes[read.ON_RESIDUAL] = self.tail is not None, config.residual
        sizes[read.NETWORK_TABLE], sizes[read.NETWORK_HASHED] = arrays.network_sizes(self.config, self.vocabulary)
        sizes[read.MEAN_EVERY] = config.mean_every
        sizes[read.KEEPING], sizes[read.SWEEP_EVERY] = keeping.RULES[config.keeping], config.sweep_every
        sizes[read.REPLAY], sizes[read.REPLAY_EVERY] = replay.CHOICES[config.replay], config.replay_every
        sizes[read.REPLAYS], sizes[read.REPLAY_INTO] = config.replays, replay.LEARNERS[config.replay_into]
        return sizes

    def predict(self) -> npt.NDArray[np.float64]:
        warm.ensure(KERNELS, self.config.dtype)
        row = np.empty(self.vocabulary)
        if self.expert is not None:
            self.desk.expert[:] = np.log(np.maximum(self.expert.predict(), 1e-30))
        loop.predict_row(self.memory, self.pattern, self.cursor, self.desk, self.sizes, row)
        return row

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=int(self.cursor.clock[0]))
        return self._read(self.cursor, checked, learning=True)

    def evaluate(self, tokens: Tokens) -> Bits:
        """Frozen: the past moves on in a copy of the cursor, nothing else is written and no table is copied.

        Mixers and network are read in their mean over the later part of the stream (`mean_every`).
        """
        return self.evaluate_with_resets(tokens, every=0)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with the past forgotten every so many tokens (0: never): how much context is used."""
        checked = check_tokens(tokens, self.vocabulary)
        length = check_resets(every) or max(checked.size, 1)
        parts, correct = [], []
        for start in range(0, max(checked.size, 1), length):
            cursor = arrays.Cursor(*(array.copy() for array in self.cursor))
            if every:
                empty = arrays.make_cursor(len(self.memory.least), self.config)
                cursor = empty._replace(clock=cursor.clock)
            parts.append(self._read(cursor, checked[start : start + length], learning=False))
            correct.append(self.correct)
        self.correct = np.concatenate(correct)
        return np.concatenate(parts)

    def _read(self, cursor: arrays.Cursor, tokens: npt.NDArray[np.int32], *, learning: bool) -> Bits:
        self.correct = np.zeros(tokens.size if self.config.accuracy else 0, dtype=np.bool_)
        bits = np.empty(tokens.size)
        if self.expert is None:
            self._read_part(cursor, tokens, learning, bits, self.correct)
            return bits
        walk: Walk = Awake(self.expert) if learning else walk_frozen(self.expert)
        for i, token in enumerate(tokens):
            self.desk.expert[:] = walk.before(int(token))
            self._read_part(cursor, tokens[i : i + 1], learning, bits[i : i + 1], self.correct[i : i + 1])
        return bits

    def _read_part(
        self, cursor: arrays.Cursor, tokens: npt.NDArray[np.int32], learning: bool, bits: Bits, correct: Array
    ) -> None:
        warm.ensure(KERNELS, self.config.dtype)
        pattern = self.pattern if learning else self._mean_pattern()
        done = loop.read_stream(
            self.memory, pattern, cursor, self.desk, self.sizes, self.rates, tokens, learning, bits, correct,
            self.tags, self.asleep,
        )  # fmt: skip
        if done < tokens.size:
            raise NumericalError(
                f"learning left the finite numbers at token {int(cursor.clock[0])}: its probability was no number. "
                "Continue from an earlier checkpoint, or with dtype = float64"
            )

    def _mean_pattern(self) -> arrays.Pattern:
        """What a frozen pass reads: mixers and network in the mean, once a look has been taken."""
        if not self.pattern.mean_looks.any():
            return self.pattern
        return self.pattern._replace(**{name: getattr(self.pattern, f"mean_{name}") for name in MEANS})

    def forget(self) -> None:
        empty = arrays.make_cursor(len(self.memory.least), self.config)._replace(clock=self.cursor.clock)
        for mine, blank in zip(self.cursor, empty, strict=True):
            mine[...] = blank
        self.pattern.slow_pending[...] = 0  # of a past that is forgotten
        if self.expert is not None:
            self.expert.forget()

    @property
    def growth_bytes(self) -> int:
        """Slots, ring, tags, tail and the residual's rows fill up."""
        inner = sum(learner.growth_bytes for learner in (self.expert, self.tail) if learner is not None)
        tags = self.tags.whole.nbytes + self.tags.real.nbytes
        rows = self.pattern.residual_rows.nbytes
        return self.memory.slots.nbytes + self.memory.ring.nbytes + rows + tags + inner

    @classmethod
    def example(cls, dtype: Any) -> "Episodic":
        """A small one whose learning compiles every kernel."""
        return cls(EpisodicConfig(memory="256kB", network=4, dtype=dtype), 3)

    def compiled(self) -> bool:
        return warm.is_compiled(KERNELS, self.config.dtype) and (self.expert is None or self.expert.compiled())

    def state_dict(self) -> State:
        return episodic_state.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        episodic_state.load_state_dict(self, state)

    def parameters(self, *, active: bool = False) -> int:
        """Numbers learned by error: state tables, mixers, corrections, escape, network; all of them are active."""
        pairs = sum(getattr(self.pattern, name).size // 2 for name in episodic_state.SQUARES)
        learned = (
            "weights",
            "finals",
            "inputs",
            "read",
            "bias",
            "parts",
            "cells",
            "escape_weights",
            "escape_correction",
            "slow_weights",
        )
        expert = 0 if self.expert is None else self.expert.parameters(active=active)
        rows = self.pattern.residual_rows.size // ROW * PLACES
        return pairs + rows + sum(getattr(self.pattern, name).size for name in learned) + expert
