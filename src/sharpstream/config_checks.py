"""What the settings check themselves with: a value that is not allowed is refused by its field's name.

`config.py` and `config_learners.py` call these in `__post_init__`; result rows do, too.
"""

import math
import re
import typing
from typing import Any, Literal

from sharpstream.errors import ConfigError

DEEPEST, WIDEST = 64, 65_536  # no learner of ours is near; a slip of the keyboard is refused before it allocates


def require(ok: bool, owner: object, name: str, allowed: str) -> None:
    """Refuse a field's value, naming the field, the value and what is allowed."""
    if not ok:
        raise ConfigError(f"{type(owner).__name__}.{name} = {getattr(owner, name)!r}: it must be {allowed}")


def require_choices(owner: Any) -> None:
    """Check every Literal field of a dataclass against its choices (the types alone do not hold at run time)."""
    for name, hint in typing.get_type_hints(type(owner)).items():
        if typing.get_origin(hint) is Literal:
            choices = typing.get_args(hint)
            require(getattr(owner, name) in choices, owner, name, "one of " + ", ".join(map(repr, choices)))


def positive(owner: object, *names: str, most: int | None = None) -> None:
    """Each named field is an integer of at least 1, and at most `most`."""
    allowed = "an integer ≥ 1" if most is None else f"an integer in 1..{most}"
    for name in names:
        value = getattr(owner, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        require(whole and 1 <= value <= (value if most is None else most), owner, name, allowed)


def finite_at_least(owner: object, low: float, *names: str) -> None:
    """Each named field is a finite number of at least `low`."""
    for name in names:
        value = getattr(owner, name)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(number and math.isfinite(value) and value >= low, owner, name, f"a finite number ≥ {low:g}")


SMALLEST_MEMORY, LARGEST_MEMORY = 64 << 10, 1 << 40  # bytes


def parse_bytes(text: str) -> int | None:
    """Bytes from a number with an optional unit; None when it is neither.

    >>> parse_bytes("256MB"), parse_bytes("1.5 kB"), parse_bytes("a lot")
    (268435456, 1536, None)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*(|k|m|g)i?b?\s*", text.lower())
    if match is None:
        return None
    return int(float(match[1]) * 1024 ** ("kmg".find(match[2]) + 1 if match[2] else 0))
