"""What of a run survives: the learner, its place in the stream, the sums of the log; into a checkpoint and out again.

In come a directory, a config, a stream and a learner; `loop.py` moves them on, saves and resumes them by this. Whoever
only looks at a run (`frozen.py`) or begins another from it (`sharp fork`) uses the same checks.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from sharpstream import checkpoint
from sharpstream.config import RunConfig
from sharpstream.config_files import from_dict, to_dict
from sharpstream.errors import ConfigError, RunError
from sharpstream.learners.contract import Learner
from sharpstream.rundir import Log, RunDirectory, differences, log_mark, settings_differences
from sharpstream.streams.base import Stream
from sharpstream.tally import Tally, same_form
from sharpstream.version import __version__


class RunState:
    """A learner on a stream, in a directory, at some token."""

    def __init__(self, directory: RunDirectory, config: RunConfig, stream: Stream, learner: Learner) -> None:
        self.directory, self.config, self.stream, self.learner = directory, config, stream, learner
        self.metrics = Log(directory.metrics_file)
        self.interval, self.total = Tally(), Tally()
        self.part = Tally()  # since the last mark of a part of the stream, such as a book
        self.before: Mapping[str, Any] = self.totals()  # the learner's totals when the interval began
        self.last_bits = math.nan  # of the interval before this one
        self.kept = checkpoint.KEPT

    def totals(self) -> Mapping[str, Any]:
        """What the learner itself counts."""
        return self.learner.metrics()

    def save(self) -> None:
        """A checkpoint of everything, the log made durable first."""
        checkpoint.save(self.directory.checkpoints, self.learner.state_dict(), self.record(), kept=self.kept)

    def state_limit(self) -> int:
        """The most bytes this learner's state can take."""
        return checkpoint.largest_state(self.learner)

    def record(self) -> dict[str, Any]:
        """What the checkpoint's `state.json` says beside the learner's arrays."""
        size, sha256 = self.metrics.settle()
        return {
            "tokens": self.total.tokens,
            "version": __version__,
            "config": to_dict(self.config),
            "stream": dict(self.stream.identity()),
            "interval": vars(self.interval),
            "total": vars(self.total),
            "part": vars(self.part),
            "before": self.before,
            "last_bits": None if math.isnan(self.last_bits) else self.last_bits,
            "metrics_bytes": size,
            "metrics_sha256": sha256,
        }

    def resume(self, tell: Callable[[str], None]) -> int:
        """Continue exactly where the newest good checkpoint was made, or begin; the token that comes next."""
        saved = checkpoint.load_latest(self.directory.checkpoints, self.state_limit(), tell=tell, check=self._check_log)
        if saved is not None:
            self.look(saved)
            self.stream.seek(saved.tokens)
        self.metrics.cut(0 if saved is None else log_mark(saved)[0])
        return self.total.tokens

    def _check_log(self, saved: checkpoint.Checkpoint) -> None:
        """A checkpoint is only as good as the log it continues: an older one may need less of it."""
        size, sha256 = log_mark(saved)
        if not self.metrics.begins_with(size, sha256):
            raise checkpoint.Damaged(
                f"{self.metrics.path} is damaged: its first {size:,} bytes are not those that {saved.path} continues"
            )

    def look(self, saved: checkpoint.Checkpoint) -> None:
        """Take a checkpoint's state without touching log or stream."""
        self._check_same(saved)
        self.adopt(saved)

    def adopt(self, saved: checkpoint.Checkpoint) -> None:
        """Take a checkpoint's state, whatever its settings were; refuse one that cannot be this learner's."""
        record = saved.record
        try:
            self.interval, self.total = Tally.from_record(record["interval"]), Tally.from_record(record["total"])
            self.part = Tally.from_record(record.get("part", vars(Tally())))  # older records have none
            if self.total.tokens != saved.tokens or max(self.interval.tokens, self.part.tokens) > saved.tokens:
                raise ValueError("its counts of tokens contradict one another")
            bits, before = record["last_bits"], record["before"]
            if not (bits is None or (type(bits) is float and math.isfinite(bits))) or not same_form(
                self.before, before
            ):
                raise ValueError("its totals are not those of this learner")
        except (KeyError, ValueError) as problem:
            raise RunError(f"the record of {saved.path} cannot be used: {problem}") from problem
        self.before, self.last_bits = before, math.nan if bits is None else bits
        try:
            self.learner.load_state_dict(saved.tensors)
        except (ValueError, TypeError, OverflowError, IndexError, RuntimeError) as problem:  # torch says RuntimeError
            raise RunError(f"the arrays of {saved.path} cannot be used: {problem}") from problem

    def _check_same(self, saved: checkpoint.Checkpoint) -> None:
        """Refuse a checkpoint of another config or another stream, naming what differs; more tokens are allowed."""
        config, stream = saved.record.get("config"), saved.record.get("stream")
        if not isinstance(config, Mapping) or not isinstance(stream, Mapping):
            raise RunError(f"the record of {saved.path} does not say which settings and stream it belongs to")
        ours, theirs = to_dict(self.config), _with_defaults(config)
        ours["tokens"] = theirs["tokens"] = max(ours["tokens"], saved.tokens)
        found = settings_differences(ours, theirs)
        found += [f"stream {line}" for line in differences(dict(self.stream.identity()), stream)]
        if found:
            raise RunError(f"{saved.path} belongs to another run; what differs: {'; '.join(found)}")


def _with_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """A record's settings, with those that did not exist when it was written: they had what is the default now."""
    try:
        return to_dict(from_dict(RunConfig, config))
    except ConfigError:  # not ours: what differs is told as it stands
        return dict(config)
