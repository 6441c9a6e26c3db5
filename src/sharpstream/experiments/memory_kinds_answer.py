"""The first words of the `memory-kinds` page: does training pay, does sleep pay, which memory for which stream?

In come its long rows, out come sentences. Every word is a verdict of `evaluate/verdicts.py`, with the number behind it.
"""

from collections.abc import Sequence

from sharpstream.evaluate.pairs import Estimate, difference_where_both
from sharpstream.evaluate.rows import Row
from sharpstream.evaluate.verdicts import DIFFERS, HOLDS, NO_DIFFERENCE, NOT_DECIDED, NOT_RUN, verdict
from sharpstream.experiments.language.tables import plus_minus
from sharpstream.experiments.memory_kinds_page import (
    KINDS,
    MIXED,
    SAME_BITS,
    gap,
    less,
    microseconds,
    over_stream,
    read_error,
    sleepers,
    streams,
)
from sharpstream.experiments.simulations.common import ALIKE, select

WORDS = {HOLDS: "yes", NO_DIFFERENCE: NO_DIFFERENCE, DIFFERS: "no, it costs", NOT_DECIDED: NOT_DECIDED}


def answer(rows: Sequence[Row]) -> str:
    """Three questions, each answered stream by stream, and how to read the numbers."""
    places = streams(rows)
    if not places:
        return ""
    questions = {
        "Does training the memory pay?": (
            _training,
            "The rnn that learns awake against the same one left as it began.",
        ),
        "Does sleep pay?": (_sleep, "Each memory that learns, with sleep against without, from the same start."),
        "Which memory for which stream?": (_choice, "Of all kinds, those that learn with sleep."),
    }
    parts = []
    for question, (ask, what) in questions.items():
        lines = "".join(f"\n- {where}: {ask(rows, where)}." for where in places)
        if ask is _training:
            lines += f"\n- what a linear read-out finds in it of the last tokens, random stream: {_read_out(rows)}."
        parts.append(f"**{question}** {what}\n{lines}")
    parts.append(
        "Numbers are wrong guesses (rules) or bits (text) over the whole stream; differences are paired by seed, below "
        f"0 is better, ± is half of the 95 % interval. No difference: the interval lies within ±{ALIKE} wrong guesses "
        f"or ±{SAME_BITS} bits. Not decided: it holds 0 and reaches beyond that, so gain and loss are both possible "
        "and it takes more seeds to tell. Each comparison is judged by itself (of twenty, one may be luck), and "
        "the memory with the least was picked after seeing the numbers."
    )
    return "\n\n".join(parts)


def _word(found: Estimate | None, where: str) -> str:
    word = verdict([found], less(where))
    return NOT_DECIDED if word.startswith(NOT_DECIDED) else word  # of one seed it says so


def _training(rows: Sequence[Row], where: str) -> str:
    found = gap(rows, where, "rnn no sleep", "orthogonal")
    word = _word(found, where)
    return "not run yet" if word == NOT_RUN else f"**{WORDS[word]}** ({_number(found)})"


def _read_out(rows: Sequence[Row]) -> str:
    found = difference_where_both(read_error(rows, "random", "rnn"), read_error(rows, "random", "orthogonal"))
    word = _word(found, "nonlinear")
    return "not run yet" if word == NOT_RUN else f"**{WORDS[word]}** ({_number(found)} wrong)"


def _number(found: Estimate | None) -> str:
    number = plus_minus(found, sign=True) or "-"
    return f"{number}, one seed" if found is not None and found.n == 1 else number


def _sleep(rows: Sequence[Row], where: str) -> str:
    """The memories of each verdict together, good news first."""
    told: dict[str, list[str]] = {}
    for name, (arm, other) in sleepers(rows, where).items():
        found = gap(rows, where, arm, other)
        shown = "rnn above orthogonal" if name == MIXED else name
        told.setdefault(_word(found, where), []).append(f"{shown} {_number(found)}")
    parts = [f"**{WORDS[word]}** for {', '.join(told[word])}" for word in WORDS if word in told]
    return "; ".join(parts) or "not run yet"


def _choice(rows: Sequence[Row], where: str) -> str:
    """The kind with the least, and which others are not shown to be worse than it."""
    known = {kind: values for kind in KINDS if (values := over_stream(rows, where, kind))}
    shared = set.intersection(*(set(values) for values in known.values())) if known else set()
    if len(known) < 2 or not shared:
        return "not run yet"
    means = {kind: sum(values[seed] for seed in shared) / len(shared) for kind, values in known.items()}
    best = min(means, key=lambda kind: means[kind])
    if len(shared) < 2:
        return f"**not decided**, one seed (least: {best}, {means[best]:.3f})"
    gaps = {kind: gap(rows, where, best, kind) for kind in known if kind != best}
    level = [kind for kind, found in gaps.items() if _word(found, where) != HOLDS]
    if not level:
        return f"**{best}** ({means[best]:.3f}), better than every other kind"
    named = ", ".join(f"{kind} ({_number(gaps[kind])})" for kind in level)
    beaten = f"better than {', '.join(kind for kind in gaps if kind not in level) or 'none'}"
    told = f"**{best}** has the least ({means[best]:.3f}), {beaten}; not shown to be better than {named}"
    return told + _cheapest(rows, [best, *level])


def _cheapest(rows: Sequence[Row], kinds: Sequence[str]) -> str:
    costs = {kind: microseconds(select(rows, part="speed", arm=kind), "memory at rest") for kind in kinds}
    known = {kind: cost for kind, cost in costs.items() if cost is not None}
    if len(known) < len(kinds):
        return ""
    least = min(known, key=lambda kind: known[kind])
    return f". Cheapest of these: {least} ({known[least]:.0f} µs a token)"
