"""What the `memory-kinds` study says: the claims with their verdicts, and one table.

In come its long rows (part, where, arm, seed, at, value). Sleep, training and kinds are compared seed by seed, on the
mean over a whole stream: how soon and how well in one number that nobody can choose afterwards.
`memory_kinds_answer.py` puts the verdicts into words, `memory_kinds_figures.py` draws.
"""

from collections.abc import Sequence

import numpy as np

from sharpstream.config import NEVER_LEARN, Memory
from sharpstream.evaluate.pairs import Estimate, difference_where_both, estimate_of
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import Claim
from sharpstream.experiments.harness import Finding, judged
from sharpstream.experiments.language.tables import plus_minus
from sharpstream.experiments.simulations.common import ALIKE, by_seed, select
from sharpstream.report.grid import Grid, markdown
from sharpstream.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION

COLOURS: dict[Memory, str] = {
    "rnn": VERMILLION,
    "gru": GREEN,
    "lstm": BLUE,
    "diagonal": ORANGE,
    "orthogonal": GREY,
    "delay": BLACK,
    "legendre": PURPLE,
}
KINDS = tuple(COLOURS)
LEARNING = tuple(kind for kind in KINDS if kind not in NEVER_LEARN)
MIXED = "orthogonal, rnn above"
ARMS: dict[str, tuple[Memory, bool]] = {  # arm → (memory 1, whether it sleeps)
    **{kind: (kind, kind in LEARNING) for kind in KINDS},
    **{f"{kind} no sleep": (kind, False) for kind in LEARNING},
    MIXED: ("orthogonal", True),
}
SAME_BITS = 0.005  # of text: a smaller difference is none
READ = (2, 3, 4, 5, 6)  # the lags of the carry-over study


def over_stream(rows: Sequence[Row], where: str, arm: str) -> dict[int, float]:
    """The mean over the whole stream, seed by seed: wrong guesses of a rule, bits of a text."""
    return by_seed(_predicted(rows, where, arm), "value", np.mean)


def _predicted(rows: Sequence[Row], where: str, arm: str) -> list[Row]:
    return [row for row in select(rows, where=where, arm=arm) if row["part"] in ("rule", "text")]


def at_end(rows: Sequence[Row]) -> dict[int, float]:
    """The mean over the last fifth of a curve, seed by seed."""
    last = max((row["at"] for row in rows), default=0)
    return by_seed([row for row in rows if row["at"] > 0.8 * last], "value", np.mean)


def read_error(rows: Sequence[Row], regime: str, arm: str, lags: Sequence[int] = READ) -> dict[int, float]:
    """Mean error of the linear read-out over these lags, seed by seed."""
    here = [row for row in select(rows, part="read-out", where=regime, arm=arm) if row["at"] in lags]
    return by_seed(here, "value", np.mean)


def kept(rows: Sequence[Row], regime: str, arm: str, span: int = 4) -> dict[int, float]:
    """1/C at this span, seed by seed."""
    return by_seed(select(rows, part="geometry", where=regime, arm=arm, at=span), "value")


def streams(rows: Sequence[Row]) -> list[str]:
    """Where predictions were made: the rules, small K first, then text."""
    return sorted({row["where"] for row in rows if row["part"] == "rule"}) + [
        name for name in ("python-docs", "text8") if any(row["part"] == "text" and row["where"] == name for row in rows)
    ]


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Does training pay, does sleep pay, and is any kind better than the paper's?"""
    return [*_training(rows), *_sleep(rows), *_kinds(rows)]


def gap(rows: Sequence[Row], where: str, arm: str, other: str) -> Estimate | None:
    """How much less of wrong guesses or bits an arm has than another on this stream, paired by seed; below 0: less."""
    return difference_where_both(over_stream(rows, where, arm), over_stream(rows, where, other))


def less(where: str) -> Claim:
    """That the one has less than the other, with the band of this stream."""
    return Claim("below", ALIKE if where.startswith("nonlinear") else SAME_BITS)


def _less(claim: str, rows: Sequence[Row], where: str, arm: str, other: str) -> Finding:
    found = gap(rows, where, arm, other)
    return judged(claim, "-", plus_minus(found, sign=True) or "-", [found], less(where))


def _training(rows: Sequence[Row]) -> list[Finding]:
    """The trained RNN against the same one left as it began."""
    found = []
    for regime in ("random", "nonlinear", "linear"):
        gap = difference_where_both(read_error(rows, regime, "rnn"), read_error(rows, regime, "orthogonal"))
        claim = f"training makes the rnn easier to read (error at lags 2 to 6, {regime})"
        found.append(judged(claim, "-", plus_minus(gap, sign=True) or "-", [gap], Claim("below", ALIKE)))
    for regime in ("random", "nonlinear"):
        more = difference_where_both(kept(rows, regime, "orthogonal"), kept(rows, regime, "rnn"))
        claim = f"training makes the rnn keep distances between its windows (1/C at span 4, {regime})"
        gained = difference_where_both(kept(rows, regime, "rnn"), kept(rows, regime, "orthogonal"))
        found.append(judged(claim, "-", plus_minus(gained, sign=True) or "-", [more], Claim("below", 0.02)))
    for where in streams(rows):
        found.append(_less(f"training memory 1 pays on {where}", rows, where, "rnn no sleep", "orthogonal"))
    return found


def _sleep(rows: Sequence[Row]) -> list[Finding]:
    """Each kind that learns, with and without sleep from the same start; and sleep above a memory that never learns."""
    found = []
    for where in streams(rows):
        for kind, (arm, other) in sleepers(rows, where).items():
            claim = f"sleep pays for {kind} on {where}"
            if arm == MIXED:
                claim = f"trained upper memories pay above an untrained one on {where}"
            found.append(_less(claim, rows, where, arm, other))
    return found


def sleepers(rows: Sequence[Row], where: str) -> dict[str, tuple[str, str]]:
    """Name → (the arm that sleeps, the same that does not), of those that were asked on this stream."""
    pairs = {kind: (kind, f"{kind} no sleep") for kind in LEARNING} | {MIXED: (MIXED, "orthogonal")}
    return {
        name: (arm, other)
        for name, (arm, other) in pairs.items()
        if over_stream(rows, where, arm if arm == MIXED else other)
    }


def _kinds(rows: Sequence[Row]) -> list[Finding]:
    """Every other kind against the paper's."""
    return [
        _less(f"{kind} beats rnn on {where}", rows, where, kind, "rnn")
        for where in streams(rows)
        for kind in KINDS
        if kind != "rnn" and over_stream(rows, where, kind)
    ]


def page(rows: Sequence[Row]) -> str:
    """One line an arm: every question."""
    places = streams(rows)
    lines = []
    for arm in ARMS:
        cells = [plus_minus(estimate_of(read_error(rows, regime, arm).values())) for regime in ("random", "nonlinear")]
        cells.append(_constant(rows, arm))
        cells.append(_late_drift(rows, arm))
        cells += [plus_minus(estimate_of(over_stream(rows, where, arm).values())) for where in places]
        cells += [plus_minus(estimate_of(at_end(_predicted(rows, where, arm)).values())) for where in places]
        speeds = select(rows, part="speed", arm=arm)
        cells += [_shown(microseconds(speeds, phase)) for phase in ("memory at rest", "memory learns")]
        if any(cells):
            lines.append((arm, *cells))
    columns = (
        "memory", "read-out error, random", "…, nonlinear(2)", "C at span 4, random", "drift at the end",
        *(f"{where}, whole stream" for where in places), *(f"{where}, last fifth" for where in places),
        "µs a token, memory at rest", "…, memory learns",
    )  # fmt: skip
    note = (
        "Mean ± half of the 95 % interval over seeds. Read-out: mean error over lags 2 to 6. C: 1 is best, ∞ loses "
        "some sequences. Drift: share of a state's length in 2000 tokens. nonlinear: wrong guesses (best 0.208, "
        "direction unknown 0.333), film-normed; text: bits, width 128, on-tick. Read-outs are equally wide in all arms."
    )
    return markdown(Grid(title="Every memory, every question", columns=columns, rows=tuple(lines), note=note))


def _constant(rows: Sequence[Row], arm: str) -> str | None:
    values = kept(rows, "random", arm).values()
    if not values:
        return None
    return "∞" if min(values) == 0.0 else plus_minus(estimate_of(1.0 / value for value in values))


def _late_drift(rows: Sequence[Row], arm: str) -> str | None:
    return plus_minus(estimate_of(at_end(select(rows, part="drift", arm=arm)).values()))


def microseconds(rows: Sequence[Row], phase: str) -> float | None:
    """Processor time a token in this phase of one arm's rows of the part `speed`."""
    taken = [row["value"] for row in select(rows, where=phase)]
    return float(np.median(taken)) if taken else None


def _shown(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
