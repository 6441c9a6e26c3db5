"""SHARP, fused: the default learner. Compiled wake loop (`sharp_wake.py`), compiled sleep, state as named arrays.

Tokens come in through `learn`, bits come out; it falls asleep by itself when its trigger fires. Its PyTorch twin is
`reference/sharp.py`.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import SharpConfig, SleepConfig
from sharpstream.errors import ConfigError, NumericalError
from sharpstream.kernels.jit import LOWEST
from sharpstream.kernels.layout import Layout
from sharpstream.learners import sharp_state, warm
from sharpstream.learners.contract import (
    Array,
    Bits,
    LearnerBase,
    Regime,
    State,
    Tokens,
    check_level,
    check_resets,
    check_shape,
    check_tokens,
    sleep_reports,
)
from sharpstream.learners.sharp_parameters import active_names, count, first_values, sharp_layout
from sharpstream.learners.sharp_wake import NOBODY, Desk, Mind, Model, score_frozen, wake, walk
from sharpstream.memory.arrays import make_workspace, passed_size
from sharpstream.memory.drowsiness import trigger_of
from sharpstream.memory.kinds import kind_of, learns, state_size
from sharpstream.pattern.pattern_block import make_form, make_scratch, make_trace
from sharpstream.pattern.shapes import arrays_per_block
from sharpstream.sleep.consolidate import LOSS, UPDATES, WINDOWS, consolidate
from sharpstream.sleep.draws import replay_draws, window_noise, windows_per_tag
from sharpstream.sleep.replay import generate, token_states, upper_states

KERNELS = "sharpstream.learners.sharp:Sharp"  # what `warm.py` compiles
NO_TOKENS, NO_BITS, NO_FLAGS = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0, dtype=np.bool_)


class Sharp(LearnerBase):
    """A learner that reads tokens once, remembers at exponentially slower clocks, and sleeps.

    >>> from sharpstream.config import SharpConfig, SleepConfig
    >>> learner = Sharp(SharpConfig(levels=2, width=8, embedding=4), vocabulary=3)
    >>> bits = learner.learn(np.array([0, 1, 2] * 10))
    >>> bits.shape, learner.predict().shape
    ((30,), (3,))
    """

    name = "sharp"

    def __init__(
        self, config: SharpConfig, vocabulary: int, *, seed: int = 0, vectors: npt.NDArray[Any] | None = None
    ) -> None:
        if vocabulary < 2:
            raise ConfigError(f"vocabulary = {vocabulary}: a learner needs at least 2 symbols to choose from")
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        self.regime: Regime = {"carry": "aligned", "window": config.window, "update_interval": 1}
        self.layout: Layout = sharp_layout(config, vocabulary)
        self.model = self._make_model(vectors)
        self.mind, self.desk = sharp_state.make_mind(config), make_desk(config, vocabulary)
        self.sleeps = 0
        self.sleep_reports = sleep_reports()
        self.correct: npt.NDArray[np.bool_] = np.zeros(
            0, dtype=np.bool_
        )  # of the last learn or evaluate: argmax right?

    def _make_model(self, vectors: npt.NDArray[Any] | None) -> Model:
        c, adam, size = self.config, self.config.adam, self.config.input_size
        levels = range(1, c.levels + 1)
        given = np.zeros((0, 0), dtype=c.dtype) if vectors is None else np.ascontiguousarray(vectors, dtype=c.dtype)
        if size and given.shape != (self.vocabulary, size):
            raise ConfigError(
                f"input_size = {size} needs frozen vectors of shape ({self.vocabulary}, {size}), not {given.shape}"
            )
        if not size and vectors is not None:
            raise ConfigError("vectors were given, but input_size = 0 says that block 1 reads tokens")
        return Model(
            p=first_values(c, self.layout, self.seed),
            m=self.layout.zeros(c.dtype, place=1),
            v=self.layout.zeros(c.dtype, place=2),
            table=self.layout.table,
            hyper=np.array([adam.beta1, adam.beta2, adam.eps, adam.weight_decay]),
            vectors=given,
            kinds=np.array([kind_of(c, level) for level in levels]),
            sizes=np.array([state_size(c, level) for level in levels]),
            form=make_form(c),
            first=c.levels * arrays_per_block(c.depth),
            levels=c.levels,
            alpha=c.acceleration,
            on_tick=c.credit == "on-tick",
            lr=adam.lr,
            gamma=c.gamma,
            tau=c.tau,
            learns=learns(c, 1),
            by_prediction=c.tags_by_prediction,
            upper_awake=c.train_upper_awake,
            trigger=trigger_of(c),
            every=c.sleep.every,
            novelty_ratio=c.sleep.novelty_ratio,
            novelty_rest=c.sleep.novelty_rest,
        )

    # ---- awake -----------------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        self._look_ahead()
        logits = self.desk.logits.astype(np.float64)
        p = np.exp(logits - logits.max())
        return np.asarray(p / p.sum())

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        return self._wake(check_tokens(tokens, self.vocabulary, first=int(self.mind.observed[0])))

    def _look_ahead(self) -> None:
        """Predict, if a load or a sleep has made the last prediction stale.

        Called before every other kernel, too: kernels share code, and the one that is loaded first decides which copy
        all of them use. It must be the same one in every process, or the last bit may differ after a resume.
        """
        warm.ensure(KERNELS, self.config.dtype)
        wake(self.model, self.mind, self.desk, NO_TOKENS, NO_BITS, NO_FLAGS)

    def _wake(self, tokens: npt.NDArray[np.int32]) -> Bits:
        warm.ensure(KERNELS, self.config.dtype)
        bits, self.correct = np.empty(tokens.size), np.zeros(tokens.size, dtype=np.bool_)
        taken = 0
        while True:
            taken += wake(self.model, self.mind, self.desk, tokens[taken:], bits[taken:], self.correct[taken:])
            if self.desk.failed[0]:
                position = int(self.mind.observed[0]) - 1
                raise NumericalError(
                    f"learning left the finite numbers at token {position}: its loss was not finite. "
                    f"Try a smaller adam.lr (now {self.config.adam.lr:g}) or dtype = float64"
                )
            if self.desk.due[0]:
                self.desk.due[0] = 0
                self.sleep()
            if taken == tokens.size:
                return bits

    # ---- asleep ----------------------------------------------------------------------------------------------------

    def sleep(self) -> Mapping[str, Any] | None:
        """Replay every tag, then train the upper context blocks one after another; None when nothing was tagged."""
        mind, config, began = self.mind, self.config, time.perf_counter()
        mind.since_sleep[0], mind.floor[0] = 0, np.inf
        states, contexts = sharp_state.tags_in_order(mind)
        if not len(states) or not config.learns_asleep:
            return None
        self._look_ahead()
        draws = replay_draws(self.seed, self.sleeps, config.sleep.replay_length, len(states))
        tokens = self._generate(states, contexts, draws)
        levels = self._consolidate(tokens)
        mind.tag_count[0] = mind.tag_next[0] = 0
        self.sleeps += 1
        if config.sleep.reset_on_sleep:
            self._zero_states()
        self.desk.stale[0] = config.levels
        report = {
            "tokens": int(mind.observed[0]),
            "tags": len(states),
            "replayed": int(tokens.size),
            "levels": levels,
            "seconds": time.perf_counter() - began,
        }
        self.sleep_reports.append(report)
        return report

    def forget(self) -> None:
        self._zero_states()
        self.mind.fill[:] = 0
        self.desk.stale[0] = self.config.levels

    def _zero_states(self) -> None:
        mind = self.mind
        mind.states[:] = mind.carried[:] = mind.pending[:] = mind.clock[:] = 0
        self.desk.lowest.aligned[0] = 0

    def replayed_states(self, states: Array, contexts: Array, draws: npt.NDArray[np.float64]) -> Array:
        """h¹ along streams generated from memory 1's states and c², as sleep does, (tags · R, H); changes nothing."""
        tags, dtype = len(states), self.config.dtype
        states = check_shape("states", states, (tags, state_size(self.config, 1))).astype(dtype, copy=False)
        contexts = check_shape("contexts", contexts, (tags, self.config.width)).astype(dtype, copy=False)
        draws = check_shape("draws", draws, (None, tags))
        self._look_ahead()
        tokens = self._generate(states, contexts, draws)
        readouts = np.empty((*tokens.shape, self.config.width), dtype=self.config.dtype)
        for tag, stream in enumerate(tokens):
            mind = Mind(*(array.copy() for array in self.mind))
            mind.states[0, : states.shape[1]] = states[tag]
            walk(self.model, mind, make_desk(self.config, self.vocabulary), stream, LOWEST, readouts[tag])
        return readouts.reshape(-1, self.config.width)

    def _generate(self, states: Array, contexts: Array, draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """Token streams from tagged (memory 1, c²), (tags, R); draws (R, tags) choose the tokens."""
        m, desk = self.model, make_desk(self.config, self.vocabulary)
        tokens = np.empty((len(states), len(draws)), dtype=np.int32)
        generate(
            m.p, m.table, m.form, m.first, m.kinds[0], m.vectors, states, contexts, draws, self.config.sleep.top_k,
            desk.trace, desk.logits, desk.embedded, desk.readout, desk.passed, tokens,
        )  # fmt: skip
        return tokens

    def _consolidate(self, tokens: npt.NDArray[np.int32]) -> dict[str, Mapping[str, Any]]:
        """Blocks 2..L in order; the states of each level are replayed once, through the blocks as just trained."""
        m, c, alpha, desk = self.model, self.config, self.config.acceleration, make_desk(self.config, self.vocabulary)
        pushes = c.sleep.replay_length // alpha
        states = np.zeros((len(tokens), pushes, c.width), dtype=c.dtype)
        for tag, stream in enumerate(tokens):
            token_states(
                m.p, m.table, m.first, m.kinds[0], m.vectors, stream, alpha, desk.embedded,
                desk.passed, desk.lowest.states[0], states[tag],
            )  # fmt: skip
        reports: dict[str, Mapping[str, Any]] = {}
        for level in range(2, c.levels + 1):
            reports[str(level)] = self._train_block(level, states)
            above = np.zeros((len(tokens), states.shape[1] // alpha, c.width), dtype=c.dtype)
            for tag in range(len(tokens)):
                upper_states(
                    m.p, m.table, m.first, level, m.kinds[level - 1], states[tag], alpha, desk.embedded,
                    desk.passed, desk.upper.states[0], above[tag],
                )  # fmt: skip
            states = above
        return reports

    def _train_block(self, level: int, states: Array) -> Mapping[str, Any]:
        """Consolidate one block over all tags; Adam starts fresh and leaves nothing behind."""
        m, c = self.model, self.config
        moments = [
            self.layout.view(b, n) for b in (m.m, m.v) for n in self.layout.names if n.startswith(f"context.{level}.")
        ]
        for moment in moments:
            moment[...] = 0
        windows = windows_per_tag(c.sleep.replay_length, c.acceleration, level, c.window)
        progress = np.zeros(4)
        for tag in range(len(states)):
            noise = np.zeros((0, 0, 0), dtype=c.dtype)
            if c.sleep.replay_noise and windows:
                drawn = window_noise(self.seed, self.sleeps, level, tag, windows, c.window, c.width)
                noise = (c.sleep.replay_noise * drawn).astype(c.dtype)
            consolidate(
                m.p, m.m, m.v, m.table, m.first, level, m.kinds[level - 1], states[tag], noise, m.hyper, m.lr,
                c.sleep_tau, self.desk.upper, progress,
            )  # fmt: skip
        for moment in moments:
            moment[...] = 0
        seen = int(progress[WINDOWS])
        return {
            "windows": seen,
            "updates": int(progress[UPDATES]),
            "loss": float(progress[LOSS]) / seen if seen else None,
        }

    # ---- looking on --------------------------------------------------------------------------------------------------

    def evaluate(self, tokens: Tokens) -> Bits:
        return self._frozen(tokens, every=0, deaf=NOBODY)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with the hidden states zeroed every so many tokens (0: never): how much context is used."""
        return self._frozen(tokens, every=check_resets(every), deaf=NOBODY)

    def evaluate_deaf(self, tokens: Tokens, level: int) -> Bits:
        """`evaluate` with what level ℓ hears from above replaced by its running mean: what is that worth?"""
        if not 1 <= level < self.config.levels:
            told = f"level = {level}: of {self.config.levels} levels only those below the top hear one above"
            raise ConfigError(told)
        return self._frozen(tokens, every=0, deaf=level)

    def _frozen(self, tokens: Tokens, *, every: int, deaf: int) -> Bits:
        checked = check_tokens(tokens, self.vocabulary)
        self._look_ahead()
        bits, self.correct = np.empty(checked.size), np.zeros(checked.size, dtype=np.bool_)
        mind = Mind(*(array.copy() for array in self.mind))
        desk = make_desk(self.config, self.vocabulary)
        score_frozen(self.model, mind, desk, checked, every, deaf, bits, self.correct)
        return bits

    def hidden_states(self, tokens: Tokens, level: int = 1) -> Array:
        """h^ℓ after each token from the present state, learning off, (n, H): what the probes of `evaluate/` read."""
        checked, level = check_tokens(tokens, self.vocabulary), check_level(level, self.config.levels)
        self._look_ahead()
        states = np.empty((checked.size, self.config.width), dtype=self.config.dtype)
        mind = Mind(*(array.copy() for array in self.mind))
        walk(self.model, mind, make_desk(self.config, self.vocabulary), checked, level, states)
        return states

    def metrics(self) -> Mapping[str, Any]:
        """Totals since the start: steps, updates, tags, and the sum of reconstruction errors per level."""
        return sharp_state.totals(self)

    def state_dict(self) -> State:
        return sharp_state.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        sharp_state.load_state_dict(self, state)

    @classmethod
    def example(cls, dtype: Any) -> "Sharp":
        """A small one that reaches every kernel; the sizes do not matter to the compiler."""
        sleep = SleepConfig(every=50, tags=2, replay_length=16)
        return cls(SharpConfig(levels=2, width=4, embedding=2, depth=1, tau=0.0, dtype=dtype, sleep=sleep), 3)

    def compiled(self) -> bool:
        return warm.is_compiled(KERNELS, self.config.dtype)

    @property
    def growth_bytes(self) -> int:
        mind = self.mind  # windows and tags fill up
        growing = (mind.tags_state, mind.tags_context, mind.tokens, mind.inputs, mind.windows)
        return sum(array.nbytes for array in growing)

    def parameters(self, *, active: bool = False) -> int:
        return count(self.layout, active_names(self.config, self.layout) if active else self.layout.names)


def make_desk(config: SharpConfig, vocabulary: int) -> Desk:
    """An empty desk: nothing looked ahead yet."""

    def zeros(*shape: int) -> Array:
        return np.zeros(shape, dtype=config.dtype)

    return Desk(
        trace=make_trace(config),
        scratch=make_scratch(config),
        lowest=make_workspace(config, vocabulary, 1),
        upper=make_workspace(config, vocabulary, 2),
        contexts=zeros(config.levels + 1, config.width),
        logits=zeros(vocabulary),
        p=zeros(vocabulary),
        delta=zeros(vocabulary),
        delta_context=zeros(2, config.width),
        embedded=zeros(config.embedding),
        state=zeros(max(state_size(config, 1), state_size(config, 2))),
        passed=zeros(max(passed_size(config, 1), passed_size(config, 2))),
        readout=zeros(config.width),
        mean=zeros(config.width),
        moves=np.zeros(1, dtype=np.int64),
        stale=np.full(1, config.levels, dtype=np.int64),
        tagging=np.zeros(1, dtype=np.int64),
        due=np.zeros(1, dtype=np.int64),
        failed=np.zeros(1, dtype=np.int64),
    )
