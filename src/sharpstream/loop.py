"""The loop: score → learn → maybe sleep → maybe probe → maybe checkpoint, until the tokens end or somebody says stop.

`sharp run`, `sharp demo` and the experiments call `run`. Everything that is logged is a function of config and stream
alone: chunks lie on a fixed grid, so that a run that was stopped anywhere logs the same bytes as one that never was.
"""

import json
import math
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream import __version__, checkpoint
from sharpstream.config import RunConfig, to_dict
from sharpstream.errors import RunError, StreamError
from sharpstream.evaluate.atomic import write_whole
from sharpstream.evaluate.bits import PAPER_CAP
from sharpstream.factory import make_learner, window_of
from sharpstream.learners.contract import Learner
from sharpstream.probing import Probes
from sharpstream.report.progress import Display, Silent
from sharpstream.rundir import Log, RunDirectory, config_differences, differences
from sharpstream.streams import open_stream
from sharpstream.streams.base import Stream

CHUNK = 250  # tokens; chunks end on its multiples. Large enough for the compiled loop, small enough to stop promptly


@dataclass(kw_only=True)
class Tally:
    """Sums over the present interval and over the whole run; plain numbers, so that a checkpoint holds them exactly."""

    tokens: int = 0
    bits: float = 0.0
    clipped: float = 0.0
    wrong: int = 0

    def add(self, bits: npt.NDArray[np.float64], wrong: int) -> None:
        """Count one chunk."""
        self.tokens += bits.size
        self.bits += float(bits.sum())
        self.clipped += float(np.minimum(bits, PAPER_CAP).sum())
        self.wrong += wrong

    def means(self) -> dict[str, float]:
        """Per token: true bits first, what the published cap would make of them, and the share of wrong guesses."""
        n = max(self.tokens, 1)
        return {"bits": self.bits / n, "bits_clipped": self.clipped / n, "error": self.wrong / n}


class Stopped(Exception):
    """Somebody asked the run to stop; everything so far is saved."""

    def __init__(self, tokens: int, signal_number: int) -> None:
        super().__init__(tokens)
        self.tokens, self.signal_number = tokens, signal_number


class Run:
    """One run under way: a learner on a stream, in a directory."""

    def __init__(self, directory: RunDirectory, config: RunConfig, stream: Stream, learner: Learner) -> None:
        self.directory, self.config, self.stream, self.learner = directory, config, stream, learner
        self.metrics, self.timing = Log(directory.metrics_file), Log(directory.timing_file)
        self.interval, self.total = Tally(), Tally()
        self.before: Mapping[str, Any] = self._totals()  # the learner's totals when the interval began
        self.probes = Probes(config)
        self.last_bits = math.nan  # of the interval before this one
        self.stop_signal = 0

    def _totals(self) -> Mapping[str, Any]:
        metrics = getattr(self.learner, "metrics", None)
        return metrics() if metrics else {}

    # ---- the loop --------------------------------------------------------------------------------------------------

    def go(self, display: Display, checkpoint_seconds: float, checkpoint_at_sleep: bool) -> None:
        """Learn until the tokens or the stream end; checkpoint by time, at sleeps if asked, and when told to stop."""
        saved_at = time.monotonic()
        while self.total.tokens < self.config.tokens:
            tokens = self.stream.take(self._chunk())
            if not tokens.size:
                break
            bits = self.learner.learn(tokens)
            self._count(bits)
            slept = self._log_sleeps(display)
            self._maybe_log()
            self._maybe_probe(display)
            display.update(self.total.tokens, self.interval.means()["bits"] if self.interval.tokens else self.last_bits)
            if self.stop_signal:
                self.save()
                raise Stopped(self.total.tokens, self.stop_signal)
            if time.monotonic() - saved_at >= checkpoint_seconds or (slept and checkpoint_at_sleep):
                self.save()
                saved_at = time.monotonic()
        self._finish()

    def _chunk(self) -> int:
        """Tokens to the next point of the grid: a multiple of CHUNK, the end of an interval, a probe, or the end."""
        position, config = self.total.tokens, self.config
        steps = [CHUNK, config.log_every] + ([config.probe_every] if config.probe_every else [])
        return min(*(step - position % step for step in steps), config.tokens - position)

    def _count(self, bits: npt.NDArray[np.float64]) -> None:
        correct = getattr(self.learner, "correct", None)
        wrong = 0 if correct is None else int(bits.size - np.count_nonzero(correct))
        self.interval.add(bits, wrong)
        self.total.add(bits, wrong)

    def _log_sleeps(self, display: Display) -> bool:
        reports = getattr(self.learner, "sleep_reports", [])
        self.metrics.append([{"event": "sleep", **report} for report in reports])
        for report in reports:
            display.slept(report)
        slept = bool(reports)
        reports.clear()
        return slept

    def _maybe_log(self) -> None:
        if self.total.tokens % self.config.log_every == 0 or self.total.tokens == self.config.tokens:
            self._log_interval()

    def _log_interval(self) -> None:
        after, means = self._totals(), self.interval.means()
        row = {
            "event": "interval",
            "tokens": self.total.tokens,
            **means,
            **interval_of(self.before, after, self.interval),
        }
        self.metrics.append([row])
        self.timing.append([{"tokens": self.total.tokens, "time": time.time()}])
        self.last_bits, self.before, self.interval = means["bits"], after, Tally()

    def _maybe_probe(self, display: Display) -> None:
        every = self.config.probe_every
        if every and self.total.tokens % every == 0:
            row = self.probes.measure(self.learner, self.total.tokens)
            self.metrics.append([row])
            display.note(f"probed {len(row['bits'])} segments at {self.total.tokens:,} tokens")

    # ---- what survives ---------------------------------------------------------------------------------------------

    def save(self) -> None:
        """A checkpoint of everything, the log made durable first."""
        checkpoint.save(self.directory.checkpoints, self.learner.state_dict(), self.record())

    def state_limit(self) -> int:
        """The most bytes this learner's state can take: what it takes now, and what windows and tags can grow by."""
        now = sum(array.nbytes for array in self.learner.state_dict().values())
        return now + int(getattr(self.learner, "growth_bytes", 0))

    def record(self) -> dict[str, Any]:
        """What the checkpoint's `state.json` says beside the learner's arrays."""
        return {
            "tokens": self.total.tokens,
            "version": __version__,
            "config": to_dict(self.config),
            "stream": dict(self.stream.identity()),
            "interval": vars(self.interval),
            "total": vars(self.total),
            "before": self.before,
            "last_bits": None if math.isnan(self.last_bits) else self.last_bits,
            "metrics_bytes": self.metrics.settle(),
        }

    def restore(self, saved: checkpoint.Checkpoint) -> None:
        """Continue exactly where a checkpoint was made."""
        size = self.look(saved)
        self.metrics.cut(size)
        self.stream.seek(saved.tokens)

    def look(self, saved: checkpoint.Checkpoint) -> int:
        """Take a checkpoint's state without touching log or stream; the log's size at that time."""
        self._check_same(saved)
        record = saved.record
        try:
            self.interval, self.total = Tally(**record["interval"]), Tally(**record["total"])
            self.before, bits = record["before"], record["last_bits"]
            self.last_bits = math.nan if bits is None else float(bits)
            size = int(record["metrics_bytes"])
        except (KeyError, TypeError, ValueError) as problem:
            raise RunError(f"the record of {saved.path} is incomplete: {problem}") from problem
        self.learner.load_state_dict(saved.tensors)
        return size

    def _check_same(self, saved: checkpoint.Checkpoint) -> None:
        """Refuse a checkpoint of another config or another stream, naming what differs; more tokens are allowed."""
        ours, theirs = to_dict(self.config), dict(saved.record.get("config", {}))
        ours["tokens"] = theirs["tokens"] = max(ours["tokens"], saved.tokens)
        found = differences(ours, theirs) + [
            f"stream {line}" for line in differences(dict(self.stream.identity()), saved.record.get("stream", {}))
        ]
        if found:
            raise RunError(f"{saved.path} belongs to another run; what differs: {'; '.join(found)}")

    def _finish(self) -> None:
        """Say how it went, and leave the final state."""
        if self.total.tokens < window_of(self.config):
            raise StreamError(short_stream(self.stream.name, self.total.tokens, window_of(self.config)))
        if self.interval.tokens:  # the stream ended inside an interval
            self._log_interval()
        self.save()
        latest = checkpoint.read_record(checkpoint.saved(self.directory.checkpoints)[-1])
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
        }
        write_whole(self.directory.summary_file, json.dumps(summary, indent=1) + "\n")


def interval_of(before: Mapping[str, Any], after: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """SHARP's own numbers over one interval: reconstruction error per level, share of gated updates, tags, sleeps."""
    if "recon_sum" not in after:
        return {}
    sums = [b - a for a, b in zip(before["recon_sum"], after["recon_sum"], strict=True)]
    counts = [b - a for a, b in zip(before["recon_count"], after["recon_count"], strict=True)]
    return {
        "reconstruction": [s / n if n else None for s, n in zip(sums, counts, strict=True)],
        "gated": (after["updates"][0] - before["updates"][0]) / max(tally.tokens, 1),
        "tagged": after["tagged"] - before["tagged"],
        "tags_stored": after["tags_stored"],
        "sleeps": after["sleeps"],
    }


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
    return Run(RunDirectory(path), config, stream, make_learner(config, stream.vocabulary))


def run(
    path: Path,
    config: RunConfig,
    *,
    display: Display | None = None,
    checkpoint_seconds: float = 300.0,
    checkpoint_at_sleep: bool = False,
) -> Mapping[str, Any]:
    """Start or continue the run in `path` until it is finished; its summary. Raises `Stopped` when told to stop."""
    display = display or Silent()
    directory = RunDirectory(path)
    if directory.started:
        _check_config(directory, config)
        done = directory.summary
        if done is not None and done["tokens"] >= config.tokens:
            return done
    work = prepare(path, config)
    directory.create()
    with directory.locked():
        saved = checkpoint.load_latest(directory.checkpoints, work.state_limit(), tell=display.note)
        directory.save_config(config)
        if saved is not None:
            work.restore(saved)
            display.note(f"continuing {path} at token {saved.tokens:,}")
        else:
            work.metrics.cut(0)
        directory.summary_file.unlink(missing_ok=True)
        with _listening(work):
            work.go(display, checkpoint_seconds, checkpoint_at_sleep)
    summary = directory.summary
    assert summary is not None
    return summary


def _check_config(directory: RunDirectory, config: RunConfig) -> None:
    """A directory keeps its settings; only the number of tokens may grow."""
    theirs = directory.load_config()
    found = config_differences(config, theirs.replace(tokens=max(config.tokens, theirs.tokens)))
    if found:
        raise RunError(
            f"{directory.path} was started with other settings ({'; '.join(found)}); "
            "continue it without them, use `sharp fork`, or choose another directory"
        )


@contextmanager
def _listening(work: Run) -> Iterator[None]:
    """While inside, SIGTERM and Ctrl-C ask for a clean stop after the present chunk."""

    def ask(number: int, frame: object) -> None:
        work.stop_signal = number

    try:
        old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever owns it listens
        yield
        return
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
