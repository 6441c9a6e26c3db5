"""The two ways of scoring, `fair` and `paper`, as named objects.

An experiment picks one by name, configures its learners from it and writes the name into every result row. `fair` is
the default; `paper` exists to stand beside the published tables.
"""

from dataclasses import dataclass
from typing import Literal

from sharpstream.config_checks import require, require_choices
from sharpstream.errors import ConfigError
from sharpstream.evaluate.bits import PAPER_CAP

RECURRENT = ("rnn", "lstm", "gru")


@dataclass(frozen=True, kw_only=True)
class EvaluationProtocol:
    """How learners carry their state, what they may see while scored, and what is done to their bits."""

    name: str
    description: str
    clip: float | None
    """Cap on each token's bits before averaging; None: true bits."""
    carry: Literal["aligned", "overlap"]
    """Recurrent state between windows: from after the last window's first token (aligned: each token is read once), or
    from its end (overlap: every window is read again)."""
    transformer_context: Literal["full", "window4"]
    """What a Transformer sees when scored: its whole trained context, or isolated windows of 4 tokens."""
    clip_exceptions: tuple[tuple[str, str, float | None], ...] = ()
    """(learner, stream, clip): where the published tables used another cap; an empty stream means any."""

    def __post_init__(self) -> None:
        require_choices(self)
        require(bool(self.name), self, "name", "a name")
        require(self.clip is None or self.clip > 0.0, self, "clip", "a positive number of bits, or None")

    def clip_for(self, learner: str, stream: str = "") -> float | None:
        """The cap this protocol puts on one learner's bits on one stream.

        >>> PAPER.clip_for("sharp", "text8"), PAPER.clip_for("gru", "text8"), PAPER.clip_for("clockwork")
        (4.755, 4.75, None)
        """
        for name, where, clip in self.clip_exceptions:
            if name == learner and where in ("", stream):
                return clip
        return self.clip


FAIR = EvaluationProtocol(
    name="fair",
    description="true bits; recurrent learners carry the aligned state and are scored token by token; "
    "the Transformer is scored with its full trained context",
    clip=None,
    carry="aligned",
    transformer_context="full",
)

PAPER = EvaluationProtocol(
    name="paper",
    description="as published: bits capped at 4.755 per token; overlapping windows re-read from the end-of-window "
    "state, so each token is consumed four times; the Transformer is scored on isolated windows of 4 tokens",
    clip=PAPER_CAP,
    carry="overlap",
    transformer_context="window4",
    clip_exceptions=(*((name, "text8", 4.75) for name in RECURRENT), ("clockwork", "", None)),
)

PROTOCOLS = {protocol.name: protocol for protocol in (FAIR, PAPER)}


def protocol_named(name: str) -> EvaluationProtocol:
    """The protocol of that name, or an error that lists them."""
    if name not in PROTOCOLS:
        raise ConfigError(f"there is no protocol {name!r}; there are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
