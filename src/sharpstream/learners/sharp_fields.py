"""What SHARP's state holds beside its parameters: one table, which both engines write and read.

An engine says where each field lies in it; one that it forgets, or that the table does not know, is an error at the
first checkpoint and not a run that goes on a little differently. A new field is one line here and one in each engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sharpstream.config import SharpConfig
from sharpstream.errors import RunError
from sharpstream.learners.contract import Array, State
from sharpstream.memory.kinds import learns, state_size


@dataclass(frozen=True)
class Field:
    """One array of the state."""

    kind: str
    """i: integers, f: floats."""
    shape: tuple[int, ...] = ()
    """Of one row, where there may be several."""
    rows: int | None = None
    """At most so many rows, since it fills up; None where the shape is the whole."""
    below_zero: bool = True
    """Whether learning can leave numbers below 0 there."""

    def fits(self, given: Array) -> bool:
        """Whether an array can be this field's."""
        own = given.shape if self.rows is None else given.shape[1:]
        few = self.rows is None or (given.ndim == 1 + len(self.shape) and len(given) <= self.rows)
        return given.dtype.kind == self.kind and few and own == self.shape


def fields(config: SharpConfig) -> dict[str, Field]:
    """Name → field, for a learner of this config."""
    levels, width, window, tags = config.levels, config.width, config.window, config.sleep.tags
    table: dict[str, Field] = {}
    for level in range(1, levels + 1):
        table[f"hidden.{level}"] = Field("f", (state_size(config, level),))
        if level in trained_awake(config):
            table[f"carried.{level}"] = Field("f", (state_size(config, level),))
            table[f"window.{level}"] = Field("f", (width,), rows=window)
    if learns(config, 1):
        vectors = Field("f", (config.input_size,), rows=window)
        table["window.1"] = vectors if config.input_size else Field("i", rows=window)
    table |= dict.fromkeys(("ema", "recon.sum"), Field("f", (levels,), below_zero=False))
    table |= dict.fromkeys(("recon.count", "updates"), Field("i", (levels,), below_zero=False))
    counted = ("observed", "clock", "tagged", "since_sleep", "sleeps", "seed")
    table |= dict.fromkeys(counted, Field("i", below_zero=False))
    table["floor"] = Field("f", below_zero=False)
    if config.tags_by_prediction:
        table["expected"] = Field("f", below_zero=False)
    if config.credit == "on-tick":
        table["credit.pending"] = Field("f", (levels - 1, width))
        table["credit.ticks"] = Field("i", (levels - 1,), below_zero=False)
    table["tags.hidden"] = Field("f", (state_size(config, 1),), rows=tags)
    return table | {"tags.context": Field("f", (width,), rows=tags)}


def trained_awake(config: SharpConfig) -> tuple[int, ...]:
    """The levels whose memories learn from a window while awake."""
    awake = range(1, config.levels + 1 if config.train_upper_awake else 2)
    return tuple(level for level in awake if learns(config, level))


def in_table_order(config: SharpConfig, held: Mapping[str, Array]) -> State:
    """What an engine holds, as state; an engine that holds less or more than the table is a fault of ours."""
    table = fields(config)
    if held.keys() != table.keys():
        raise RunError(f"sharp_fields.py and this engine disagree about {differing(held, table)}; please report this")
    return {name: held[name] for name in table}


def differing(left: Mapping[str, object], right: Mapping[str, object]) -> str:
    """The first few names that only one side has."""
    return ", ".join(sorted(left.keys() ^ right.keys())[:5])
