"""The episodic learner's state as named arrays; of the memory only what is used, so a checkpoint grows with the past.

A state from outside is rebuilt beside the present one and audited before it takes its place: the loop runs without
bounds checks, so every symbol, place and level must be one that the learner itself could have left.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpstream.errors import RunError
from sharpstream.kernels.jit import lean_kernel
from sharpstream.learners import warm
from sharpstream.learners.contract import Array, Learner, State
from sharpstream.learners.episodic_arrays import KERNELS, Cursor, Memory, Pattern, aligned_zeros
from sharpstream.learners.episodic_tags import tags_from, tags_state
from sharpstream.learners.episodic_tail import make_tail
from sharpstream.memory.episodic_contexts import POSITION, RECENT, SHAPE, SHAPE_LENGTH
from sharpstream.memory.episodic_match import LENGTH, LONGEST, MISSES, PLACE
from sharpstream.memory.episodic_slots import DISTINCT, MOST, PAIRS, TOTAL, WAYS
from sharpstream.pattern.episodic_escape import HEAVIEST, WEIGHT
from sharpstream.pattern.episodic_residual import PLACES, ROW

if TYPE_CHECKING:
    from sharpstream.learners.episodic import Episodic

LARGEST = 1e9  # of any learned number
SQUARES = ("states", "match_states", "corrections", "residual_states")  # (value, sum of squares) side by side
COUNTED = ("unigram", "escapes", "lately")
EXPERT, TAIL = "expert.", "tail."  # the names of the states of other learners inside ours
SLOW = frozenset(name for name in (*Cursor._fields, *Pattern._fields) if name.startswith("slow_"))
MEAN = frozenset(name for name in Pattern._fields if name.startswith("mean_"))
OPTIONAL = SLOW | MEAN | {"residual_states", "residual_rows"}  # empty where the option is off


def state_dict(learner: "Episodic") -> State:
    """Copies of everything that decides what happens next; `slots.used` marks the slots that `slots` holds."""
    memory, cursor = learner.memory, learner.cursor
    warm.ensure(KERNELS, learner.config.dtype)
    used = np.zeros(int((memory.buckets * WAYS).sum()), dtype=np.uint8)
    packed = np.empty(count_used(memory, used), dtype=np.uint16)
    pack(memory, used, packed)
    filled = min(int(cursor.clock[1]) * learner.symbol_bytes, memory.ring.size)
    state: State = {
        "slots": packed,
        "slots.used": np.packbits(used),
        "ring": memory.ring[:filled].copy(),
        "places": memory.places.copy(),
    }
    state |= {name: array.copy() for name, array in _named(learner).items()}
    state |= tags_state(learner.tags)
    for prefix, inner in inner_learners(learner).items():
        state |= {prefix + name: array for name, array in inner.state_dict().items()}
    return state


def inner_learners(learner: "Episodic") -> dict[str, Learner]:
    """The learners inside this one, by the prefix of their arrays' names."""
    found = {EXPERT: learner.expert, TAIL: learner.tail}
    return {prefix: inner for prefix, inner in found.items() if inner is not None}


def load_state_dict(learner: "Episodic", state: Mapping[str, Array]) -> None:
    """Continue from a state; nothing is changed unless all of it is sound."""
    warm.ensure(KERNELS, learner.config.dtype)
    _check_shapes(learner, state)
    given = {name: np.array(state[name]) for name in _named(learner)}
    cursor = learner.cursor._replace(**{n[7:]: array for n, array in given.items() if n.startswith("cursor.")})
    pattern = learner.pattern._replace(**{n[8:]: array for n, array in given.items() if n.startswith("pattern.")})
    _check_cursor(learner, cursor)
    _check_pattern(pattern)
    tags = tags_from(learner, state)
    memory = _unpacked(learner, state, cursor)
    tail = make_tail(learner.config, learner.vocabulary)
    if tail is not None:
        tail.load_state_dict(_of(TAIL, state))
        memory = memory._replace(tail=tail.tables)
    if learner.expert is not None:
        learner.expert.load_state_dict(_of(EXPERT, state))  # refuses by itself, before anything is changed
    learner.memory, learner.cursor, learner.pattern = memory, cursor, pattern
    learner.tags, learner.tail = tags, tail


def _of(prefix: str, state: Mapping[str, Array]) -> dict[str, Array]:
    """The state of a learner inside this one."""
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _named(learner: "Episodic") -> dict[str, Array]:
    """Cursor and pattern by name; an option's arrays only where it is on."""
    named = {f"cursor.{name}": array for name, array in learner.cursor._asdict().items()}
    named |= {f"pattern.{name}": array for name, array in learner.pattern._asdict().items()}
    return {name: array for name, array in named.items() if array.size or name.partition(".")[2] not in OPTIONAL}


def _check_shapes(learner: "Episodic", state: Mapping[str, Array]) -> None:
    own: dict[str, Array] = {"places": learner.memory.places}
    own |= _named(learner)
    slots = int((learner.memory.buckets * WAYS).sum())
    own["slots.used"] = np.empty(-(-slots // 8), dtype=np.uint8)
    expected = own.keys() | {"slots", "ring"} | tags_state(learner.tags).keys()
    given = {name for name in state if not name.startswith(tuple(inner_learners(learner)))}
    if given != expected:
        differing = ", ".join(sorted(given ^ expected)[:5])
        raise RunError(f"this state is not of this learner: the arrays {differing} are missing or unknown")
    for name, mine in own.items():
        array = np.asarray(state[name])
        if array.shape != mine.shape or array.dtype != mine.dtype:
            raise RunError(
                f"the state's {name} is {array.dtype} {array.shape}, but this learner's is {mine.dtype} {mine.shape}"
            )
    for name, kind in (("slots", np.uint16), ("ring", np.uint8)):
        array = np.asarray(state[name])
        if array.ndim != 1 or array.dtype != kind:
            raise RunError(f"the state's {name} is {array.dtype} {array.shape}, but it must be a flat {kind.__name__}")


def _check_cursor(learner: "Episodic", cursor: Cursor) -> None:
    recent, clock, size = cursor.recent, cursor.clock, learner.ring_size
    if not 0 <= cursor.fill[0] <= RECENT:
        raise RunError(f"the state's cursor.fill is {cursor.fill[0]}, but it must be in 0..{RECENT}")
    if recent.min() < 0 or recent.max() >= learner.vocabulary:
        raise RunError(f"the state's cursor.recent holds symbols outside the vocabulary of {learner.vocabulary}")
    if clock.min() < 0 or clock.max() >= 2**62 or clock[1] > clock[0]:
        raise RunError(f"the state's cursor.clock {clock.tolist()} is impossible")
    if cursor.features[POSITION] > 255 or cursor.features[SHAPE] >= 1 << (2 * SHAPE_LENGTH):
        raise RunError("the state's cursor.features are impossible: a word's position or shape is out of range")
    slow = [array for name, array in cursor._asdict().items() if name in SLOW]
    if not all(np.isfinite(a).all() and (np.abs(a) <= LARGEST).all() for a in slow[:-1]) or (slow[-1] < 0).any():
        raise RunError("the state's cursor.slow_... hold numbers that no reading leaves behind")
    place, length, misses = cursor.matches[:, PLACE], cursor.matches[:, LENGTH], cursor.matches[:, MISSES]
    standing = place >= 0
    reachable = (place < clock[1]) & (clock[1] - place <= size - 2 * RECENT)
    sound = (place >= -1) & (~standing | reachable) & (length >= 0) & (length <= LONGEST) & (misses >= 0)
    if not (sound & (misses <= 255)).all():
        raise RunError("the state's cursor.matches point to what was never read, or have impossible lengths")


def _check_pattern(pattern: Pattern) -> None:
    for name, array in pattern._asdict().items():
        if not np.isfinite(array).all() or (array.size and float(np.abs(array).max()) > LARGEST):
            raise RunError(f"the state's pattern.{name} holds numbers that no learning leaves behind")
    for name in SQUARES:
        if not (getattr(pattern, name)[1::2] > 0).all():
            raise RunError(f"the state's pattern.{name} has sums of squares that are not above 0")
    for name in (
        "squares",
        "final_squares",
        "moments",
        "errors",
        "slow_moments",
        "slow_learned",
        "mean_looks",
        *COUNTED,
    ):
        if not (getattr(pattern, name) >= 0).all():
            raise RunError(f"the state's pattern.{name} must be at least 0")
    sums = np.array([getattr(pattern, name).sum() for name in COUNTED])
    if not np.allclose(pattern.sums[:WEIGHT], sums, rtol=1e-9, atol=1e-6):
        raise RunError(f"the state's pattern.sums {pattern.sums.tolist()} are not those of its counts {sums.tolist()}")
    if not 1.0 <= pattern.sums[WEIGHT] <= HEAVIEST:
        raise RunError(f"the state's pattern.sums gives the last symbol the weight {pattern.sums[WEIGHT]}, not 1..1e6")
    if not ((pattern.parts >= 0) & (pattern.parts <= 1)).all() or abs(float(pattern.parts.sum()) - 1.0) > 1e-6:
        raise RunError(f"the state's pattern.parts {pattern.parts.tolist()} must be shares that sum to 1")
    if not (pattern.slow_usual[pattern.slow_usual.size // 2 :] >= 0).all():
        raise RunError("the state's pattern.slow_usual has variances below 0")
    if not (pattern.residual_rows.reshape(-1, ROW)[:, PLACES] >= 0).all():
        raise RunError("the state's pattern.residual_rows has sums of squares below 0")
    for name in ("cells", "escape_correction"):
        array = getattr(pattern, name)
        if not ((array > 0) & (array < 1)).all():
            raise RunError(f"the state's pattern.{name} must be probabilities, above 0 and below 1")


def _unpacked(learner: "Episodic", state: Mapping[str, Array], cursor: Cursor) -> Memory:
    mine, packed, ring = learner.memory, np.ascontiguousarray(state["slots"]), np.asarray(state["ring"])
    used = np.unpackbits(np.asarray(state["slots.used"]))
    slots = int((mine.buckets * WAYS).sum())
    if used[slots:].any():
        raise RunError("the state's slots.used marks slots beyond the last")
    if width_of(mine, used) != packed.size:
        raise RunError(f"the state's slots has {packed.size} numbers, but slots.used marks {width_of(mine, used)}")
    filled = min(int(cursor.clock[1]) * learner.symbol_bytes, mine.ring.size)
    if ring.size != filled:
        raise RunError(f"the state's ring has {ring.size} bytes, but its clock says {filled}")
    symbols = (
        ring.astype(np.int64)
        if learner.symbol_bytes == 1
        else ring[::2].astype(np.int64) + 256 * ring[1::2].astype(np.int64)
    )
    if symbols.size and symbols.max() >= learner.vocabulary:
        raise RunError(f"the state's ring holds symbols outside the vocabulary of {learner.vocabulary}")
    memory = mine._replace(
        slots=aligned_zeros(mine.slots.size), ring=np.zeros_like(mine.ring), places=np.array(state["places"])
    )
    memory.ring[:filled] = ring
    if not unpack(memory, used, packed, learner.symbol_bytes == 2, learner.vocabulary):
        raise RunError("the state's slots are damaged: symbols, counts and totals do not fit together")
    return memory


@lean_kernel
def count_used(memory: Memory, used: Array) -> Any:
    """Mark every slot in use; how many numbers these hold."""
    number, size = 0, 0
    for k in range(len(memory.width)):
        for slot in range(memory.buckets[k] * WAYS):
            if memory.slots[memory.first[k] + slot * memory.width[k] + TOTAL] != 0:
                used[number] = 1
                size += memory.width[k]
            number += 1
    return size


@lean_kernel
def width_of(memory: Memory, used: Array) -> Any:
    """How many numbers the marked slots hold."""
    number, size = 0, 0
    for k in range(len(memory.width)):
        for _ in range(memory.buckets[k] * WAYS):
            if used[number] != 0:
                size += memory.width[k]
            number += 1
    return size


@lean_kernel
def pack(memory: Memory, used: Array, packed: Array) -> None:
    """packed ← the slots that are marked, one after another."""
    number, at = 0, 0
    for k in range(len(memory.width)):
        width = memory.width[k]
        for slot in range(memory.buckets[k] * WAYS):
            if used[number] != 0:
                start = memory.first[k] + slot * width
                for i in range(width):
                    packed[at + i] = memory.slots[start + i]
                at += width
            number += 1


@lean_kernel
def unpack(memory: Memory, used: Array, packed: Array, wide: bool, vocabulary: Any) -> bool:
    """The slots back in their places; whether every one of them is sound."""
    number, at = 0, 0
    for k in range(len(memory.width)):
        width = memory.width[k]
        for slot in range(memory.buckets[k] * WAYS):
            if used[number] != 0:
                start = memory.first[k] + slot * width
                for i in range(width):
                    memory.slots[start + i] = packed[at + i]
                if not sound_slot(memory.slots, start, memory.capacity[k], wide, vocabulary):
                    return False
                at += width
            number += 1
    return True


@lean_kernel
def sound_slot(slots: Array, place: Any, capacity: Any, wide: bool, vocabulary: Any) -> bool:
    """Pairs of known symbols, none behind an empty place, counts that sum to the total."""
    total, pairs, ended = np.int64(0), 0, False
    for j in range(capacity):
        if wide:
            symbol, count = np.int64(slots[place + PAIRS + 2 * j]), np.int64(slots[place + PAIRS + 2 * j + 1])
        else:
            symbol, count = np.int64(slots[place + PAIRS + j]) >> 8, np.int64(slots[place + PAIRS + j]) & 255
        if count == 0:
            ended = True
        elif ended or count > MOST or symbol >= vocabulary:
            return False
        else:
            total += count
            pairs += 1
    distinct = np.int64(slots[place + DISTINCT])
    return bool(total > 0 and total == np.int64(slots[place + TOTAL]) and pairs <= distinct <= MOST)
