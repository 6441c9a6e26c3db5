"""What usually follows: the commonest word after each two words and after each one, so that a row can say what was
expected. A bounded table; of each context only a leading word and its lead are kept (majority vote).
"""

from collections.abc import Sequence
from typing import Any

from sharpstream.watching.rarity import END, START

CONTEXTS = 8_192
LONGEST = 64  # characters of a word that are kept
SURE = 3  # a word leads by at least so many before it is called expected


class Usual:
    """Remembers the leading next word of each context.

    >>> usual = Usual()
    >>> for _ in range(5):
    ...     usual.see(["*", "INFO", "ready"])
    >>> usual.expected(["*", "FATAL", "gone"], 1), usual.expected(["*", "INFO", "ready"], 1)
    ('INFO', None)
    """

    def __init__(self, contexts: int = CONTEXTS) -> None:
        self.contexts = contexts
        self._leads: dict[str, tuple[str, int]] = {}

    def expected(self, words: Sequence[str], place: int) -> str | None:
        """The word that usually stands at this place after the ones before; None if unsure or if it is there."""
        padded = [START, START, *words, END]
        for context in _contexts(padded, place + 2):
            word, lead = self._leads.get(context, ("", 0))
            if lead >= SURE and word not in (START, END):
                return None if word == padded[place + 2][:LONGEST] else word
        return None

    def see(self, words: Sequence[str]) -> None:
        """Count a line."""
        padded = [START, START, *words, END]
        for place in range(2, len(padded)):
            for context in _contexts(padded, place):
                self._vote(context, padded[place][:LONGEST])
        if len(self._leads) > self.contexts:
            self._forget()

    def _vote(self, context: str, word: str) -> None:
        leader, lead = self._leads.get(context, (word, 0))
        if leader == word:
            self._leads[context] = (word, lead + 1)
        else:
            self._leads[context] = (leader, lead - 1) if lead > 1 else (word, 1)

    def _forget(self) -> None:
        """Let the uncertain go; if that is not enough, the older half."""
        kept = [(context, lead) for context, lead in self._leads.items() if lead[1] >= SURE]
        self._leads = dict(kept if len(kept) < self.contexts * 3 // 4 else kept[len(kept) // 2 :])

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {context: list(lead) for context, lead in self._leads.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self._leads = {str(context): (str(word), int(lead)) for context, (word, lead) in state.items()}


def _contexts(padded: Sequence[str], place: int) -> tuple[str, str]:
    one, two = padded[place - 1][:LONGEST], padded[place - 2][:LONGEST]
    return f"{two} {one}", one
