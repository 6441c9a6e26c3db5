"""Frozen looks back during a run: the first tokens of every interval of the stream, scored again and again.

Segments are read anew from a stream of their own by position, so nothing is kept in memory and a resumed run probes the
same tokens. Each measurement is one row of the probe-segment × time matrix in `metrics.jsonl`.
"""

from collections.abc import Mapping
from typing import Any

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Learner
from sharpstream.streams import open_stream


class Probes:
    """Segment i is tokens [i·every, i·every + length); at time k·every, 0..k−1 have been learned and k has not."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        if config.probe_every and config.probe_length > config.probe_every:
            raise ConfigError(
                f"probe_length = {config.probe_length}: it must not exceed probe_every ({config.probe_every})"
            )
        if config.probe_every and config.stream.name == "-":
            raise ConfigError("standard input cannot be read twice, so it cannot be probed: set probe_every = 0")

    def measure(self, learner: Learner, time: int) -> Mapping[str, Any]:
        """Bits of every segment learned so far and of the next one, unseen, on a frozen copy."""
        every, length = self.config.probe_every, self.config.probe_length
        stream = open_stream(self.config.stream, seed=self.config.seed)
        bits: list[float | None] = []
        for segment in range(time // every + 1):
            if stream.length is not None and segment * every + length > stream.length:
                break
            stream.seek(segment * every)
            bits.append(float(learner.evaluate(stream.take(length)).mean()))
        return {"event": "probe", "tokens": time, "every": every, "length": length, "bits": bits}
