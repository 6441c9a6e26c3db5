"""A result row, which cannot be built without what made it, and a table that refuses to mix regimes.

A study measures cells; the harness makes them rows, and the same row stands in the CSV file, on the page and in the
README. A row reads like a mapping, `row["bits"]`, because each study has columns of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sharpstream.config_checks import positive, require
from sharpstream.errors import ConfigError

NOT_APPLICABLE = "-"  # a regime field that means nothing for this learner, such as the carry of a count model
MADE_BY = ("experiment", "scale", "protocol", "command", "hardware", "software")
Cells = dict[str, Any]  # what a study measured: its columns, before the harness says what made them


class Row(Mapping[str, Any]):
    """One line of results: a study's own columns, and what made them (`MADE_BY`: command, commit, versions, machine).

    >>> made = dict.fromkeys(MADE_BY, "x")
    >>> Row({**made, "arm": "sharp", "bits": 2.5})["bits"]
    2.5
    >>> Row({"arm": "sharp", "bits": 2.5})
    Traceback (most recent call last):
        ...
    sharpstream.errors.ConfigError: a result row without experiment, scale, protocol, command, hardware, software: ...
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: Mapping[str, Any]) -> None:
        self._cells = dict(cells)
        missing = [name for name in MADE_BY if not _one_line(self._cells.get(name))]
        if missing:
            raise ConfigError(f"a result row without {', '.join(missing)}: it must say what made it, each in one line")

    def __getitem__(self, name: str) -> Any:
        return self._cells[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


@dataclass(frozen=True, kw_only=True)
class Regime:
    """How a number in bits came about. Every field must be given: a default would be a claim nobody made."""

    clip: float | None
    """Cap on each token's bits before averaging; None: true bits."""
    train_context: int | str
    """Tokens a gradient reaches back, or - where nothing is trained by gradient."""
    score_context: int | str
    """Tokens visible while scored, `carried` for a recurrent state, or -."""
    carry: str
    """aligned, overlap, or - where no state is carried."""
    update_interval: int
    """Tokens between updates: 1 is strictly online."""
    token_budget: int
    """Tokens learned from before this number was taken."""

    def __post_init__(self) -> None:
        positive(self, "update_interval")
        require(isinstance(self.token_budget, int) and self.token_budget >= 0, self, "token_budget", "an integer ≥ 0")
        require(self.clip is None or self.clip > 0.0, self, "clip", "a positive number of bits, or None")
        require(_one_line(self.carry), self, "carry", "one line of text, not empty")

    def cells(self) -> Cells:
        """As columns of a row."""
        return asdict(self)


# Seeds are repetitions, and the command and versions say how to repeat: rows that differ only there belong together.
COMPARED = ("protocol", *(field.name for field in fields(Regime)), "hardware")


class Table:
    """Rows of one regime; or, with `mixed`, of several, and then the regime is one of the columns."""

    def __init__(self, rows: Sequence[Row], *, mixed: bool = False) -> None:
        self.rows = tuple(rows)
        self.mixed = mixed
        self.differing = regime_differences(self.rows)
        if self.differing and not mixed:
            named = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in self.differing.items())
            raise ConfigError(
                f"these rows come from different regimes ({named}); make separate tables, or ask for mixed=True, "
                "which shows the regime as a column"
            )

    def regime_label(self, row: Row) -> str:
        """What sets this row's regime apart from others in the table; all of it when nothing does."""
        names = tuple(self.differing) or COMPARED
        return ", ".join(f"{name.replace('_', ' ')} {_shown(row[name])}" for name in names)


def regime_differences(rows: Sequence[Row]) -> Mapping[str, list[Any]]:
    """The regime fields in which rows differ, with the values found; "-" agrees with anything."""
    differing = {}
    for name in COMPARED:
        values = list(dict.fromkeys(row[name] for row in rows))
        values = [value for value in values if value != NOT_APPLICABLE]
        if len(values) > 1:
            differing[name] = values
    return differing


def _one_line(text: Any) -> bool:
    """Whether it is text that stays on its line of a CSV file."""
    return isinstance(text, str) and bool(text.strip()) and len(text.splitlines()) == 1 and "\0" not in text


def _shown(value: Any) -> str:
    """A regime value as people read it."""
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
