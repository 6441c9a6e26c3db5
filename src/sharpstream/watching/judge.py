"""Everything that is remembered of the lines beside the learner: rarity, what is usual, recent scores, kinds of alerts.

The watch loop and `benchmarks/logs.py` give it lines; it says how much each stands out. Its whole state is arrays.
"""

import json
from dataclasses import dataclass

import numpy as np

from sharpstream.learners.contract import Array, Bits
from sharpstream.watching.groups import Group, Groups
from sharpstream.watching.masks import Masked
from sharpstream.watching.score import Scored, Scorer
from sharpstream.watching.tail import Tail

PREFIX = "watch."
LARGEST_NOTES = 16 << 20  # bytes of what is remembered as text


@dataclass(frozen=True)
class Verdict:
    """What is said of one line."""

    scored: Scored
    tail: float | None  # None while warming up
    group: Group | None  # of an alert

    @property
    def alert(self) -> bool:
        return self.group is not None


class Judge:
    """Judges one line after another by all that came before.

    >>> from sharpstream.watching.masks import Mask
    >>> judge, mask = Judge(alerts_per_1000=20), Mask(["auto"])
    >>> lines = [f"{i} INFO user {i} logged in" for i in range(100)] + ["7 FATAL disk 3 is on fire"]
    >>> verdicts = [judge.see(mask.apply(line), line, np.ones(20)) for line in lines]
    >>> last = verdicts[-1].scored
    >>> verdicts[-2].alert, verdicts[-1].alert, last.expected, last.got
    (False, True, 'INFO', 'FATAL')
    """

    def __init__(self, alerts_per_1000: float) -> None:
        self.scorer, self.tail, self.groups = Scorer(), Tail(alerts_per_1000), Groups()

    def see(self, line: Masked, raw: str, bits: Bits) -> Verdict:
        """Judge a line, then remember it."""
        scored = self.scorer.see(line, raw, bits)
        tail = self.tail.judge(scored.score)
        group = self.groups.add(line.words) if self.tail.alert(tail) else None
        return Verdict(scored, tail, group)

    def state(self) -> dict[str, Array]:
        """What a checkpoint needs."""
        notes = json.dumps({"usual": self.scorer.usual.state(), "groups": self.groups.state()}).encode()
        arrays = {**self.scorer.rarity.state(), **self.tail.state(), "notes": np.frombuffer(notes, np.uint8)}
        return {PREFIX + name: array for name, array in arrays.items()}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from a `state`."""
        arrays = {name.removeprefix(PREFIX): array for name, array in state.items()}
        notes = json.loads(arrays["notes"].tobytes())
        self.scorer.rarity.restore(arrays)
        self.tail.restore(arrays)
        self.scorer.usual.restore(notes["usual"])
        self.groups.restore(notes["groups"])

    def largest_state(self) -> int:
        """Bytes that its state can take."""
        return 3 * self.scorer.rarity.counts.nbytes + self.tail.histogram.nbytes + LARGEST_NOTES
