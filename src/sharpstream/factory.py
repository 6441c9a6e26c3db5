"""The table of learners: one entry each, and everything that others know of a learner by its name comes from here.

To add one: write it in a file of its own under the contract (`learners/contract.py`), give its settings a field of
`RunConfig`, and add its entry. Nothing is imported before it is asked for.
"""

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy.typing as npt

from sharpstream.config import RunConfig, StreamConfig
from sharpstream.errors import ConfigError
from sharpstream.learners.contract import Learner
from sharpstream.streams.catalogue import SYNTHETIC

Vectors = npt.NDArray[Any] | None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One learner. A class is named `module:Class` and made as Class(settings, vocabulary, seed=..., vectors=...)."""

    settings: str
    """Which field of `RunConfig` holds its settings."""
    made: str
    """The class that learns."""
    twin: str = ""
    """Its PyTorch reference, where it has one."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the name itself decides."""
    more: Callable[[RunConfig, int], Mapping[str, Any]] = lambda config, vocabulary: {}
    """Further arguments of the class, from the whole run and the vocabulary: a learner made of another, for one."""
    shortest: Callable[[Any], int] = lambda settings: 1
    """The shortest stream it can learn from: one full window, where it has one."""
    needs_torch: bool = False
    label: str
    """In tables and figures."""
    colour: str
    line: str = "-"
    marker: str = "o"


def _window(settings: Any) -> int:
    return int(settings.window)


def _window_and_next(settings: Any) -> int:
    return int(settings.window) + 1  # T inputs and the one they predict


def _expert(config: RunConfig, vocabulary: int) -> Mapping[str, Any]:
    """The learner that the episodic one listens to, if it asks for one."""
    kind = config.episodic.expert
    return {} if kind == "none" else {"expert": make_learner(config.replace(learner=kind, engine="fused"), vocabulary)}


_RECURRENT: Mapping[str, Any] = {
    "settings": "recurrent",
    "made": "sharpstream.learners.recurrent:Recurrent",
    "twin": "sharpstream.reference.recurrent:ReferenceRecurrent",
    "shortest": _window_and_next,
}
_COUNTS: Mapping[str, Any] = {"settings": "counts", "made": "sharpstream.learners.counts:Counts"}

LEARNERS: dict[str, Entry] = {
    "sharp": Entry(
        settings="sharp",
        made="sharpstream.learners.sharp:Sharp",
        twin="sharpstream.reference.sharp:ReferenceSharp",
        shortest=_window,
        label="SHARP",
        colour="#D55E00",
    ),
    "rnn": Entry(**_RECURRENT, fixed={"cell": "rnn"}, label="RNN", colour="#56B4E9", marker="s"),
    "lstm": Entry(**_RECURRENT, fixed={"cell": "lstm"}, label="LSTM", colour="#0072B2", marker="D"),
    "gru": Entry(**_RECURRENT, fixed={"cell": "gru"}, label="GRU", colour="#009E73", marker="^"),
    "clockwork": Entry(
        settings="clockwork",
        made="sharpstream.learners.clockwork:Clockwork",
        twin="sharpstream.reference.clockwork:ReferenceClockwork",
        shortest=_window,
        label="Clockwork RNN",
        colour="#009E73",
        line="--",
        marker="v",
    ),
    "transformer": Entry(
        settings="transformer",
        made="sharpstream.reference.transformer:TransformerLearner",
        needs_torch=True,
        label="Transformer",
        colour="#000000",
        line="-.",
        marker="*",
    ),
    "counts": Entry(**_COUNTS, label="Counts", colour="#7F7F7F", marker="p"),
    "unigram": Entry(**_COUNTS, fixed={"order": 0}, label="Unigram", colour="#BFBFBF", line="-.", marker="d"),
    "uniform": Entry(**_COUNTS, fixed={"order": -1}, label="Uniform", colour="#BFBFBF", line=":", marker="."),
    "episodic": Entry(
        settings="episodic",
        made="sharpstream.learners.episodic:Episodic",
        more=_expert,
        label="Episodic",
        colour="#56B4E9",
        line="--",
        marker="*",
    ),
}


def entry_of(name: str) -> Entry:
    """The entry of that name, or an error that lists them."""
    if name not in LEARNERS:
        near = difflib.get_close_matches(name, LEARNERS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigError(f"there is no learner {name!r}{hint}; there are: {', '.join(LEARNERS)}")
    return LEARNERS[name]


def make_learner(config: RunConfig, vocabulary: int, *, vectors: Vectors = None) -> Learner:
    """The learner a run asks for, before its first token.

    >>> make_learner(RunConfig(learner="unigram"), vocabulary=3).predict().round(2).tolist()
    [0.33, 0.33, 0.33]
    """
    name, entry = config.learner, entry_of(config.learner)
    if config.engine == "reference" and not entry.twin:
        twins = ", ".join(other for other, found in LEARNERS.items() if found.twin)
        raise ConfigError(f"engine = 'reference': {name} has no twin; only {twins} do")
    reference = config.engine == "reference"
    if reference or entry.needs_torch:
        require_torch(f"the reference engine of {name}" if reference else f"the {entry.label}")
    settings = dataclasses.replace(model_of(config), **entry.fixed)
    given = {**({} if vectors is None else {"vectors": vectors}), **entry.more(config, vocabulary)}
    module, _, kind = (entry.twin if reference else entry.made).partition(":")
    learner: Learner = getattr(import_module(module), kind)(settings, vocabulary, seed=config.seed, **given)
    return learner


def learner_for(stream: StreamConfig) -> str:
    """Who reads a stream when nobody says: SHARP the synthetic ones, whose rules reach far back; else the episodic one.

    >>> learner_for(StreamConfig(name="nonlinear")), learner_for(StreamConfig(name="text8"))
    ('sharp', 'episodic')
    """
    return "sharp" if stream.name in SYNTHETIC else "episodic"


def model_of(config: RunConfig) -> Any:
    """The settings of the learner that this run names, as they stand in its config."""
    return getattr(config, entry_of(config.learner).settings)


def window_of(config: RunConfig) -> int:
    """The shortest stream this learner can learn from."""
    return entry_of(config.learner).shortest(model_of(config))


def available(config: RunConfig) -> bool:
    """Whether what this run's learner needs is installed."""
    if not (config.engine == "reference" or entry_of(config.learner).needs_torch):
        return True
    try:
        require_torch(config.learner)
    except ConfigError:
        return False
    return True


def require_torch(what: str) -> None:
    """Refuse in one sentence when PyTorch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError as problem:
        raise ConfigError(f"{what} needs PyTorch: pip install 'sharpstream[torch]'") from problem
