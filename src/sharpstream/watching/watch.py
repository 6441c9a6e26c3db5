"""The watch loop: read what is there → learn → say how surprising each line was → maybe sleep → maybe checkpoint.

`sharp watch` builds a `Watch` and lets it `go` until the input ends, a signal comes or nobody reads the output. What is
learned depends on the bytes alone, never on how they were cut into pieces; only an idle sleep depends on the clock.
"""

import operator
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sharpstream import checkpoint
from sharpstream.config import RunConfig
from sharpstream.config_files import from_dict, to_dict
from sharpstream.errors import ConfigError, NumericalError, RunError, SharpError
from sharpstream.learners.contract import Bits, Learner, Sleeper
from sharpstream.rundir import RunDirectory
from sharpstream.streams.text import symbols_of
from sharpstream.version import __version__
from sharpstream.watching.alarm import Alarm
from sharpstream.watching.lines import Lines, Part, visible
from sharpstream.watching.output import Rows, Unread
from sharpstream.watching.settings import WatchConfig
from sharpstream.watching.sources import Place, Say, Source

PATIENCE = 0.1  # seconds: how long a signal may go unnoticed while nothing arrives
NO_BITS: Bits = np.zeros(0)
GRACE = 2.0  # seconds: how long a reader of our output can hold up a stop


@dataclass
class Totals:
    """Counted since the directory was first watched."""

    tokens: int = 0
    bits: float = 0.0
    lines: int = 0  # reported: a cut line counts once for each piece
    alerts: int = 0
    cut: int = 0


@dataclass
class OpenLine:
    """The line that is arriving."""

    tokens: int = 0
    bits: float = 0.0
    text: str = ""

    def add(self, part: Part, bits: Bits) -> None:
        """One more part; summed from the left, so that where the parts were cut does not show in the sum."""
        self.tokens += bits.size
        self.bits = reduce(operator.add, bits.tolist(), self.bits)
        self.text += part.text


class Watch:
    """A learner, what it reads and where it says how surprised it was."""

    def __init__(
        self, directory: RunDirectory, run: RunConfig, config: WatchConfig, learner: Learner, rows: Rows, say: Say
    ) -> None:
        self.directory, self.run, self.config, self.learner = directory, run, config, learner
        self.rows, self.say = rows, say
        self.lines = Lines(run.stream.alphabet, config.unknown, config.line_limit)
        self.alarm, self.totals, self.line = Alarm(config), Totals(), OpenLine()
        self.symbols = symbols_of(run.stream.alphabet)
        self.last_place: Place | None = None  # in the file that was followed last
        self.saved_at, self.changed = time.monotonic(), False
        self.stop_signal = 0

    # ---- the loop --------------------------------------------------------------------------------------------------

    def go(self, source: Source) -> None:
        """Watch until there is a reason to stop; then everything is saved, whatever the reason."""
        with self._listening():  # also while saving: an impatient second Ctrl-C does no harm
            try:
                self._watch(source)
            except NumericalError:  # the learner's state is no longer worth saving: the checkpoint before is
                raise
            except SharpError:
                self._save(source)
                raise
            self._save(source)

    def _watch(self, source: Source) -> None:
        heard_at, rested = time.monotonic(), False
        while not (self.stop_signal or self.rows.gone):
            piece = source.read(PATIENCE)
            if source.broken:
                source.broken = False
                self._end_line()
            if piece is None:
                if not self.stop_signal:  # a stop may be continued, also when the writer was stopped with us
                    self._end_line()
                return
            if piece:
                self._learn(piece)
                source.taken(len(piece))
                heard_at, rested = time.monotonic(), False
            elif not rested and time.monotonic() - heard_at >= self.run.sharp.sleep.idle_seconds:
                rested = True
                self._rest()
            if self.changed and time.monotonic() - self.saved_at >= self.config.checkpoint_seconds:
                self._save(source)

    def _rest(self) -> None:
        """Nothing has come for a while: sleep once, if that is the trigger and something is tagged."""
        if self.run.sharp.sleep.trigger == "idle" and isinstance(self.learner, Sleeper):
            report = self.learner.sleep()
            self._forget_reports()
            if report is not None:
                self.changed = True
                self.say(f"slept while nothing came: {report['replayed']:,} tokens replayed from {report['tags']} tags")

    def _learn(self, piece: bytes, *, last: bool = False) -> None:
        """Learn from a piece, line by line, so that each line is reported before the next is looked at."""
        for part in self.lines.feed(piece, last=last):
            bits = self.learner.learn(part.tokens) if part.tokens.size else NO_BITS
            self._forget_reports()
            self._tell_tokens(part, bits)
            self.totals.tokens += bits.size
            self.totals.bits = reduce(operator.add, bits.tolist(), self.totals.bits)
            self.line.add(part, bits)
            if part.end:
                self._tell_line(part.number, cut=part.end == "cut")
        self.changed = True

    def _forget_reports(self) -> None:
        """What sleeps did is kept by the learner until somebody clears it; over months it would fill the memory."""
        if isinstance(self.learner, Sleeper):
            self.learner.sleep_reports.clear()

    # ---- what is said ----------------------------------------------------------------------------------------------

    def _tell_tokens(self, part: Part, bits: Bits) -> None:
        if self.config.per == "token":
            first = self.totals.tokens
            self.rows.write(
                [
                    {"token": first + i, "line": part.number, "symbol": self.symbols[token], "bits": round(cost, 4)}
                    for i, (token, cost) in enumerate(zip(part.tokens.tolist(), bits.tolist(), strict=True))
                ]
            )

    def _end_line(self) -> None:
        """A line that nothing will complete any more is reported as it is."""
        self._learn(b"", last=True)
        if self.line.text or self.line.tokens:
            number = self.lines.number
            self.lines.end_line()
            self._tell_line(number, cut=False)

    def _tell_line(self, number: int, *, cut: bool) -> None:
        line, self.line = self.line, OpenLine()
        mean = line.bits / line.tokens if line.tokens else None
        threshold = self.alarm.threshold
        alert = mean is not None and self.alarm.judge(mean)
        self.totals.lines += 1
        self.totals.alerts += alert
        if cut and not self.totals.cut:
            self.say(f"line {number:,} is longer than {self.config.line_limit:,} characters; such lines come in pieces")
        self.totals.cut += cut
        if self.config.per == "line" and (alert or not self.config.only_alerts):
            row = {
                "line": number,
                "tokens": line.tokens,
                "bits": None if mean is None else round(mean, 4),
                "total_bits": round(line.bits, 4),
                "threshold": None if threshold is None else round(threshold, 4),
                "alert": alert,
            }
            self.rows.write([row | ({"cut": True} if cut else {}) | {"text": visible(line.text.rstrip("\r"))}])

    def summary(self) -> str:
        """How it went, in one line."""
        totals, mean = self.totals, self.totals.bits / max(self.totals.tokens, 1)
        extras = {"unknown symbols": self.lines.unknown, "pieces of long lines": totals.cut}
        said = "".join(f", {count:,} {what}" for what, count in extras.items() if count)
        return (
            f"{totals.lines:,} lines, {totals.tokens:,} tokens, {mean:.4f} bits a token, {totals.alerts:,} alerts{said}"
            f" since {self.directory.path} was begun; everything is saved there"
        )

    # ---- what survives ---------------------------------------------------------------------------------------------

    def _save(self, source: Source) -> None:
        self.last_place = source.place() or self.last_place
        record = {
            "tokens": self.totals.tokens,
            "version": __version__,
            "config": to_dict(self.run),
            "watch": {
                "totals": vars(self.totals),
                "line": vars(self.line),
                "lines": self.lines.state(),
                "alarm": self.alarm.state(),
                "place": None if self.last_place is None else vars(self.last_place),
            },
        }
        checkpoint.save(self.directory.checkpoints, self.learner.state_dict(), record)
        self.saved_at, self.changed = time.monotonic(), False

    def restore(self) -> None:
        """Go on from the latest good checkpoint, if there is one."""
        saved = checkpoint.load_latest(
            self.directory.checkpoints, checkpoint.largest_state(self.learner), tell=self.say
        )
        if saved is None:
            return
        record = saved.record.get("watch")
        if record is None:
            raise RunError(f"{self.directory.path} is a run of `sharp run`; choose another directory to watch from")
        self.learner.load_state_dict(saved.tensors)
        try:
            self.totals, self.line = from_dict(Totals, record["totals"]), from_dict(OpenLine, record["line"])
            self.lines.restore(record["lines"])
            self.alarm.restore(record["alarm"])
            self.last_place = None if record["place"] is None else from_dict(Place, record["place"])
            before = saved.record["config"]["stream"]["name"]
        except (KeyError, TypeError, ValueError, ConfigError) as problem:
            raise RunError(f"the record of {saved.path} is incomplete: {problem}") from problem
        self.say(f"going on at token {self.totals.tokens:,}, line {self.lines.number:,}")
        if before != self.run.stream.name:  # what comes now does not continue the line before
            self._end_line()

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """While inside, SIGTERM and Ctrl-C ask for a stop after the present piece; nobody reading cannot prevent it."""

        def ask(number: int, frame: object) -> None:
            self.stop_signal = number
            signal.setitimer(signal.ITIMER_REAL, GRACE, GRACE)

        def give_up(number: int, frame: object) -> None:
            if self.rows.writing:
                raise Unread

        handlers = {signal.SIGINT: ask, signal.SIGTERM: ask, signal.SIGALRM: give_up}
        old = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in old.items():
                signal.signal(number, handler)
