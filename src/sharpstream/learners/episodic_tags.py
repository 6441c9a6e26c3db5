"""The tags of the episodic learner as state: how they are made, saved, and audited when they come from outside.

A tag is one line of whole and one of real numbers, the desk's fields one after another (`episodic_sleep.py` writes
and reads them in this order). The loop trusts them without bounds checks, so every one is checked here.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sharpstream.config import EpisodicConfig
from sharpstream.errors import RunError
from sharpstream.learners.contract import Array, State
from sharpstream.learners.episodic_arrays import FINAL_ROWS
from sharpstream.learners.episodic_desk import Desk
from sharpstream.pattern.episodic_selectors import ROWS, SIZES
from sharpstream.sleep.episodic_replay import ASKED, STORED, Tags

if TYPE_CHECKING:
    from sharpstream.learners.episodic import Episodic

COUNT, TARGET, ROW, HEAD = 0, 1, 2, 3  # a tag's whole numbers begin with these
WHOLE = ("first", "candidate", "counts", "expected", "rows", "final_rows", "network_rows")  # after the candidates
REAL = ("value", "power", "match_value", "residual", "dense")
LARGEST = 1e9


def make_tags(config: EpisodicConfig, desk: Desk) -> Tags:
    """No tag yet; no room for one where nothing is replayed from store."""
    tags = config.replay_tags if config.replay in ("uniform", "recent", "surprising") else 0
    whole = HEAD + len(desk.total) + sum(getattr(desk, name).size for name in WHOLE)
    real = sum(getattr(desk, name).size for name in REAL)
    return Tags(
        counts=np.zeros(2, dtype=np.int64),
        mean=np.zeros(1),
        whole=np.zeros((tags, whole), dtype=np.int32),
        real=np.zeros((tags, real), dtype=config.dtype),
    )


def tags_state(tags: Tags) -> State:
    """Copies of the tags that are filled; nothing where none are ever kept."""
    if not len(tags.whole):
        return {}
    filled = min(int(tags.counts[STORED]), len(tags.whole))
    return {
        "tags.counts": tags.counts.copy(), "tags.mean": tags.mean.copy(),
        "tags.whole": tags.whole[:filled].copy(), "tags.real": tags.real[:filled].copy(),
    }  # fmt: skip


def tags_from(learner: "Episodic", state: Mapping[str, Array]) -> Tags:
    """Sound tags of a state, in arrays of their own."""
    mine = learner.tags
    if not len(mine.whole):
        return mine
    given = {name: np.asarray(state[f"tags.{name}"]) for name in Tags._fields}
    counts = given["counts"]
    sound = counts.shape == (2,) and counts.dtype == np.int64 and 0 <= counts[STORED] <= counts[ASKED] < 2**62
    if not sound or given["mean"].shape != (1,) or not 0.0 <= float(given["mean"][0]) < LARGEST:
        raise RunError("the state's tags.counts or tags.mean are impossible")
    tags = Tags(counts.copy(), given["mean"].astype(np.float64), np.zeros_like(mine.whole), np.zeros_like(mine.real))
    filled = min(int(counts[STORED]), len(mine.whole))
    for name, own in (("whole", tags.whole), ("real", tags.real)):
        array = given[name]
        if array.shape != (filled, own.shape[1]) or array.dtype != own.dtype:
            raise RunError(f"the state's tags.{name} is {array.dtype} {array.shape}, not {own.dtype} of {filled} tags")
        own[:filled] = array
    if not np.isfinite(tags.real).all() or not (np.abs(tags.real) <= LARGEST).all():
        raise RunError("the state's tags.real holds numbers that no prediction leaves behind")
    if not all(_is_sound(learner, line) for line in tags.whole[:filled]):
        raise RunError("the state's tags.whole is damaged: a tag points to what is not there")
    return tags


def _parts(desk: Desk, line: Array) -> Iterator[Array]:
    at = HEAD
    for size in (len(desk.total), *(getattr(desk, name).size for name in WHOLE)):
        yield line[at : at + size]
        at += size


def _is_sound(learner: "Episodic", line: Array) -> bool:
    desk, vocabulary, most = learner.desk, learner.vocabulary, len(learner.desk.total)
    candidates, first, candidate, counts, expected, rows, final_rows, network_rows = _parts(desk, line)
    count, target, row = (int(line[i]) for i in (COUNT, TARGET, ROW))
    if not (1 <= count <= most and 0 <= target < count and 0 <= row < SIZES[1]):
        return False
    if first[0] != 0 or (np.diff(first) < 0).any() or first[-1] > candidate.size:
        return False
    named, pairs = candidates[:count], int(first[-1])
    if np.unique(named).size < count or (most == vocabulary and not np.array_equal(named, np.arange(vocabulary))):
        return False
    width = learner.config.network
    network = len(learner.pattern.inputs) // width if width else 1
    return bool(
        _within(named, 0, vocabulary) and _within(candidate[:pairs], -1, count) and _within(counts[:pairs], 1, 256)
        and _within(expected, -1, vocabulary) and _within(rows, 0, ROWS) and _within(final_rows, 0, FINAL_ROWS)
        and _within(network_rows, 0, network)
    )  # fmt: skip


def _within(values: Array, low: int, high: int) -> bool:
    return bool(((values >= low) & (values < high)).all())
