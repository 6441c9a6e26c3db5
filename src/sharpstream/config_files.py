"""Configs as plain values and as TOML, in and out: what a run directory keeps, what a person writes, what a fork edits.

Reading never trusts: unknown names, wrong types and files too large to be a config are errors that name them.
"""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import tomli_w

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError

Config = TypeVar("Config")
ADDED: dict[str, dict[str, Any]] = {"EpisodicConfig": {"residual": False, "mean_every": 0}}
"""Settings that a version added with another default than what it did before: what a config saved before them means."""
LARGEST_TOML = 64 * 1024  # bytes; a whole config takes about four thousand


def to_dict(config: Any) -> dict[str, Any]:
    """A config as nested plain values, ready for JSON or TOML."""
    return dataclasses.asdict(config)


def from_dict(kind: type[Config], values: Mapping[str, Any], *, base: Config | None = None, where: str = "") -> Config:
    """Build a config from nested plain values over `base`; unknown names and wrong types are errors that name them.

    >>> from_dict(RunConfig, {"seed": 3}).seed
    3
    """
    hints = typing.get_type_hints(kind)
    changes: dict[str, Any] = {}
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where or kind.__name__} must be a table of settings, not {values!r}")
    added = ADDED.get(kind.__name__, {})
    absent = hints.keys() - values.keys()
    if absent and absent <= added.keys():  # a whole config, saved by a version without these
        changes |= {name: added[name] for name in absent}
    for name, value in values.items():
        path = f"{where}.{name}" if where else name
        if name not in hints:
            raise ConfigError(f"there is no setting {path!r}; {kind.__name__} has: {', '.join(sorted(hints))}")
        if dataclasses.is_dataclass(hints[name]):
            inner = getattr(base, name) if base is not None else None
            changes[name] = from_dict(typing.cast(type, hints[name]), value, base=inner, where=path)
        else:
            changes[name] = _plain(value, hints[name], path)
    if base is None:
        return kind(**changes)
    return typing.cast(Config, dataclasses.replace(typing.cast(Any, base), **changes))


def _plain(value: Any, hint: Any, path: str) -> Any:
    """A scalar of the hinted type, or an error; integers may stand for floats."""
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for choice in choices:
        if typing.get_origin(choice) is Literal:
            return value  # the dataclass itself names the choices
        if choice is type(None) and value is None:
            return None
        if choice is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if isinstance(choice, type) and type(value) is choice:
            return value
    wanted = " or ".join(getattr(choice, "__name__", str(choice)) for choice in choices)
    raise ConfigError(f"{path} = {value!r}: it must be of type {wanted}")


def load_toml(path: Path, base: RunConfig) -> RunConfig:
    """A run's settings from a TOML file over `base`."""
    try:
        if path.stat().st_size > LARGEST_TOML:
            raise ConfigError(f"{path} is larger than any config file ({LARGEST_TOML:,} bytes); is it the right one?")
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"cannot read the config file {path}: {problem.strerror}") from problem
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ConfigError(f"{path} is not a TOML file: {problem}") from problem
    try:
        return from_dict(RunConfig, values, base=base)
    except OverflowError as problem:
        raise ConfigError(f"{path} holds a number that is too large: {problem}") from problem


def to_toml(config: Any) -> str:
    """A config as TOML text that `load_toml` reads back; unset (None) fields are left out."""
    return tomli_w.dumps(_set_only(to_dict(config)))


def _set_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """TOML has no word for None."""
    return {
        name: _set_only(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }
