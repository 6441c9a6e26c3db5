"""A stream's named parts, such as books, as the loop sees them: where one begins, and how well it goes from there.

At a part's beginning and 1,000, 3,000, 10,000 and 30,000 tokens after it the loop writes a row with the bits since the
mark before: so it can be told how soon a learner is at home in a new book. A run that is stopped logs the same rows.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sharpstream.streams.base import Part

DISTANCES = (1_000, 3_000, 10_000, 30_000)  # tokens after a part's beginning


@dataclass(frozen=True)
class Mark:
    """A place where something is told: tokens since..until of a part (the whole rest of it when `until` is its end)."""

    position: int
    part: int  # which part ends here or is under way
    since: int  # counted from the part's beginning
    until: int


class Parts:
    """The marks of a stream, in order; a stream without parts has none."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self.marks = [mark for number, part in enumerate(self.parts) for mark in _marks(number, part)]
        self.positions = [mark.position for mark in self.marks]
        self.beginnings = {part.start: number for number, part in enumerate(self.parts)}

    def until_next(self, position: int) -> int | None:
        """Tokens to the next mark or beginning; None when there is none."""
        ahead = self.positions[bisect_right(self.positions, position) :][:1]
        starts = [part.start for part in self.parts if part.start > position][:1]
        return min(ahead + starts) - position if ahead or starts else None

    def at(self, position: int) -> Mark | None:
        """The mark at this position."""
        place = bisect_right(self.positions, position) - 1
        return self.marks[place] if place >= 0 and self.positions[place] == position else None

    def beginning_at(self, position: int) -> int | None:
        """The number of the part that begins here."""
        return self.beginnings.get(position)


def _marks(number: int, part: Part) -> list[Mark]:
    """Where a part is measured: at each distance that lies inside it, and at its end."""
    length = part.end - part.start
    ends = [distance for distance in DISTANCES if distance < length] + [length]
    return [Mark(part.start + end, number, since, end) for since, end in zip([0, *ends[:-1]], ends, strict=True)]
