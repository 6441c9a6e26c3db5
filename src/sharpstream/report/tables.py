"""Result rows as tables: arms against metrics, and ours beside the published value with a verdict.

In come a `Table` of result rows (one regime, or mixed and then shown) and the published numbers; out come grids that
`grid.py` prints. Experiments and `sharp reproduce` call these.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sharpstream.errors import ConfigError
from sharpstream.evaluate.pairs import Estimate, mean_interval
from sharpstream.evaluate.rows import COMPARED, Table
from sharpstream.report.grid import Cell, Grid
from sharpstream.report.style import arm_style

Verdict = Literal["agrees", "differs", "not run", "not published"]
GroupKey = tuple[str, str, str]  # arm, metric, regime label ("" unless the table is mixed)


@dataclass(frozen=True)
class Published:
    """One number of the paper. `metric` must name what was published: capped bits are `bits_clipped`, never `bits`."""

    arm: str
    metric: str
    value: float


@dataclass(frozen=True)
class Comparison:
    """Ours beside theirs."""

    arm: str
    metric: str
    ours: Estimate | None
    published: float | None
    tolerance: float
    regime: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None or self.published is None else self.ours.mean - self.published

    @property
    def verdict(self) -> Verdict:
        """agrees: the means are within the tolerance. The interval is shown but not used: it says how sure we are."""
        if self.ours is None:
            return "not run"
        if self.difference is None:
            return "not published"
        # A hair of slack, so that 2.42 against 2.32 is within 0.10 in floating point too.
        return "agrees" if abs(self.difference) <= self.tolerance + 1e-9 else "differs"


def estimates(table: Table) -> dict[GroupKey, Estimate]:
    """Mean and 95 % interval over repetitions (experiment, stream, seed) of each arm and metric, in row order."""
    groups: dict[GroupKey, dict[tuple[str, str, int], float]] = defaultdict(dict)
    for row in table.rows:
        key = row.arm, row.metric, table.regime_label(row) if table.mixed and table.differing else ""
        repetition = row.experiment, row.stream, row.regime.seed
        if repetition in groups[key]:
            raise ConfigError(
                f"{row.arm} has two values of {row.metric} on {row.stream} with seed {row.regime.seed}: "
                "one repetition counted twice would make the interval too narrow"
            )
        groups[key][repetition] = row.value
    return {key: mean_interval(list(values.values())) for key, values in groups.items()}


def compare(table: Table, published: Sequence[Published], *, tolerance: float) -> list[Comparison]:
    """Every published number with ours, or "not run"; then what we measured and nobody published."""
    if not tolerance >= 0.0:
        raise ConfigError(f"tolerance = {tolerance!r}: it must be a number ≥ 0")
    ours = estimates(table)
    comparisons = []
    for target in published:
        found = [key for key in ours if key[:2] == (target.arm, target.metric)]
        for key in found:
            comparisons.append(Comparison(*key[:2], ours[key], target.value, tolerance, key[2]))
        if not found:
            comparisons.append(Comparison(target.arm, target.metric, None, target.value, tolerance))
    known = {(target.arm, target.metric) for target in published}
    comparisons += [Comparison(*key[:2], ours[key], None, tolerance, key[2]) for key in ours if key[:2] not in known]
    return comparisons


def comparison_grid(comparisons: Sequence[Comparison], *, title: str, decimals: int = 3, note: str = "") -> Grid:
    """One line per comparison; a regime column when any of them needs it."""
    mixed = any(comparison.regime for comparison in comparisons)
    columns = (
        "arm",
        "metric",
        "ours",
        "±95%",
        "n",
        "published",
        "difference",
        "verdict",
        *(("regime",) if mixed else ()),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in comparisons:
        mean = None if one.ours is None else one.ours.mean
        half = None if one.ours is None else one.ours.half_width
        count = None if one.ours is None else one.ours.n
        tail = (one.regime or None,) if mixed else ()
        label = arm_style(one.arm).label
        rows.append((label, one.metric, mean, half, count, one.published, one.difference, one.verdict, *tail))
    tolerances = sorted({comparison.tolerance for comparison in comparisons})
    small = f"agrees: within {', '.join(f'{tolerance:g}' for tolerance in tolerances)} of the published value"
    return Grid(
        title=title,
        columns=columns,
        rows=tuple(rows),
        note=f"{small}. {note}".strip() if note else small,
        decimals=decimals,
    )


def results_grid(table: Table, metrics: Sequence[str], *, title: str, decimals: int = 3) -> Grid:
    """Arms down, metrics across, each cell "mean ± half of the 95 % interval"; the regime below, or as a column."""
    found = estimates(table)
    mixed = table.mixed and bool(table.differing)
    lines = list(dict.fromkeys((arm, regime) for arm, _, regime in found))
    rows: list[tuple[Cell, ...]] = []
    for arm, regime in lines:
        cells = [_plus_minus(found.get((arm, metric, regime)), decimals) for metric in metrics]
        rows.append((arm_style(arm).label, *cells, *((regime,) if mixed else ())))
    columns = ("arm", *metrics, *(("regime",) if mixed else ()))
    return Grid(title=title, columns=columns, rows=tuple(rows), note=regime_note(table), decimals=decimals)


def regime_note(table: Table) -> str:
    """What all rows of a table share, for the small print."""
    if not table.rows:
        return ""
    shared = [name for name in COMPARED if name not in table.differing]
    values = [(name.replace("_", " "), _shared_value(table, name)) for name in shared]
    return "; ".join(f"{name} {value}" for name, value in values)


def _shared_value(table: Table, name: str) -> str:
    """The one value all rows have; rows to which it does not apply ("-") are passed over."""
    values = [getattr(row.regime, name) for row in table.rows]
    value = next((value for value in values if value != "-"), "-")
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _plus_minus(estimate: Estimate | None, decimals: int) -> str | None:
    """2.320 ± 0.060, or the mean alone when there is one repetition."""
    if estimate is None:
        return None
    mean = f"{estimate.mean:.{decimals}f}"
    return mean if estimate.n == 1 else f"{mean} ± {estimate.half_width:.{decimals}f}"
