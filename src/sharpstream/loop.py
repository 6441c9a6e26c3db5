"""The loop: score → learn → maybe sleep → maybe probe → maybe checkpoint, until the tokens end or somebody says stop.

`sharp run`, `sharp demo` and the experiments call `run`. Everything that is logged is a function of config and stream
alone: chunks lie on a fixed grid, so that a run that was stopped anywhere logs the same bytes as one that never was.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from sharpstream import checkpoint
from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError, NumericalError, RunError, StreamError
from sharpstream.factory import make_learner, model_of, window_of
from sharpstream.files import write_whole
from sharpstream.kernels.jit import EXACT
from sharpstream.learners.contract import Learner, Sleeper
from sharpstream.parts import Parts
from sharpstream.probing import Probes
from sharpstream.report.progress import Display, Silent, tell_if_compiling
from sharpstream.run_state import RunState
from sharpstream.rundir import Log, RunDirectory, config_differences
from sharpstream.stopping import Interrupted, listening
from sharpstream.stopping import Stopped as Stopped  # what `run` raises, for its callers
from sharpstream.streams import open_stream
from sharpstream.streams.base import Stream, Tokens
from sharpstream.tally import Tally, interval_of

DIVERGED = 2.0  # times the bits of a uniform guess: worse is said while it happens
CHUNK = 250  # tokens; chunks end on its multiples. Large enough for the compiled loop, small enough to stop promptly


class Run(RunState):
    """One run under way: a learner on a stream, in a directory."""

    def __init__(self, directory: RunDirectory, config: RunConfig, stream: Stream, learner: Learner) -> None:
        super().__init__(directory, config, stream, learner)
        self.timing = Log(directory.timing_file)
        self.probes = Probes(config)
        self.parts = Parts(stream.parts)
        self.grid = grid_of(learner)
        self.stop_signal = 0
        self.waiting = False  # for the stream's next tokens

    def go(self, display: Display, checkpoint_seconds: float, checkpoint_at_sleep: bool) -> None:
        """Learn until the tokens or the stream end; checkpoint by time, at sleeps if asked, and when told to stop."""
        saved_at = time.monotonic()
        while self.total.tokens < self.config.tokens:
            try:
                tokens = self._take()
            except Interrupted:
                self._stop()
            if not tokens.size:
                break
            bits = self.learner.learn(tokens)
            self._count(bits)
            slept = self._log_sleeps(display)
            self._maybe_log(display)
            self._maybe_turn_page(display)
            self._maybe_probe(display)
            display.update(self.total.tokens, self.interval.means()["bits"] if self.interval.tokens else self.last_bits)
            if self.stop_signal:
                self._stop()
            if time.monotonic() - saved_at >= checkpoint_seconds or (slept and checkpoint_at_sleep):
                self.save()
                saved_at = time.monotonic()
        self._finish()

    def _stop(self) -> NoReturn:
        self.save()
        raise Stopped(self.total.tokens, self.stop_signal)

    def _take(self) -> Tokens:
        """The next chunk; who waits for a live stream can be interrupted here, at a point of the grid."""
        self.waiting = self.stream.live
        try:
            if self.waiting and self.stop_signal:  # it came while we saved: nobody may ever send another token
                raise Interrupted
            return self.stream.take(self._chunk())
        finally:
            self.waiting = False

    def _chunk(self) -> int:
        """Tokens to the next point of the grid, the end of an interval, a probe, or the end."""
        position, config = self.total.tokens, self.config
        points = [self.grid, (config.log_every, 0)] + ([(config.probe_every, 0)] if config.probe_every else [])
        limits = (self.parts.until_next(position) or config.tokens, config.tokens - position)
        return min(*(step - (position - first) % step for step, first in points), *limits)

    def _count(self, bits: npt.NDArray[np.float64]) -> None:
        correct = self.learner.correct
        wrong = int(bits.size - np.count_nonzero(correct)) if correct.size == bits.size else None
        for tally in (self.interval, self.total, self.part):
            tally.add(bits, wrong)

    def _log_sleeps(self, display: Display) -> bool:
        if not isinstance(self.learner, Sleeper):
            return False
        reports = self.learner.sleep_reports
        for report in reports:
            display.slept(report)
            lasted = {"event": "sleep", "tokens": report["tokens"], "seconds": report["seconds"]}
            self.timing.append([lasted])  # wall-clock time is no part of the result
            self.metrics.append([{"event": "sleep", **{k: v for k, v in report.items() if k != "seconds"}}])
        slept = bool(reports)
        reports.clear()
        return slept

    def _maybe_log(self, display: Display) -> None:
        if self.total.tokens % self.config.log_every == 0:
            self._log_interval()
            uniform = math.log2(self.stream.vocabulary)
            if self.last_bits > DIVERGED * uniform:
                over = f"{self.last_bits:.2f} bits a token over the last {self.config.log_every:,}"
                blind = f"more than twice what guessing blindly costs ({uniform:.2f})"
                display.note(f"{self.total.tokens:,}: {over}, {blind}: it is diverging; a smaller step may help")

    def _log_interval(self) -> None:
        after, means = self.totals(), self.interval.means()
        row = {
            "event": "interval",
            "tokens": self.total.tokens,
            **means,
            **interval_of(self.before, after, self.interval),
        }
        self.metrics.append([row])
        self.timing.append([{"event": "interval", "tokens": self.total.tokens, "time": time.time()}])
        self.last_bits, self.before, self.interval = means["bits"], after, Tally()

    def _maybe_turn_page(self, display: Display) -> None:
        """Log how it went since the last mark of a part; where a new part begins, say so and forget if asked to."""
        position = self.total.tokens
        mark, beginning = self.parts.at(position), self.parts.beginning_at(position)
        if mark is not None:
            name = self.parts.parts[mark.part].name
            told = {"part": mark.part, "name": name, "since": mark.since, "until": mark.until}
            self.metrics.append([{"event": "part", "tokens": position, **told, **self.part.means()}])
        if mark is not None or beginning is not None:
            self.part = Tally()
        if beginning is not None:
            display.note(f"{position:,}: {self.parts.parts[beginning].name}")
            if self.config.reset_states_per_book:
                self.learner.forget()

    def _maybe_probe(self, display: Display) -> None:
        every = self.config.probe_every
        if every and self.total.tokens % every == 0:
            row = self.probes.measure(self.learner, self.total.tokens)
            self.metrics.append([row])
            display.note(f"probed {len(row['bits'])} segments at {self.total.tokens:,} tokens")

    def _finish(self) -> None:
        """Say how it went, and leave the final state.

        The checkpoint comes before the row of an interval that is not full, so that a run given more tokens later
        goes on inside that interval and logs what one run of that length would have logged.
        """
        if self.total.tokens < window_of(self.config):
            raise StreamError(short_stream(self.stream.name, self.total.tokens, window_of(self.config)))
        self.save()
        latest = checkpoint.read_record(checkpoint.saved(self.directory.checkpoints)[-1])
        if self.interval.tokens:
            self._log_interval()
        parent = self.directory.parent
        summary = {
            "learner": self.learner.name,
            "stream": dict(self.stream.identity()),
            "tokens": self.total.tokens,
            **self.total.means(),
            "parameters": self.learner.parameters(),
            "active_parameters": self.learner.parameters(active=True),
            "seed": self.config.seed,
            "regime": dict(self.learner.regime),
            "state_sha256": latest["sha256"],
            **({} if EXACT.holds else {"resume": "not exactly resumable"}),
            **({} if parent is None else {"parent": parent}),
        }
        write_whole(self.directory.summary_file, json.dumps(summary, indent=1) + "\n")


def grid_of(learner: Learner) -> tuple[int, int]:
    """(step, first): chunks end at first + k·step.

    A learner that updates once per so many predictions is given those whole (the first token is predicted from nothing,
    hence the 1): in parts it would read the beginning of each again with every part.
    """
    interval = int(learner.regime.get("update_interval", 1))
    return (CHUNK, 0) if interval == 1 else (interval * max(1, CHUNK // interval), 1)


def short_stream(name: str, have: int, need: int) -> str:
    """The sentence for a stream that cannot fill one window."""
    if have == 0:
        return f"the stream {name} is empty; at least {need} tokens are needed"
    return f"the stream {name} has only {have} tokens; at least {need} (one window) are needed"


def prepare(path: Path, config: RunConfig) -> Run:
    """Everything that can go wrong before anything is written."""
    stream = open_stream(config.stream, seed=config.seed)
    need = window_of(config)
    if stream.length is not None and stream.length < need:
        raise StreamError(short_stream(stream.name, stream.length, need))
    if config.tokens < need:
        raise StreamError(f"tokens = {config.tokens}: at least {need} (one window) are needed")
    try:
        dense = getattr(model_of(config), "input_size", 0) > 0
        learner = make_learner(config, stream.vocabulary, vectors=stream.vectors() if dense else None)
    except (MemoryError, OverflowError) as problem:
        raise ConfigError(f"a learner with these settings does not fit into memory: {problem}") from problem
    return Run(RunDirectory(path), config, stream, learner)


def run(
    path: Path,
    config: RunConfig,
    *,
    display: Display | None = None,
    checkpoint_seconds: float = 300.0,
    checkpoint_at_sleep: bool = False,
    keep: int = checkpoint.KEPT,
) -> Mapping[str, Any]:
    """Start or continue the run in `path` until it is finished; its summary. Raises `Stopped` when told to stop."""
    display = display or Silent()
    if not (math.isfinite(checkpoint_seconds) and checkpoint_seconds >= 0.0):
        raise ConfigError(f"checkpoint_seconds = {checkpoint_seconds}: it must be a number of seconds ≥ 0")
    directory = RunDirectory(path)
    done = finished(directory, config)
    if done is not None:
        return done
    work = prepare(path, config)
    work.kept = keep
    tell_if_compiling(display.note, work.learner)
    directory.create()
    # Listening first: whoever finds our name in the lock may tell us to stop, and then we save.
    with listening(work), directory.locked(), _naming_the_last_good_state(directory):
        directory.tidy()
        directory.save_config(config)
        start = work.resume(display.note)
        if start:
            display.note(f"continuing {path} at token {start:,}")
        directory.summary_file.unlink(missing_ok=True)
        work.go(display, checkpoint_seconds, checkpoint_at_sleep)
    summary = directory.summary
    assert summary is not None
    return summary


@contextmanager
def _naming_the_last_good_state(directory: RunDirectory) -> Iterator[None]:
    """Learning that leaves the finite numbers ends the run; the error also says what is left of it."""
    try:
        yield
    except NumericalError as problem:
        kept = checkpoint.saved(directory.checkpoints)
        left = f"the last good state is {kept[-1]}" if kept else "it came before the first checkpoint"
        raise NumericalError(f"{problem}; {left}") from problem


def finished(directory: RunDirectory, config: RunConfig) -> Mapping[str, Any] | None:
    """The summary where nothing is left to learn. A directory keeps its settings; only the tokens may grow."""
    if not directory.started:
        return None
    theirs = directory.load_config()
    found = config_differences(config, theirs.replace(tokens=max(config.tokens, theirs.tokens)))
    if found:
        raise RunError(
            f"{directory.path} was started with other settings ({'; '.join(found)}); "
            "continue it without them, use `sharp fork`, or choose another directory"
        )
    done = directory.summary
    return done if done is not None and done["tokens"] >= config.tokens else None
