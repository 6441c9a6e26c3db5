"""From words on the command line to a dataclass, with every mistake told in one line."""

import contextlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from sharpstream.config import RunConfig
from sharpstream.config_files import load_toml
from sharpstream.errors import ConfigError
from sharpstream.experiments.recipes import recipe_named
from sharpstream.rundir import RunDirectory

Options = TypeVar("Options")


def parse(kind: type[Options], argv: Sequence[str], *, command: str, default: Any = None) -> Options:
    """Options of a command, over `default` if given. Help is printed as usual; mistakes become a ConfigError."""
    import tyro

    said = io.StringIO()
    extra: dict[str, Any] = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(said):
            options: Options = tyro.cli(kind, args=list(argv), prog=f"sharp {command}", **extra)
            return options
    except SystemExit as leaving:
        if not leaving.code:
            raise
        whole = [whole_number(word) for word in argv]
        if "invalid literal for int()" in said.getvalue() and whole != list(argv):
            return parse(kind, whole, command=command, default=default)
        raise ConfigError(f"{one_line(said.getvalue())}; see: sharp {command} --help") from None


def whole_number(word: str) -> str:
    """1e6 as 1000000, where it is a whole number; anything else as it is.

    >>> [whole_number(word) for word in ("1e6", "--tokens=2.5e3", "1e-4", "2.55e1", "out", "1e99")]
    ['1000000', '--tokens=2500', '1e-4', '2.55e1', 'out', '1e99']
    """
    name, equals, number = word.rpartition("=")
    if not re.fullmatch(r"\d+(\.\d+)?[eE]\+?\d{1,2}", number) or float(number) > 1e18 or float(number) % 1:
        return word
    return f"{name}{equals}{int(float(number))}"


def one_line(boxed: str) -> str:
    """The message inside tyro's box, up to its first rule, as one line; a suggestion is kept."""
    lines = [re.sub(r"^[│╭╰]\s?|\s*[│╮╯]$", "", line).strip() for line in boxed.splitlines()]
    parts: list[list[str]] = [[]]
    for line in lines:
        if not line or set(line) <= set("─ ") or line.endswith("──"):
            parts.append([])
        else:
            parts[-1].append(line)
    told = [" ".join(part) for part in parts if part]
    message = told[0] if told else "the options could not be understood"
    meant = next((part for part in told[1:] if part.startswith("Perhaps you meant")), "")
    return f"{message} ({' '.join(meant.split()[:4]).rstrip(',')}?)" if meant else message


def settings_beneath(directory: Path, recipe: str | None, toml: Path | None, default: RunConfig) -> RunConfig:
    """What flags are laid over: the settings a directory already has, or recipe and TOML file over `default`."""
    if RunDirectory(directory).started:
        if recipe or toml:
            raise ConfigError(f"{directory} has its own settings already; leave out --recipe and --config")
        return RunDirectory(directory).load_config()
    base = recipe_named(recipe) if recipe else default
    return load_toml(toml, base) if toml else base
