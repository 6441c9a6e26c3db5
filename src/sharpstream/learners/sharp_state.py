"""SHARP's whole state as a flat dict of named arrays, the same names and shapes in both engines.

Every weight is updated in the step that computed its gradient; only with on-tick credit there are sums that wait for
their level's tick. What the desk holds is recomputed from the state by the same machine code.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.config import SharpConfig
from sharpstream.errors import RunError
from sharpstream.learners.contract import Array, State, check_state_tokens
from sharpstream.learners.sharp_parameters import active_names
from sharpstream.learners.sharp_wake import Mind

if TYPE_CHECKING:
    from sharpstream.learners.sharp import Sharp

PER_LEVEL = {"ema": "ema", "recon.sum": "recon_sum", "recon.count": "recon_count", "updates": "updates"}
MOST = np.iinfo(np.int64).max // 2  # above any count, below where one more would overflow
COUNTERS = ("observed", "clock", "tagged", "since_sleep", "floor")


def make_mind(config: SharpConfig) -> Mind:
    """A mind that has seen nothing."""
    levels, width, window, tags = config.levels, config.width, config.window, config.sleep.tags

    def floats(*shape: int) -> Array:
        return np.zeros(shape, dtype=config.dtype)

    def integers(*shape: int) -> Array:
        return np.zeros(shape, dtype=np.int64)

    return Mind(
        hidden=floats(levels, width),
        carried=floats(levels, width),
        tokens=integers(window),
        inputs=floats(window, config.input_size),
        windows=floats(levels if config.train_upper_awake else 0, window, width),
        fill=integers(levels),
        ema=np.zeros(levels),
        recon_sum=np.zeros(levels),
        recon_count=integers(levels),
        updates=integers(levels),
        pending=floats(levels, width),
        ticks=integers(levels),
        observed=integers(1),
        clock=integers(1),
        tagged=integers(1),
        since_sleep=integers(1),
        floor=np.full(1, np.inf),
        tags_hidden=floats(tags, width),
        tags_context=floats(tags, width),
        tag_count=integers(1),
        tag_next=integers(1),
    )


def tags_in_order(mind: Mind) -> tuple[Array, Array]:
    """The tagged (h¹, c²), oldest first: copies, (n, H) each."""
    count, capacity = int(mind.tag_count[0]), len(mind.tags_hidden)
    order = (int(mind.tag_next[0]) - count + np.arange(count)) % capacity
    return mind.tags_hidden[order], mind.tags_context[order]


def _windows(learner: "Sharp") -> dict[str, Array]:
    """Name → the filled part of each window, oldest first (views)."""
    mind, config = learner.mind, learner.config
    lowest = mind.inputs if config.input_size else mind.tokens
    windows = {"window.1": lowest[len(lowest) - int(mind.fill[0]) :]}
    if config.train_upper_awake:
        for level in range(2, config.levels + 1):
            windows[f"window.{level}"] = mind.windows[level - 1][config.window - int(mind.fill[level - 1]) :]
    return windows


def state_dict(learner: "Sharp") -> State:
    """Copies of everything that decides what happens next."""
    layout, model, mind = learner.layout, learner.model, learner.mind
    state: State = {name: layout.view(model.p, name).copy() for name in layout.names}
    for name in active_names(learner.config, layout):
        state[f"adam.m.{name}"] = layout.view(model.m, name).copy()
        state[f"adam.v.{name}"] = layout.view(model.v, name).copy()
    for level in range(1, learner.config.levels + 1):
        state[f"hidden.{level}"] = mind.hidden[level - 1].copy()
        if level == 1 or learner.config.train_upper_awake:
            state[f"carried.{level}"] = mind.carried[level - 1].copy()
    state |= {name: window.copy() for name, window in _windows(learner).items()}
    state |= {name: getattr(mind, field).copy() for name, field in PER_LEVEL.items()}
    state |= {name: getattr(mind, name)[0].copy() for name in COUNTERS}
    state |= {"sleeps": np.array(learner.sleeps), "seed": np.array(learner.seed)}
    if learner.config.credit == "on-tick":
        state |= {"credit.pending": mind.pending[1:].copy(), "credit.ticks": mind.ticks[1:].copy()}
    state["tags.hidden"], state["tags.context"] = tags_in_order(mind)
    return {name: np.asarray(array) for name, array in state.items()}


def load_state_dict(learner: "Sharp", state: Mapping[str, Array]) -> None:
    """Continue from a state; every array is checked before any is written."""
    _check(learner, state)
    layout, model, mind = learner.layout, learner.model, learner.mind
    for name in layout.names:
        layout.view(model.p, name)[...] = state[name]
    for name in active_names(learner.config, layout):
        layout.view(model.m, name)[...] = state[f"adam.m.{name}"]
        layout.view(model.v, name)[...] = state[f"adam.v.{name}"]
    for level in range(1, learner.config.levels + 1):
        mind.hidden[level - 1] = state[f"hidden.{level}"]
        if level == 1 or learner.config.train_upper_awake:
            mind.carried[level - 1] = state[f"carried.{level}"]
            mind.fill[level - 1] = len(state[f"window.{level}"])
    for name, window in _windows(learner).items():
        window[...] = state[name]
    for name, field in PER_LEVEL.items():
        getattr(mind, field)[...] = state[name]
    for name in COUNTERS:
        getattr(mind, name)[0] = state[name]
    if learner.config.credit == "on-tick":
        mind.pending[1:], mind.ticks[1:] = state["credit.pending"], state["credit.ticks"]
    learner.sleeps, learner.seed = int(state["sleeps"]), int(state["seed"])
    count = len(state["tags.hidden"])
    mind.tags_hidden[:count], mind.tags_context[:count] = state["tags.hidden"], state["tags.context"]
    mind.tag_count[0], mind.tag_next[0] = count, count % len(mind.tags_hidden)
    desk = learner.desk
    desk.stale[0] = learner.config.levels
    desk.tagging[0] = desk.due[0] = desk.failed[0] = desk.lowest.aligned[0] = 0


def _check(learner: "Sharp", state: Mapping[str, Array]) -> None:
    """Refuse a state whose names, shapes, kinds or contents cannot be this learner's."""
    own = state_dict(learner)
    if own.keys() != state.keys():
        differing = ", ".join(sorted(own.keys() ^ state.keys())[:5])
        raise RunError(f"this state is not of this learner: the arrays {differing} are missing or unknown")
    rows = {name: learner.config.window for name in own if name.startswith("window.")}
    rows |= dict.fromkeys(("tags.hidden", "tags.context"), learner.config.sleep.tags)
    for name, mine in own.items():
        given = np.asarray(state[name])
        variable = name in rows  # windows and tags may be part full
        shape_fits = given.ndim == mine.ndim and given.shape[variable:] == mine.shape[variable:]
        if not shape_fits or given.dtype.kind != mine.dtype.kind or (variable and len(given) > rows[name]):
            raise RunError(
                f"the state's {name} is {given.dtype} {given.shape}, but this learner's is {mine.dtype} {mine.shape}"
            )
    if len(state["tags.hidden"]) != len(state["tags.context"]):
        raise RunError("the state's tags.hidden and tags.context differ in length")
    for name in own:
        _check_values(name, np.asarray(state[name]))
    if not learner.config.input_size:
        check_state_tokens("window.1", np.asarray(state["window.1"]), learner.vocabulary)


def _check_values(name: str, given: Array) -> None:
    """Refuse numbers that no learning leaves behind: a count or a seed below 0, squares below 0, nothing finite."""
    if given.dtype.kind == "i":
        sound = bool((given >= 0).all() and (given < MOST).all())
    else:
        sound = bool(np.isfinite(given).all()) or (name == "floor" and bool(given == np.inf))
        if name.startswith("adam.v.") or name in ("ema", "recon.sum", "floor"):
            sound = sound and bool((given >= 0).all())
    if not sound:
        raise RunError(f"the state's {name} holds numbers that no learning leaves behind")


def totals(learner: "Sharp") -> Mapping[str, Any]:
    """Totals since the start, for the log."""
    mind = learner.mind
    return {
        "updates": mind.updates.tolist(),
        "tagged": int(mind.tagged[0]),
        "tags_stored": int(mind.tag_count[0]),
        "sleeps": learner.sleeps,
        "recon_sum": mind.recon_sum.tolist(),
        "recon_count": mind.recon_count.tolist(),
        "ema": mind.ema.tolist(),
    }
