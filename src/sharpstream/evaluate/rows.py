"""A result row, which cannot be built without the regime that made it, and a table that refuses to mix regimes.

In come numbers with their regime, out comes what sets each apart from the others of its table. The language studies
build rows and show the regime as a column wherever it differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sharpstream.config import positive, require
from sharpstream.errors import ConfigError

NOT_APPLICABLE = "-"  # a regime field that means nothing for this learner, such as the carry of a count model


@dataclass(frozen=True, kw_only=True)
class Regime:
    """How a number came about. Every field must be given: a default would be a claim nobody made."""

    protocol: str
    """fair or paper."""
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
    seed: int
    hardware: str
    """Processor and cores: `machine.describe().hardware`."""
    software: str
    """Versions: `machine.describe().software`."""
    command: str
    """What to type to get this number again."""

    def __post_init__(self) -> None:
        positive(self, "update_interval")
        require(isinstance(self.token_budget, int) and self.token_budget >= 0, self, "token_budget", "an integer ≥ 0")
        require(self.clip is None or self.clip > 0.0, self, "clip", "a positive number of bits, or None")
        for name in ("protocol", "carry", "hardware", "software", "command"):
            require(_one_line(getattr(self, name)), self, name, "one line of text, not empty")


# Seeds are repetitions, and the command and versions say how to repeat: rows that differ only there belong together.
COMPARED = tuple(field.name for field in fields(Regime) if field.name not in ("seed", "command", "software"))


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """One number: which experiment, which arm, on what, which metric, its value and its regime."""

    experiment: str
    arm: str
    stream: str
    metric: str
    """bits, bits_clipped, accuracy, forward_bits, seconds_per_1000_tokens, …"""
    value: float
    regime: Regime

    def __post_init__(self) -> None:
        require(isinstance(self.regime, Regime), self, "regime", "a Regime: a number without one cannot be compared")
        for name in ("experiment", "arm", "stream", "metric"):
            require(_one_line(getattr(self, name)), self, name, "one line of text, not empty")


class Table:
    """Rows of one regime; or, with `mixed`, of several, and then the regime is one of the columns."""

    def __init__(self, rows: Sequence[ResultRow], *, mixed: bool = False) -> None:
        self.rows = tuple(rows)
        self.mixed = mixed
        self.differing = regime_differences(self.rows)
        if self.differing and not mixed:
            named = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in self.differing.items())
            raise ConfigError(
                f"these rows come from different regimes ({named}); make separate tables, or ask for mixed=True, "
                "which shows the regime as a column"
            )

    def regime_label(self, row: ResultRow) -> str:
        """What sets this row's regime apart from others in the table; all of it when nothing does."""
        names = tuple(self.differing) or COMPARED
        return ", ".join(f"{name.replace('_', ' ')} {_shown(getattr(row.regime, name))}" for name in names)


def regime_differences(rows: Sequence[ResultRow]) -> Mapping[str, list[Any]]:
    """The regime fields in which rows differ, with the values found; "-" agrees with anything."""
    differing = {}
    for name in COMPARED:
        values = list(dict.fromkeys(getattr(row.regime, name) for row in rows))
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
