"""How fast one kind of run is on this machine: tokens/s awake, seconds of one sleep, tokens/s frozen.

In comes a run's config and where its tokens come from, out comes a `Speed` after a few seconds of real work.
`planning.py` multiplies it by what an experiment asks for; the clock can be given, for tests.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace

import numpy as np

from sharpstream.config import AdamConfig, RunConfig, StreamConfig
from sharpstream.config_files import to_dict
from sharpstream.errors import StreamError
from sharpstream.experiments.recipes import never_sleeps
from sharpstream.factory import make_learner, model_of
from sharpstream.learners.contract import Learner, Sleeper
from sharpstream.loop import CHUNK, grid_of
from sharpstream.streams import open_stream
from sharpstream.streams.base import Tokens
from sharpstream.streams.catalogue import entries, status_of
from sharpstream.streams.text import symbols_of

Clock = Callable[[], float]


@dataclass(frozen=True)
class Source:
    """Where a run's tokens come from, and whether they are on this machine."""

    config: StreamConfig
    vocabulary: int
    length: int | None
    here: bool


@dataclass(frozen=True)
class Kind:
    """What decides the speed of a run, and nothing else: two runs of one kind are measured once."""

    learner: str
    engine: str
    model: Hashable  # its settings
    vocabulary: int


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What one kind of run does here, alone, on one thread."""

    learning: float
    """Tokens per second awake."""
    scoring: float
    """Tokens per second with learning off."""
    sleep: float = 0.0
    """Seconds of one sleep with a full buffer of tags; 0 where no sleep can be foreseen."""


def source_of(config: StreamConfig) -> Source:
    """What is known of a stream without downloading it; a corpus that is not here has the letters of its alphabet."""
    entry = next((entry for entry in entries() if entry.name == config.name), None)
    absent = config.name == "-" or (entry is not None and status_of(entry)[0] in ("to download", "damaged"))
    if absent:
        length = None if config.end is None else config.end - config.start
        symbols = len(symbols_of(config.alphabet)) if entry is None else entry.vocabulary
        return Source(config, symbols, length, here=False)
    stream = open_stream(config, seed=0)
    return Source(config, stream.vocabulary, stream.length, here=True)


def kind_of(config: RunConfig, vocabulary: int) -> Kind:
    """A run's kind: seeds, streams and step sizes do not decide how long a token takes."""
    model = model_of(config)
    plain = {one.name: AdamConfig() for one in fields(model) if one.name == "adam"}
    return Kind(config.learner, config.engine, replace(model, **plain), vocabulary)


def scoring_share(config: RunConfig) -> float:
    """What a scored token costs, as a share of a learned one; `sharp plan` measures it, the time left takes this.

    Where every learned token is an Adam step on all weights it was 0.03 to 0.23 in runs of text8, elsewhere 0.3 to 1.
    """
    return 0.2 if config.learner in ("sharp", "rnn", "lstm", "gru", "clockwork") else 1.0


def sleeps_of(config: RunConfig, tokens: int) -> int:
    """How often a run of so many tokens falls asleep, as far as that is known before: not by `novelty` or `idle`."""
    sharp = config.sharp
    foreseen = config.learner == "sharp" and sharp.sleep.trigger == "every" and not sharp.train_upper_awake
    return tokens // sharp.sleep.every if foreseen else 0


def measure(config: RunConfig, source: Source, *, seconds: float = 2.0, clock: Clock = time.perf_counter) -> Speed:
    """Learn for about so many seconds, score for at most as many, sleep once; compilation comes first, uncounted.

    A gated learner is measured on the first tokens of its stream; where its gate closes later, it gets faster.
    """
    learner, take = _make(config.replace(sharp=never_sleeps(config.sharp)), source), _tap(source)
    piece, first = grid_of(learner)  # as the loop cuts them
    learner.learn(take(first + piece))
    learner.evaluate(take(CHUNK))
    learning = _rate(lambda: learner.learn(take(piece)), piece, seconds, clock)
    scoring = _scoring_rate(learner, take, config.probe_length, seconds, clock)
    sleep = _sleep_seconds(config, source, clock) if sleeps_of(config, config.tokens) else 0.0
    return Speed(learning=learning, scoring=scoring, sleep=sleep)


def _rate(work: Callable[[], object], piece: int, seconds: float, clock: Clock) -> float:
    """Tokens per second of work that takes `piece` tokens at a time, over whole pieces."""
    began, done, elapsed = clock(), 0, 0.0
    while not done or elapsed < seconds:
        work()
        done += piece
        elapsed = clock() - began
    return done / max(elapsed, 1e-9)


def _scoring_rate(learner: Learner, take: Callable[[int], Tokens], most: int, seconds: float, clock: Clock) -> float:
    """Tokens per second of `evaluate`, on as long a segment as the run scores, time allowing: it copies the state."""
    piece = min(CHUNK, most)
    while True:
        tokens = take(piece)
        began = clock()
        learner.evaluate(tokens)
        elapsed = clock() - began
        if piece == most or elapsed >= seconds / 2:
            return piece / max(elapsed, 1e-9)
        piece = min(2 * piece, most)


def _sleep_seconds(config: RunConfig, source: Source, clock: Clock) -> float:
    """One real sleep with every tag taken: the gate is opened (τ 0) to fill the buffer; consolidation keeps its own."""
    sharp = config.sharp
    full = replace(sharp.sleep, trigger="never", tau=sharp.sleep_tau)
    short = replace(full, tags=1, replay_length=min(16, full.replay_length))  # loads the kernels, uncounted
    lasted = 0.0
    for sleep in (short, full):
        learner = _make(config.replace(sharp=replace(sharp, tau=0.0, sleep=sleep)), source)
        learner.learn(_tap(source)(sleep.tags + CHUNK))
        assert isinstance(learner, Sleeper)
        began = clock()
        learner.sleep()
        lasted = clock() - began
    return lasted


def _make(config: RunConfig, source: Source) -> Learner:
    """The learner, with drawn vectors where it reads frozen ones: their values do not decide its speed."""
    size = int(to_dict(model_of(config)).get("input_size", 0))
    vectors = np.random.default_rng(0).standard_normal((source.vocabulary, size)) if size else None
    return make_learner(config, source.vocabulary, vectors=vectors)


def _tap(source: Source) -> Callable[[int], Tokens]:
    """Tokens without end: the stream's own, from its start again after its end, or drawn ones where it is not here."""
    if not source.here:
        rng = np.random.default_rng(0)
        return lambda count: rng.integers(0, source.vocabulary, count, dtype=np.int32)
    stream = open_stream(source.config, seed=0)

    def take(count: int) -> Tokens:
        tokens = stream.take(count)
        if tokens.size < count:
            stream.seek(0)
            tokens = np.resize(tokens if tokens.size else stream.take(count), count)
        if not tokens.size:
            raise StreamError(f"the stream {stream.name} is empty; nothing can be measured on it")
        return tokens

    return take
