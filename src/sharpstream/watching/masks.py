"""What varies by nature should not surprise: times, addresses, identifiers, hex and numbers become `*` for the score.

A line comes in, a `Masked` goes out: the text the learner reads, its words, and where each of them is in the raw line.
The rules are fixed (`auto`), switched off (`none`), or regular expressions of the person's own.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sharpstream.errors import ConfigError

PLACEHOLDER = "*"  # one character: places are counted by it
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\x20"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?"
_ZONE = r"(?:\x20?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\b)?"
# The first that fits at a place wins, so the particular comes before the general.
AUTO = {
    "time": rf"""(?<![0-9A-Za-z])(?:
        \d{{4}}[-/.]\d\d[-/.]\d\d(?:[T\x20_-]\x20?{_CLOCK}{_ZONE})?
      | (?:{_DAY})?{_MONTH}\x20{{1,2}}\d\d?(?:,?\x20\d{{4}})?(?:\x20{_CLOCK}(?:\x20[A-Z]{{3,4}})?(?:\x20\d{{4}})?)?
      | \d\d[-/]\d\d(?:[-/]\d\d(?:\d\d)?)?\x20{_CLOCK}
      | \d\d?/{_MONTH}/\d{{4}}:{_CLOCK}{_ZONE}
    )(?![0-9A-Za-z])""",
    "uuid": r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])",
    "address": r"""(?<![0-9A-Za-z.:])(?:
        \d{1,3}(?:\.\d{1,3}){3}(?::\d+)?
      | [0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}
      | (?=[0-9a-fA-F:]*[0-9])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}
    )(?![0-9A-Za-z])""",
    "hex": r"""0[xX][0-9a-fA-F]+(?![0-9A-Za-z])
      | (?<![0-9A-Za-z])(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{6,}(?![0-9A-Za-z])""",
    "number": r"(?:(?<![0-9A-Za-z\])}])-)?\d+(?:[.:,/-]\d+(?![0-9A-Za-z]))*",  # SHA256:2cf5 is no number 256:2
}
_AUTO = re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in AUTO.items()), re.VERBOSE)
_WORD = re.compile(r"\S+")
Range = tuple[int, int]


@dataclass(frozen=True)
class Masked:
    """A line as the score sees it."""

    text: str
    spans: tuple[tuple[str, int, int], ...]  # kind and place in the raw line of each thing that was masked
    ends: tuple[int, ...]  # in `text`, where each placeholder ends

    @property
    def words(self) -> list[str]:
        return self.text.split()

    def word_bytes(self) -> list[int]:
        """Where each word begins in the UTF-8 bytes of `text`."""
        starts = [word.start() for word in _WORD.finditer(self.text)]
        if self.text.isascii():
            return starts
        return [len(self.text[:start].encode("utf-8", "surrogateescape")) for start in starts]

    def word_ranges(self) -> list[Range]:
        """Where each word is in the raw line."""
        return [(self.raw(word.start()), self.raw(word.end())) for word in _WORD.finditer(self.text)]

    def kinds(self) -> dict[str, int]:
        """How many of each kind were masked."""
        found: dict[str, int] = {}
        for kind, _, _ in self.spans:
            found[kind] = found.get(kind, 0) + 1
        return found

    def raw(self, place: int) -> int:
        """The place in the raw line of a place in `text`."""
        before = bisect_right(self.ends, place)  # placeholders that lie before; each is one character
        return place if before == 0 else self.spans[before - 1][2] + place - self.ends[before - 1]


class Mask:
    """Finds what varies by nature.

    >>> line = Mask(["auto"]).apply("Jun 14 15:16:01 combo sshd[19939]: from 218.188.2.4 port 22")
    >>> line.text, line.kinds()
    ('* combo sshd[*]: from * port *', {'time': 1, 'number': 2, 'address': 1})
    >>> line.word_ranges()[:3]
    [(0, 15), (16, 21), (22, 34)]
    """

    def __init__(self, rules: Sequence[str]) -> None:
        if "none" in rules and len(rules) > 1:
            raise ConfigError(f"mask = {' '.join(rules)}: 'none' stands alone; leave it out, or leave the others out")
        self._rules: list[re.Pattern[str]] = []
        for rule in rules:
            if rule == "auto":
                self._rules.append(_AUTO)
            elif rule != "none":
                self._rules.append(_compiled(rule))

    def apply(self, line: str) -> Masked:
        """The line with everything that a rule finds replaced; the longer of two that begin together is taken."""
        found = [
            (match.start(), match.end(), match.lastgroup if rule is _AUTO else "custom")
            for rule in self._rules
            for match in rule.finditer(line)
            if match.end() > match.start()
        ]
        if len(self._rules) > 1:
            found.sort(key=lambda span: (span[0], -span[1]))
        parts: list[str] = []
        spans, ends = [], []
        last = length = 0
        for start, end, kind in found:
            if start >= last:
                parts += [line[last:start], PLACEHOLDER]
                length += start - last + 1
                spans.append((kind or "number", start, end))
                ends.append(length)
                last = end
        return Masked("".join([*parts, line[last:]]), tuple(spans), tuple(ends))


def _compiled(rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as problem:
        raise ConfigError(
            f"mask = {rule!r} is no regular expression ({problem}); it must be auto, none, or one"
        ) from problem
