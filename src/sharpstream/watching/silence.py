"""Why nothing is said: a watch that gives no alerts tells the person whether it is still learning what is usual, or
what the most unusual line was and how much would have been enough."""

from sharpstream.watching.judge import Verdict
from sharpstream.watching.sources import Say
from sharpstream.watching.tail import Tail

QUIET = 10  # times the warm-up


class Silence:
    """Counts the lines since something was last said."""

    def __init__(self, tail: Tail, say: Say) -> None:
        self.tail, self.say = tail, say
        self._lines, self._highest = 0, float("-inf")
        self._wait = QUIET * tail.warmup

    def begin(self) -> None:
        """At the start: when alerts will begin."""
        if not self.tail.ready:
            self.say(
                f"no alerts in the first {self.tail.warmup - self.tail.seen:,} lines, while it learns what is usual; "
                "--learn-first OLD_LOG spares the wait"
            )

    def heard(self, verdict: Verdict) -> None:
        """After each line."""
        if self.tail.seen == self.tail.warmup:
            self.say(f"alerts from here on, about {self.tail.rate * 1000:g} in 1,000 lines")
        if verdict.alert:
            self._lines, self._highest, self._wait = 0, float("-inf"), QUIET * self.tail.warmup
        elif verdict.tail is not None:
            self._lines += 1
            self._highest = max(self._highest, verdict.scored.score)
            if self._lines == self._wait:
                self._explain()

    def _explain(self) -> None:
        """Twice as long until it is said again."""
        level = self.tail.level()
        wanted = "more than any score so far" if level is None else f"{level:.1f}"
        self.say(
            f"no alert in {self._lines:,} lines: the highest score was {self._highest:.1f}, an alert needs {wanted}"
        )
        self._wait *= 2
