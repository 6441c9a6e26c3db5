"""How soon a learner of nonlinear(K) finds the direction: repetition by repetition, the tokens until halfway down."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sharpstream.evaluate.rows import Row
from sharpstream.experiments.simulations.common import final_errors, select
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import tokens_label
from sharpstream.streams.synthetic import BEST_ERROR, NO_CONTEXT_ERROR

HALFWAY = 0.5 * (BEST_ERROR + NO_CONTEXT_ERROR)  # between not knowing the direction and the best possible


def tokens_until_halfway(rows: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Of each repetition, by seed: when its error was first below halfway; infinity where it never was.

    >>> tokens_until_halfway([{"seed": 0, "tokens": n, "error": e} for n, e in ((10, 0.33), (20, 0.27), (30, 0.21))])
    {0: 20.0}
    """
    seeds = sorted({row["seed"] for row in rows})
    below = [[row["tokens"] for row in select(rows, seed=seed) if row["error"] < HALFWAY] for seed in seeds]
    return {seed: float(min(tokens, default=math.inf)) for seed, tokens in zip(seeds, below, strict=True)}


def told(tokens: Iterable[float]) -> str:
    """160k, 180k, never."""
    return ", ".join("never" if math.isinf(count) else tokens_label(count) for count in tokens)


def table(title: str, arms: Mapping[str, Sequence[Row]], tokens: int, last: int) -> str:
    """Every repetition of every arm: its error over the last so many tokens, and how soon it was halfway."""
    lines = tuple(
        (
            arm,
            ", ".join(f"{e:.3f}" for e in final_errors(rows, tokens, last).values()),
            told(tokens_until_halfway(rows).values()),
        )
        for arm, rows in arms.items()
        if rows
    )
    note = f"One value a repetition, in the order of their seeds; halfway is an error of {HALFWAY:.3f}."
    columns = ("arm", "error at the end", "tokens until halfway")
    return markdown(Grid(title=title, columns=columns, rows=lines, note=note))
