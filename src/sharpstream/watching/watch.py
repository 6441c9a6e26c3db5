"""The watch loop: take a line → learn → judge → say → maybe sleep → maybe checkpoint.

`sharp watch` builds a `Watch` and lets it `go` until the input ends, a signal comes or nobody reads the output. What is
learned depends on the lines alone, never on how their bytes arrived; only an idle sleep depends on the clock.
"""

import operator
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import reduce

import numpy as np

from sharpstream.config import RunConfig
from sharpstream.errors import NumericalError, SharpError
from sharpstream.learners.contract import Bits, Learner, Sleeper
from sharpstream.rundir import RunDirectory
from sharpstream.streams.text import symbols_of
from sharpstream.watching.fields import time_of
from sharpstream.watching.judge import Judge, Verdict
from sharpstream.watching.lines import Line, visible
from sharpstream.watching.metrics import Gauges
from sharpstream.watching.notify import Notifier
from sharpstream.watching.output import Rows, Unread
from sharpstream.watching.reading import Reader, Reading
from sharpstream.watching.rows import Row
from sharpstream.watching.saving import Memory, Totals
from sharpstream.watching.settings import WatchConfig
from sharpstream.watching.silence import Silence
from sharpstream.watching.sources import Say, Source

PATIENCE = 0.1  # seconds: how long a signal may go unnoticed while nothing arrives
NO_BITS: Bits = np.zeros(0)
GRACE = 2.0  # seconds: how long a reader of our output can hold up a stop


class Watch:
    """A learner, what it reads and where it says what stands out."""

    def __init__(
        self, directory: RunDirectory, run: RunConfig, config: WatchConfig, learner: Learner, rows: Rows, say: Say
    ) -> None:
        self.run, self.config, self.learner = run, config, learner
        self.rows, self.say = rows, say
        self.reader, self.judge = Reader(run.stream.alphabet, config, say), Judge(config.alerts_per_1000)
        self.totals = Totals()
        self.memory = Memory(directory, run, learner, self.reader, self.judge, self.totals, say)
        self.silence = Silence(self.judge.tail, say)
        self.symbols = symbols_of(run.stream.alphabet)
        self.sleeper = learner if isinstance(learner, Sleeper) else None
        self.stop_signal = 0

    # ---- the loop --------------------------------------------------------------------------------------------------

    def go(self, source: Source, notifier: Notifier, gauges: Gauges) -> None:
        """Watch until there is a reason to stop; then everything is saved, whatever the reason."""
        with self.listening():  # also while saving: an impatient second Ctrl-C does no harm
            try:
                self._watch(source, notifier, gauges)
            except NumericalError:  # the learner's state is no longer worth saving: the checkpoint before is
                raise
            except SharpError:
                self.memory.save(source)
                raise
            self.memory.save(source)

    def _watch(self, source: Source, notifier: Notifier, gauges: Gauges) -> None:
        heard_at, rested = time.monotonic(), False
        self.silence.begin()
        while not (self._stopped() or self.rows.gone or source.ended):
            line = source.next(PATIENCE)
            if self._stopped():  # what is not taken comes again, also an end of input that is only the writer's stop
                return
            if source.turned:
                self.memory.save(source)
            if line is not None:
                self._report(line, source, notifier)
                source.taken(line)
                heard_at, rested = time.monotonic(), False
            elif not rested and time.monotonic() - heard_at >= self.run.sharp.sleep.idle_seconds:
                rested = True
                self._rest()
            if self.memory.due(self.config.checkpoint_seconds):
                self.memory.save(source)
            if gauges.due:
                self._measure(source, gauges)

    def _stopped(self) -> bool:
        """Whether a signal came, at any moment."""
        return self.stop_signal != 0

    def _rest(self) -> None:
        """Nothing has come for a while: sleep once, if that is the trigger and something is tagged."""
        if self.run.sharp.sleep.trigger == "idle" and self.sleeper is not None:
            report = self.sleeper.sleep()
            self.sleeper.sleep_reports.clear()
            if report is not None:
                self.memory.changed = True
                self.say(f"slept while nothing came: {report['replayed']:,} tokens replayed from {report['tags']} tags")

    # ---- one line --------------------------------------------------------------------------------------------------

    def learn(self, line: Line) -> tuple[Reading, Bits, Verdict]:
        """Learn a line and judge it by what came before."""
        reading = self.reader.read(line)
        bits = self.learner.learn(reading.tokens) if reading.tokens.size else NO_BITS
        if self.sleeper is not None:  # its reports would fill the memory over months
            self.sleeper.sleep_reports.clear()
        verdict = self.judge.see(reading.masked, reading.text, bits)
        self.totals.count(line, bits, verdict)
        self.memory.changed = True
        return reading, bits, verdict

    def _report(self, line: Line, source: Source, notifier: Notifier) -> None:
        """Learn a line and say what is to be said of it, unless it was said before a crash."""
        if line.end == "cut" and not self.totals.cut:
            self.say(
                f"line {line.number:,} of {line.source} is longer than {self.config.line_limit:,} bytes; such lines "
                "come in pieces"
            )
        reading, bits, verdict = self.learn(line)
        self.silence.heard(verdict)
        if line.quiet:
            return
        announced = verdict.group is not None and verdict.group.announced
        if self.config.per == "token":
            rows = self._token_rows(line, reading, bits)
        else:
            rows = [self._row(line, reading, bits, verdict)] if announced or not self.config.only_alerts else []
        if rows or announced:
            source.reporting(line)
        self.rows.write(rows)
        if announced:
            notifier.tell(rows[0] if self.config.per == "line" else self._row(line, reading, bits, verdict))

    def _token_rows(self, line: Line, reading: Reading, bits: Bits) -> list[Row]:
        first = self.totals.tokens - bits.size
        return [
            {"token": first + i, "line": line.number, "symbol": self.symbols[token], "bits": round(cost, 4)}
            for i, (token, cost) in enumerate(zip(reading.tokens.tolist(), bits.tolist(), strict=True))
        ]

    def _row(self, line: Line, reading: Reading, bits: Bits, verdict: Verdict) -> Row:
        text, scored, group = reading.text, verdict.scored, verdict.group
        when, stated = time_of(text, reading.given, datetime.now().astimezone())
        start, end = (len(visible(text[:place])) for place in scored.span)
        total = reduce(operator.add, bits.tolist(), 0.0)
        extras = {"cut": line.end == "cut", "unfinished": line.end == "unfinished", "again": line.again}
        return {
            "time": when,
            "time_from": "line" if stated else "arrival",
            "source": line.source,
            "line": line.number,
            "score": round(scored.score, 3),
            "tail": None if verdict.tail is None else round(verdict.tail, 6),
            "alert": verdict.alert,
            "group": None if group is None else group.id,
            "count": None if group is None else group.count,
            "span": [start, end],
            "surprising": visible(text[slice(*scored.span)]),
            "expected": None if scored.expected is None else visible(scored.expected),
            "got": visible(scored.got),
            "bits": round(total / bits.size, 4) if bits.size else None,
            "tokens": int(bits.size),
            "masked": reading.masked.kinds(),
            **{name: True for name, is_so in extras.items() if is_so},
            "text": visible(text),
        }

    # ---- around it -------------------------------------------------------------------------------------------------

    def _measure(self, source: Source, gauges: Gauges) -> None:
        totals, tail = self.totals, self.judge.tail
        numbers: dict[str, float] = {
            "lines_total": totals.lines,
            "tokens_total": totals.tokens,
            "bits_total": totals.bits,
            "alerts_total": totals.alerts,
            "lag_bytes": source.lag(),
            "last_line_timestamp_seconds": totals.last_line_at,
        }
        if (level := tail.level()) is not None:
            numbers["alert_score"] = level
        gauges.update(numbers, tail.quantiles((0.5, 0.9, 0.99)))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While inside, SIGTERM and Ctrl-C ask for a stop after the present line; nobody reading cannot prevent it."""

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
