"""Learn from a stream once, as it arrives: SHARP and its baselines under one contract.

A learner takes tokens (integers below its vocabulary), scores each before it learns from it, and never looks again:

>>> import numpy as np
>>> from sharpstream import Counts, CountsConfig
>>> learner = Counts(CountsConfig(order=2, table_bits=10), vocabulary=3)
>>> bits = learner.learn(np.array([0, 1, 2] * 100))  # one number a token: -log2 of what it was given
>>> bool(bits[:3].mean() > bits[-3:].mean()), int(learner.predict().argmax())
(True, 0)

Learners      Sharp, Episodic, Recurrent (rnn, lstm, gru), Clockwork, Counts, TransformerLearner (needs torch);
              `Learner` is what each can do; `make_learner` makes one by its name
Settings      SharpConfig, SleepConfig, EpisodicConfig, RecurrentConfig, ClockworkConfig, TransformerConfig,
              CountsConfig, AdamConfig; RunConfig is a whole run, StreamConfig where its tokens come from
Streams       `open_stream`: synthetic ones, corpora, files, standard input
Runs          `run` learns in a directory that can be stopped and continued exactly; `load` gives its learner back
Scores        `score`: bits of unseen tokens with learning off
Own learners  `check_learner` tells what of the contract a learner of yours breaks; `LearnerBase` has its defaults
Errors        every mistake a person can make is a `SharpError` of one sentence

These names are kept from version to version; everything else may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sharpstream.version import __version__

if TYPE_CHECKING:
    from sharpstream.api import load, open_stream, run, score
    from sharpstream.checks import check_learner
    from sharpstream.config import (
        AdamConfig,
        ClockworkConfig,
        CountsConfig,
        EpisodicConfig,
        RecurrentConfig,
        RunConfig,
        SharpConfig,
        SleepConfig,
        StreamConfig,
        TransformerConfig,
    )
    from sharpstream.errors import SharpError
    from sharpstream.factory import make_learner
    from sharpstream.learners.clockwork import Clockwork
    from sharpstream.learners.contract import Learner, LearnerBase
    from sharpstream.learners.counts import Counts
    from sharpstream.learners.episodic import Episodic
    from sharpstream.learners.recurrent import Recurrent
    from sharpstream.learners.sharp import Sharp
    from sharpstream.reference.transformer import TransformerLearner

_HOMES = {  # where each public name lives; imported when it is first asked for, so that `import sharpstream` is quick
    "api": ("load", "open_stream", "run", "score"),
    "checks": ("check_learner",),
    "config": (
        "AdamConfig",
        "ClockworkConfig",
        "CountsConfig",
        "EpisodicConfig",
        "RecurrentConfig",
        "RunConfig",
        "SharpConfig",
        "SleepConfig",
        "StreamConfig",
        "TransformerConfig",
    ),
    "errors": ("SharpError",),
    "factory": ("make_learner",),
    "learners.clockwork": ("Clockwork",),
    "learners.contract": ("Learner", "LearnerBase"),
    "learners.counts": ("Counts",),
    "learners.episodic": ("Episodic",),
    "learners.recurrent": ("Recurrent",),
    "learners.sharp": ("Sharp",),
    "reference.transformer": ("TransformerLearner",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AdamConfig",
    "Clockwork",
    "ClockworkConfig",
    "Counts",
    "CountsConfig",
    "Episodic",
    "EpisodicConfig",
    "Learner",
    "LearnerBase",
    "Recurrent",
    "RecurrentConfig",
    "RunConfig",
    "Sharp",
    "SharpConfig",
    "SharpError",
    "SleepConfig",
    "StreamConfig",
    "TransformerConfig",
    "TransformerLearner",
    "__version__",
    "check_learner",
    "load",
    "make_learner",
    "open_stream",
    "run",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sharpstream' has no attribute {name!r}; its public names are in __all__")
    found = getattr(import_module(f"sharpstream.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
