"""The whole state of a recurrent baseline as a flat dict of named arrays, the same names and shapes in both engines.

Little is needed besides parameters and moments: the state a window is read from, the window, and three counters. What
the desk holds is recomputed from them by the same machine code.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.errors import RunError
from sharpstream.learners.contract import Array, State, check_state_tokens

if TYPE_CHECKING:
    from sharpstream.learners.recurrent_learner import RecurrentLearner

COUNTERS = ("clock", "observed", "updates")


def state_dict(learner: "RecurrentLearner") -> State:
    """Copies of everything that decides what happens next."""
    layout, model, mind = learner.layout, learner.model, learner.mind
    state: State = {name: layout.view(model.p, name).copy() for name in layout.names}
    for name in layout.names:
        state[f"adam.m.{name}"] = layout.view(model.m, name).copy()
        state[f"adam.v.{name}"] = layout.view(model.v, name).copy()
    state["carried"] = mind.carried.copy()
    if len(mind.memory):
        state["carried_memory"] = mind.memory.copy()
    state["window"] = mind.tokens[mind.tokens.size - int(mind.fill[0]) :].copy()
    state |= {name: getattr(mind, name)[0].copy() for name in COUNTERS}
    state["seed"] = np.array(learner.seed)
    return state


def load_state_dict(learner: "RecurrentLearner", state: Mapping[str, Array]) -> None:
    """Continue from a state, checked whole before anything is changed."""
    check_state(state_dict(learner), state, learner.config.window, learner.vocabulary)
    layout, model, mind = learner.layout, learner.model, learner.mind
    for name in layout.names:
        layout.view(model.p, name)[...] = state[name]
        layout.view(model.m, name)[...] = state[f"adam.m.{name}"]
        layout.view(model.v, name)[...] = state[f"adam.v.{name}"]
    mind.carried[...] = state["carried"]
    if len(mind.memory):
        mind.memory[...] = state["carried_memory"]
    count = len(state["window"])
    mind.tokens[mind.tokens.size - count :] = state["window"]
    mind.fill[0] = count
    for name in COUNTERS:
        getattr(mind, name)[0] = state[name]
    learner.seed = int(state["seed"])
    learner.desk.ready[0] = learner.desk.failed[0] = 0


def check_state(own: State, state: Mapping[str, Array], window: int, vocabulary: int) -> None:
    """Refuse a state whose names, shapes, kinds or contents cannot be those of a learner whose state is `own`."""
    if own.keys() != state.keys():
        differing = ", ".join(sorted(own.keys() ^ state.keys())[:5])
        raise RunError(f"this state is not of this learner: the arrays {differing} are missing or unknown")
    for name, mine in own.items():
        given = np.asarray(state[name])
        fits = given.shape == mine.shape or (name == "window" and given.ndim == 1 and given.size <= window)
        if not fits or given.dtype.kind != mine.dtype.kind:
            raise RunError(
                f"the state's {name} is {given.dtype} {given.shape}, but this learner's is {mine.dtype} {mine.shape}"
            )
    check_state_tokens("window", np.asarray(state["window"]), vocabulary)
