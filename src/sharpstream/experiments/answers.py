"""The first sentences of a result page: what holds, what does not, what is open. In come findings, out comes text."""

from collections.abc import Sequence
from typing import Protocol

from sharpstream.evaluate.verdicts import DIFFERS, HOLDS, NO_DIFFERENCE, NOT_DECIDED, NOT_RUN


class Judged(Protocol):
    """What is read of a finding."""

    @property
    def claim(self) -> str: ...
    @property
    def verdict(self) -> str: ...


NAMED = 4  # claims that a sentence names; of more it says how many
SENTENCES = {
    HOLDS: "Holds here",
    DIFFERS: "Does not hold here",
    NO_DIFFERENCE: "Makes no difference here",
}


def answer(findings: Sequence[Judged]) -> str:
    """Three sentences at most, in the order of what a reader wants to know first.

    >>> from collections import namedtuple
    >>> Found = namedtuple("Found", "claim verdict")
    >>> print(answer([Found("sleep helps", HOLDS), Found("α 4 is best", DIFFERS), Found("no gate", NOT_RUN)]))
    **Holds here:** sleep helps. **Does not hold here:** α 4 is best. **Open:** 1 not run yet.
    >>> print(answer([]))
    <BLANKLINE>
    """
    parts = []
    for word, opening in SENTENCES.items():
        claims = [found.claim for found in findings if found.verdict == word]
        if claims:
            more = f"; and {len(claims) - NAMED} more" if len(claims) > NAMED else ""
            parts.append(f"**{opening}:** {'; '.join(claims[:NAMED])}{more}.")
    undecided = sum(found.verdict.startswith(NOT_DECIDED) for found in findings)
    missing = sum(found.verdict == NOT_RUN for found in findings)
    still = [f"{undecided} not decided by what was run"] * bool(undecided) + [f"{missing} not run yet"] * bool(missing)
    return " ".join([*parts, *([f"**Open:** {', '.join(still)}."] if still else [])])
