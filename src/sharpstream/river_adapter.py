"""A learner of ours as a river classifier: what comes next in a stream of labels, from the labels that came before.

`learn_one(x, y)` takes the next label, `predict_proba_one(x)` says what it expects; the features x are not looked at.
Needs the extra `river`; nothing else of the package imports it.
"""

from collections.abc import Mapping
from typing import Any

from river import base

from sharpstream.config import CountsConfig, EpisodicConfig, RunConfig
from sharpstream.errors import ConfigError
from sharpstream.factory import make_learner
from sharpstream.learners.contract import Learner


class NextLabel(base.Classifier):
    """Predicts the next label of a stream from the labels before it; the features are not looked at.

    Parameters
    ----------
    learner
        The name of a learner: episodic, counts, sharp, rnn, lstm, gru, clockwork.
    classes
        How many different labels there can be; one more is an error.
    memory
        The budget of the episodic learner's memory.
    seed
        Of the learner's first weights and of its dreams.

    Examples
    --------
    >>> from sharpstream.river_adapter import NextLabel
    >>> model = NextLabel(learner="counts")
    >>> for i in range(60):
    ...     model.learn_one({}, "abc"[i % 3])
    >>> model.predict_one({})
    'a'
    """

    def __init__(self, learner: str = "episodic", classes: int = 64, memory: str = "4MB", seed: int = 0) -> None:
        self.learner = learner
        self.classes = classes
        self.memory = memory
        self.seed = seed
        self._labels: list[Any] = []
        self._reader: Learner | None = None

    @property
    def _multiclass(self) -> bool:
        return True

    def _made(self) -> Learner:
        """The learner, made when it is first needed."""
        if self._reader is None:
            config = RunConfig(
                learner=self.learner,
                seed=self.seed,
                episodic=EpisodicConfig(memory=self.memory, network=0, residual=False, mean_every=0),
                counts=CountsConfig(table_bits=12),
            )
            self._reader = make_learner(config, self.classes)
        return self._reader

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        if y not in self._labels:
            if len(self._labels) == self.classes:
                raise ConfigError(f"{y!r} is label number {self.classes + 1}; classes = {self.classes}: make it larger")
            self._labels.append(y)
        self._made().observe(self._labels.index(y))

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Probabilities of the labels seen so far; empty before the first."""
        if not self._labels:
            return {}
        p = self._made().predict()[: len(self._labels)]
        return dict(zip(self._labels, (p / p.sum()).tolist(), strict=True))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "_reader"}
        return {**state, "_kept": None if self._reader is None else self._reader.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = state.pop("_kept")
        vars(self).update(state)
        self._reader = None
        if kept is not None:
            self._made().load_state_dict(kept)
