"""What survives a stop: learner, judge, places, totals, as one checkpoint that is written whole or not at all."""

import operator
import time
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from sharpstream import checkpoint
from sharpstream.config import RunConfig
from sharpstream.config_files import from_dict, to_dict
from sharpstream.errors import ConfigError, RunError
from sharpstream.learners.contract import Bits, Learner
from sharpstream.rundir import RunDirectory
from sharpstream.version import __version__
from sharpstream.watching.judge import PREFIX, Judge, Verdict
from sharpstream.watching.lines import Line
from sharpstream.watching.reading import Reader
from sharpstream.watching.sources import Places, Say, Source

MOST_PLACES = 10_000  # files that came and went are forgotten, the oldest first


@dataclass
class Totals:
    """Counted since the directory was first watched."""

    tokens: int = 0
    bits: float = 0.0
    lines: int = 0  # reported: a cut line counts once for each piece
    alerts: int = 0
    cut: int = 0
    last_line_at = 0.0  # seconds since 1970; not saved

    def count(self, line: Line, bits: Bits, verdict: Verdict) -> None:
        """One more line; summed from the left, so that a restart does not show in the sum."""
        self.tokens += bits.size
        self.bits = reduce(operator.add, bits.tolist(), self.bits)
        self.lines += 1
        self.alerts += verdict.alert
        self.cut += line.end == "cut"
        self.last_line_at = time.time()


class Memory:
    """Saves and restores a watch."""

    def __init__(
        self,
        directory: RunDirectory,
        run: RunConfig,
        learner: Learner,
        reader: Reader,
        judge: Judge,
        totals: Totals,
        say: Say,
    ) -> None:
        self.directory, self.run, self.learner, self.say = directory, run, learner, say
        self.reader, self.judge, self.totals = reader, judge, totals
        self.places: Places = {}
        self.changed, self._saved_at = False, time.monotonic()

    def due(self, seconds: float) -> bool:
        """Whether something was learned and the last checkpoint is so old."""
        return self.changed and time.monotonic() - self._saved_at >= seconds

    def save(self, source: Source | None = None) -> None:
        """Write a checkpoint; from then on the source need not remember what was reported."""
        if source is not None:
            self.places = dict([*source.places().items()][-MOST_PLACES:])
        record = {
            "tokens": self.totals.tokens,
            "version": __version__,
            "config": to_dict(self.run),
            "watch": {
                "totals": to_dict(self.totals),
                "reader": self.reader.state(),
                "places": {source: dict(place) for source, place in self.places.items()},
            },
        }
        tensors = {**self.learner.state_dict(), **self.judge.state()}
        checkpoint.save(self.directory.checkpoints, tensors, record)
        if source is not None:
            source.saved()
        self._saved_at, self.changed = time.monotonic(), False

    def restore(self) -> bool:
        """Go on from the latest good checkpoint, if there is one."""
        largest = checkpoint.largest_state(self.learner) + self.judge.largest_state()
        saved = checkpoint.load_latest(self.directory.checkpoints, largest, tell=self.say)
        if saved is None:
            return False
        if "watch" not in saved.record:
            raise RunError(f"{self.directory.path} is a run of `sharp run`; choose another directory to watch from")
        ours = {name: array for name, array in saved.tensors.items() if name.startswith(PREFIX)}
        self.learner.load_state_dict({name: array for name, array in saved.tensors.items() if name not in ours})
        try:
            self._restore(saved.record["watch"], ours)
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as problem:
            raise RunError(
                f"{saved.path} cannot be continued ({problem!r}): it is damaged, or of another version; watch in a new "
                "directory"
            ) from problem
        self.say(f"going on at token {self.totals.tokens:,}, line {self.totals.lines + 1:,}")
        return True

    def _restore(self, record: dict[str, Any], arrays: dict[str, Any]) -> None:
        vars(self.totals).update(vars(from_dict(Totals, record["totals"])))
        self.reader.restore(record["reader"])
        self.judge.restore(arrays)
        self.places = {str(source): dict(place) for source, place in record["places"].items()}

    def summary(self) -> str:
        """How it went, in one line."""
        totals, mean = self.totals, self.totals.bits / max(self.totals.tokens, 1)
        extras = {
            "unknown symbols": self.reader.unknown,
            "lines without the field": self.reader.without_field,
            "pieces of long lines": totals.cut,
        }
        said = "".join(f", {count:,} {what}" for what, count in extras.items() if count)
        return (
            f"{totals.lines:,} lines, {totals.tokens:,} tokens, {mean:.4f} bits a token, {totals.alerts:,} alerts{said}"
            f" since {Path(self.directory.path)} was begun; everything is saved there"
        )
