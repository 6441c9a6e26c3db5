"""From estimates and a claim to one word, the same on every page; a point estimate decides nothing.

In come estimates with their 95 % intervals over seeds, segments or texts, and a claim with the band within which a
difference is none, named before anything was measured. Out comes one of the five words below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sharpstream.evaluate.pairs import Estimate

HOLDS, DIFFERS, NO_DIFFERENCE, NOT_DECIDED, NOT_RUN = "holds", "differs", "no difference", "not decided", "not run"


@dataclass(frozen=True)
class Claim:
    """below: the quantity is less than 0; within: it is 0 but for the band."""

    kind: Literal["below", "within"]
    band: float = 0.0


def verdict(estimates: Sequence[Estimate | None], claim: Claim) -> str:
    """Whether the claim holds of every one of these; what was not measured is None, and one value has no interval.

    >>> fewer = Claim("below", band=0.005)
    >>> verdict([Estimate(-0.5, -0.6, -0.4, n=3)], fewer), verdict([Estimate(0.5, 0.4, 0.6, n=3)], fewer)
    ('holds', 'differs')
    >>> verdict([Estimate(-0.001, -0.003, 0.001, n=3)], fewer), verdict([Estimate(-0.1, -0.3, 0.1, n=3)], fewer)
    ('no difference', 'not decided')
    """
    known = [estimate for estimate in estimates if estimate is not None]
    if not known or len(known) < len(estimates):
        return NOT_RUN
    words = {_word(estimate, claim) for estimate in known}
    if DIFFERS not in words and min(estimate.n for estimate in known) < 2:
        return f"{NOT_DECIDED} (n = 1)"
    return next((word for word in (DIFFERS, NOT_DECIDED, NO_DIFFERENCE) if word in words), HOLDS)


def _word(estimate: Estimate, claim: Claim) -> str:
    """One interval against the band; an interval with NaN ends is neither inside nor outside of anything."""
    low, high, band = estimate.low, estimate.high, claim.band
    inside = -band <= low and high <= band
    if claim.kind == "within":
        return HOLDS if inside else DIFFERS if low > band or high < -band else NOT_DECIDED
    if inside:
        return NO_DIFFERENCE
    return HOLDS if high < 0.0 else DIFFERS if low > 0.0 else NOT_DECIDED
