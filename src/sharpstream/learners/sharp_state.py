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
from sharpstream.learners.sharp_fields import differing, fields, in_table_order, trained_awake
from sharpstream.learners.sharp_parameters import active_names
from sharpstream.learners.sharp_wake import Mind
from sharpstream.memory.kinds import state_size

if TYPE_CHECKING:
    from sharpstream.learners.sharp import Sharp

MOST = np.iinfo(np.int64).max // 2  # above any count, below where one more would overflow


def make_mind(config: SharpConfig) -> Mind:
    """A mind that has seen nothing."""
    levels, width, window, tags = config.levels, config.width, config.window, config.sleep.tags
    lowest, upper = state_size(config, 1), state_size(config, 2)

    def floats(*shape: int) -> Array:
        return np.zeros(shape, dtype=config.dtype)

    def integers(*shape: int) -> Array:
        return np.zeros(shape, dtype=np.int64)

    return Mind(
        states=floats(levels, max(lowest, upper)),
        carried=floats(levels, max(lowest, upper)),
        tokens=integers(window),
        inputs=floats(window, config.input_size),
        windows=floats(levels if config.train_upper_awake else 0, window, width),
        fill=integers(levels),
        ema=np.zeros(levels),
        expected=np.zeros(1),
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
        tags_state=floats(tags, lowest),
        tags_context=floats(tags, width),
        tag_count=integers(1),
        tag_next=integers(1),
    )


def _held(config: SharpConfig, mind: Mind) -> dict[str, Array]:
    """Name → where that field of the table lies in the mind: views, through which it is read and written.

    Not here: the tags, a ring whose order is no part of the state, and what the learner counts itself.
    """
    sizes = {level: state_size(config, level) for level in range(1, config.levels + 1)}
    held = {f"hidden.{level}": mind.states[level - 1, :size] for level, size in sizes.items()}
    for level in trained_awake(config):
        held[f"carried.{level}"] = mind.carried[level - 1, : sizes[level]]
        window = mind.windows[level - 1] if level > 1 else mind.inputs if config.input_size else mind.tokens
        held[f"window.{level}"] = window[len(window) - int(mind.fill[level - 1]) :]  # the filled part, oldest first
    held |= {"ema": mind.ema, "recon.sum": mind.recon_sum, "recon.count": mind.recon_count, "updates": mind.updates}
    for name in ("observed", "clock", "tagged", "since_sleep", "floor"):
        held[name] = getattr(mind, name).reshape(())  # one number
    if config.tags_by_prediction:
        held["expected"] = mind.expected.reshape(())
    if config.credit == "on-tick":
        held |= {"credit.pending": mind.pending[1:], "credit.ticks": mind.ticks[1:]}
    return held


def tags_in_order(mind: Mind) -> tuple[Array, Array]:
    """The tagged (memory 1, c²), oldest first: copies, (n, S) and (n, H)."""
    count, capacity = int(mind.tag_count[0]), len(mind.tags_state)
    order = (int(mind.tag_next[0]) - count + np.arange(count)) % capacity
    return mind.tags_state[order], mind.tags_context[order]


def state_dict(learner: "Sharp") -> State:
    """Copies of everything that decides what happens next."""
    layout, model, config = learner.layout, learner.model, learner.config
    state: State = {name: layout.view(model.p, name).copy() for name in layout.names}
    for name in active_names(config, layout):
        state[f"adam.m.{name}"] = layout.view(model.m, name).copy()
        state[f"adam.v.{name}"] = layout.view(model.v, name).copy()
    held = {name: view.copy() for name, view in _held(config, learner.mind).items()}
    held |= {"sleeps": np.array(learner.sleeps), "seed": np.array(learner.seed)}
    held["tags.hidden"], held["tags.context"] = tags_in_order(learner.mind)
    return state | in_table_order(config, held)


def load_state_dict(learner: "Sharp", state: Mapping[str, Array]) -> None:
    """Continue from a state; every array is checked before any is written."""
    _check(learner, state)
    layout, model, mind, config = learner.layout, learner.model, learner.mind, learner.config
    for name in layout.names:
        layout.view(model.p, name)[...] = state[name]
    for name in active_names(config, layout):
        layout.view(model.m, name)[...] = state[f"adam.m.{name}"]
        layout.view(model.v, name)[...] = state[f"adam.v.{name}"]
    for level in trained_awake(config):
        mind.fill[level - 1] = len(state[f"window.{level}"])  # first: it says where the windows lie
    for name, view in _held(config, mind).items():
        view[...] = state[name]
    learner.sleeps, learner.seed = int(state["sleeps"]), int(state["seed"])
    count = len(state["tags.hidden"])
    mind.tags_state[:count], mind.tags_context[:count] = state["tags.hidden"], state["tags.context"]
    mind.tag_count[0], mind.tag_next[0] = count, count % len(mind.tags_state)
    desk = learner.desk
    desk.stale[0] = config.levels
    desk.tagging[0] = desk.due[0] = desk.failed[0] = desk.lowest.aligned[0] = 0


def _check(learner: "Sharp", state: Mapping[str, Array]) -> None:
    """Refuse a state whose names, shapes, kinds or contents cannot be this learner's."""
    own, table = state_dict(learner), fields(learner.config)
    if own.keys() != state.keys():
        raise RunError(f"this state is not of this learner: the arrays {differing(own, state)} are missing or unknown")
    for name, mine in own.items():
        given = np.asarray(state[name])
        alike = given.shape == mine.shape and given.dtype.kind == mine.dtype.kind
        if not (table[name].fits(given) if name in table else alike):
            raise RunError(
                f"the state's {name} is {given.dtype} {given.shape}, but this learner's is {mine.dtype} {mine.shape}"
            )
        _check_values(name, given, name.startswith("adam.v.") or (name in table and not table[name].below_zero))
    if len(state["tags.hidden"]) != len(state["tags.context"]):
        raise RunError("the state's tags.hidden and tags.context differ in length")
    if "window.1" in table and not learner.config.input_size:
        check_state_tokens("window.1", np.asarray(state["window.1"]), learner.vocabulary)


def _check_values(name: str, given: Array, never_below_zero: bool) -> None:
    """Refuse numbers that no learning leaves behind: a count or a seed below 0, squares below 0, nothing finite."""
    if given.dtype.kind == "i":
        sound = bool((given < MOST).all())
    else:
        sound = bool(np.isfinite(given).all()) or (name == "floor" and bool(given == np.inf))
    if not sound or (never_below_zero and bool((given < 0).any())):
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
