"""What `sharp watch` can be told beside the learner's own settings, and the learner it uses when told nothing.

The command builds a `WatchConfig`; a watch directory keeps the last one as `watch.toml`, so that a restart needs no
flags.
"""

import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sharpstream.config import EpisodicConfig, RunConfig, StreamConfig
from sharpstream.config_checks import finite_at_least, positive, require, require_choices
from sharpstream.config_files import from_dict, to_toml
from sharpstream.errors import ConfigError
from sharpstream.files import write_whole
from sharpstream.watching.masks import Mask
from sharpstream.watching.metrics import parse_address
from sharpstream.watching.notify import words_of

FILE_NAME = "watch.toml"


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """How to read, what to say, when to alert, how often to save."""

    per: Literal["line", "token"] = "line"
    """One row of output for each line of text, or for each token."""
    format: Literal["auto", "json", "text"] = "auto"
    """Rows of JSON, or text for people; auto: text on a terminal."""
    mask: tuple[str, ...] = ("auto",)
    """What varies by nature must not surprise: auto (times, addresses, numbers, ...), none, or regular expressions."""
    field: str = ""
    """Lines are JSON, and this field of them is what is learned (dots lead inside)."""
    unknown: Literal["map", "skip", "stop"] = "map"
    """Invalid UTF-8 and, with letters, all but letters and white space. map: learned (letters: as a space)."""
    line_limit: int = 16_384
    """Bytes; a longer line is reported in pieces of this size, so that memory stays bounded."""
    alerts_per_1000: float = 5.0
    """About how many of 1,000 lines may be alerts."""
    only_alerts: bool = False
    """Write only the lines that are alerts; of one kind the first, the tenth, the hundredth, ..."""
    on_alert: str = ""
    """A command for each alert that is announced: it gets the row on standard input; no shell is involved."""
    metrics: str = ""
    """Numbers for Prometheus: :PORT (on localhost), HOST:PORT, or a path with a / in it."""
    start_at_end: bool = False
    """Files only, at the very first start: learn from what is added from now on, not from what is there."""
    checkpoint_seconds: float = 300.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "line_limit")
        finite_at_least(self, 0.0, "checkpoint_seconds")
        finite_at_least(self, 0.01, "alerts_per_1000")
        require(self.alerts_per_1000 <= 500, self, "alerts_per_1000", "a number from 0.01 to 500")
        if self.only_alerts:
            require(self.per == "line", self, "per", "'line' with only_alerts: tokens have no alerts")
        Mask(self.mask)
        words_of(self.on_alert)
        if self.metrics:
            parse_address(self.metrics)


def default_run(*, fast: bool = False) -> RunConfig:
    """An episodic learner of bytes without its residual, as alerts were measured; `fast` leaves out more."""
    full = EpisodicConfig(memory="64MB", residual=False, mean_every=0)
    quick = EpisodicConfig(memory="16MB", residual=False, mean_every=0, network=0, skips=False, orders=5)
    return RunConfig(
        learner="episodic", episodic=quick if fast else full, stream=StreamConfig(name="-", alphabet="bytes")
    )


def save_settings(directory: Path, config: WatchConfig) -> None:
    """Keep the settings beside the run's `config.toml`."""
    write_whole(directory / FILE_NAME, to_toml(config))


def load_settings(directory: Path) -> WatchConfig:
    """The settings a directory was last watched with; the defaults when it never was."""
    path = directory / FILE_NAME
    if not path.exists():
        return WatchConfig()
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        mask = tuple(map(str, values.pop("mask", ("auto",))))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as problem:
        raise ConfigError(f"{path} cannot be read: {problem}; delete it to go on with the defaults") from problem
    return dataclasses.replace(from_dict(WatchConfig, values), mask=mask)
