"""From the bytes of a line to what is learned and shown: its text, one field of it if it is JSON, masked, as tokens."""

import re
from dataclasses import dataclass
from typing import Any

from sharpstream.errors import StreamError
from sharpstream.streams.text import Alphabet, Encoder, TokenBytes
from sharpstream.watching.fields import field_of
from sharpstream.watching.lines import Line, visible
from sharpstream.watching.masks import Mask, Masked
from sharpstream.watching.settings import WatchConfig
from sharpstream.watching.sources import Say

# Bytes that are not UTF-8 are carried as the code points U+DC80..U+DCFF, which no valid text can hold.
UNKNOWN = {"bytes": re.compile("[\udc80-\udcff]"), "letters": re.compile(r"[^A-Za-z \t\r\n\v\f]")}


@dataclass(frozen=True)
class Reading:
    """A line as it is shown, and as it is learned."""

    text: str
    masked: Masked
    tokens: TokenBytes
    given: Any  # the time a JSON line carries beside its text


class Reader:
    """Reads one line after another; remembers only whether the last token was a space, and counts."""

    def __init__(self, alphabet: Alphabet, config: WatchConfig, say: Say) -> None:
        self.alphabet, self.config, self.say = alphabet, config, say
        self.mask = Mask(config.mask)
        self.unknown = 0  # symbols so far
        self.without_field = 0  # lines so far
        self._encoder, self._after_space = Encoder(alphabet), False

    def read(self, line: Line) -> Reading:
        """What a line says; with --unknown stop, refuses one that has an unknown symbol."""
        raw = line.data.decode("utf-8", "surrogateescape").removesuffix("\r")
        text, given = self._field(raw, line) if self.config.field else (raw, None)
        unknown = UNKNOWN[self.alphabet].findall(text) if self.alphabet == "letters" or not text.isascii() else []
        if unknown and self.config.unknown == "stop":
            raise StreamError(
                f"line {line.number:,} of {line.source} has the unknown symbol {visible(unknown[0])!r}, and --unknown "
                "is stop"
            )
        self.unknown += len(unknown)
        masked = self.mask.apply(text)
        return Reading(text, masked, self._tokens(masked.text + ("" if line.end == "cut" else "\n")), given)

    def _field(self, raw: str, line: Line) -> tuple[str, Any]:
        text, given = field_of(raw, self.config.field)
        if text is None:
            if not self.without_field:
                self.say(
                    f"line {line.number:,} of {line.source} has no field {self.config.field!r}; such lines are taken "
                    "whole"
                )
            self.without_field += 1
        return (raw if text is None else text), given

    def _tokens(self, symbols: str) -> TokenBytes:
        if self.config.unknown == "skip" and not (self.alphabet == "bytes" and symbols.isascii()):
            symbols = UNKNOWN[self.alphabet].sub("", symbols)
        tokens = self._encoder.encode(symbols.encode("utf-8", "surrogateescape"))
        if tokens.size:
            self._after_space = bool(tokens[-1] == 0)
        return tokens

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"after_space": self._after_space, "unknown": self.unknown, "without_field": self.without_field}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self._after_space = bool(state["after_space"])
        self._encoder = Encoder(self.alphabet, after_space=self._after_space)
        self.unknown, self.without_field = int(state["unknown"]), int(state["without_field"])
