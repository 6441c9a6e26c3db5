"""The public functions: a stream by its name, a run in a directory, its learner back, and a frozen score.

Thin doors to `streams/`, `loop.py`, `frozen.py` and `evaluate/`, with paths and names as people write them.
`import sharpstream` gives them.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sharpstream import frozen, loop, streams
from sharpstream.config import RunConfig, StreamConfig
from sharpstream.evaluate.probes import ProbeRow, score_probe
from sharpstream.learners.contract import Learner, Tokens
from sharpstream.streams.base import Stream


def open_stream(stream: str | StreamConfig, *, seed: int = 0) -> Stream:
    """A stream by its name (linear, random, nonlinear, python-docs, text8, pg19, a file path, -) or by its settings.

    >>> stream = open_stream("linear")
    >>> stream.vocabulary, stream.take(5).tolist(), stream.position
    (7, [0, 1, 2, 3, 4], 5)
    """
    return streams.open_stream(StreamConfig(name=stream) if isinstance(stream, str) else stream, seed=seed)


def run(directory: str | PathLike[str], config: RunConfig, *, checkpoint_seconds: float = 300.0) -> Mapping[str, Any]:
    """Start the run in a directory, or continue the one that is there; its summary when it is finished.

    Ctrl-C saves and raises `loop.Stopped`; the same call then goes on exactly there. More tokens later continue it.

    >>> import tempfile
    >>> from sharpstream import CountsConfig
    >>> config = RunConfig(learner="counts", tokens=2_000, counts=CountsConfig(order=2, table_bits=10))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     first = run(f"{directory}/out", config)
    ...     more = run(f"{directory}/out", config.replace(tokens=3_000))
    >>> first["tokens"], more["tokens"], more["learner"]
    (2000, 3000, 'counts')
    """
    return loop.run(Path(directory), config, checkpoint_seconds=checkpoint_seconds)


def load(directory: str | PathLike[str]) -> Learner:
    """The learner of a run as its newest checkpoint left it; the directory is only read.

    >>> import tempfile
    >>> from sharpstream import CountsConfig
    >>> config = RunConfig(learner="counts", tokens=2_000, counts=CountsConfig(order=2, table_bits=10))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     summary = run(f"{directory}/out", config)
    ...     learner = load(f"{directory}/out")
    >>> learner.name, learner.vocabulary, learner.predict().shape
    ('counts', 7, (7,))
    """
    return frozen.opened(Path(directory)).learner


def score(learner: Learner, tokens: Tokens) -> ProbeRow:
    """Mean bits (true and capped), accuracy and the bits of each twentieth of these tokens, with learning off.

    >>> import numpy as np
    >>> from sharpstream import Counts, CountsConfig
    >>> learner = Counts(CountsConfig(order=1, table_bits=10), vocabulary=2)
    >>> bits = learner.learn(np.array([0, 1] * 50))
    >>> found = score(learner, np.array([0, 1] * 10))
    >>> found.tokens, bool(found.bits < 0.2)
    (20, True)
    """
    return score_probe(learner, tokens, probe="given")
