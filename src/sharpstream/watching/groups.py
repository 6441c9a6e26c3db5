"""Alerts of one kind, counted instead of repeated: the first, the tenth, the hundredth … are announced.

Two lines are of one kind when they have the same number of words and most of them agree; a word in which they differ
becomes `*`. Only alerts are grouped, so the list is short; the kind that was seen least recently gives way.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sharpstream.watching.masks import PLACEHOLDER

MOST = 500  # kinds
WORDS, LONGEST = 40, 64  # of a line, and characters of a word, that are compared
ALIKE = 0.6  # share of words that agree


@dataclass
class Group:
    """One kind of alert."""

    id: str
    words: list[str]
    count: int

    @property
    def announced(self) -> bool:
        """Whether this many is worth a message: 1, 10, 100, …"""
        return set(str(self.count)) <= {"1", "0"} and str(self.count).count("1") == 1


class Groups:
    """Finds the kind of an alert.

    >>> groups = Groups()
    >>> [groups.add(f"bad user {name} from *".split()).count for name in ("root", "bob", "eve")]
    [1, 2, 3]
    """

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}  # least recently seen first

    def add(self, words: Sequence[str]) -> Group:
        """The group of this alert, counted."""
        short = [word[:LONGEST] for word in words[:WORDS]]
        group = next((known for known in self._groups.values() if _alike(known.words, short)), None)
        if group is None:
            group = Group(_name(short), short, 0)
        else:
            group.words = [a if a == b else PLACEHOLDER for a, b in zip(group.words, short, strict=True)]
        group.count += 1
        self._groups.pop(group.id, None)
        self._groups[group.id] = group
        if len(self._groups) > MOST:
            del self._groups[next(iter(self._groups))]
        return group

    def state(self) -> list[dict[str, Any]]:
        """What a checkpoint needs."""
        return [vars(group) | {"words": list(group.words)} for group in self._groups.values()]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Go on from a `state`."""
        groups = (Group(str(old["id"]), [str(word) for word in old["words"]], int(old["count"])) for old in state)
        self._groups = {group.id: group for group in groups}


def _alike(known: Sequence[str], words: Sequence[str]) -> bool:
    if len(known) != len(words):
        return False
    agree = sum(a == b and a != PLACEHOLDER for a, b in zip(known, words, strict=True))
    fixed = sum(PLACEHOLDER not in (a, b) for a, b in zip(known, words, strict=True))
    return agree >= ALIKE * fixed if fixed else list(known) == list(words)


def _name(words: Sequence[str]) -> str:
    return hashlib.blake2b(" ".join(words).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
