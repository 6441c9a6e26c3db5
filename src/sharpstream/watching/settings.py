"""What `sharp watch` can be told beside the learner's own settings, and the learner it uses when told nothing.

The command builds a `WatchConfig`; a watch directory keeps the last one as `watch.toml`, so that a restart needs no
flags.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sharpstream.config import (
    AdamConfig,
    RunConfig,
    SharpConfig,
    SleepConfig,
    StreamConfig,
    finite_at_least,
    positive,
    require,
    require_choices,
)
from sharpstream.config_files import from_dict, to_toml
from sharpstream.errors import ConfigError
from sharpstream.files import write_whole

FILE_NAME = "watch.toml"


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """How to read, what to say, when to alert, how often to save."""

    per: Literal["line", "token"] = "line"
    """One row of output for each line of text, or for each token."""
    unknown: Literal["map", "skip", "stop"] = "map"
    """Invalid UTF-8 and, with letters, all but letters and white space. map: learned (letters: as a space)."""
    line_limit: int = 16_384
    """Characters; a longer line is reported in pieces of this size, so that memory stays bounded."""
    alert: float = 2.0
    """Bits above the running quantile at which a line's mean surprise becomes an alert."""
    alert_quantile: float = 0.98
    """Which quantile of the recent lines' mean surprise."""
    alert_window: int = 2_000
    """How many recent lines."""
    alert_warmup: int = 1_000
    """Lines before the first alert can be given: a learner that knows nothing is surprised by everything."""
    only_alerts: bool = False
    """Write only the lines that are alerts."""
    start_at_end: bool = False
    """FILE only, at the very first start: learn from what is added from now on, not from what is there."""
    checkpoint_seconds: float = 300.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "line_limit", "alert_window", "alert_warmup")
        finite_at_least(self, 0.0, "alert", "checkpoint_seconds")
        require(0.0 < self.alert_quantile < 1.0, self, "alert_quantile", "a number between 0 and 1")
        if self.only_alerts:
            require(self.per == "line", self, "per", "'line' with only_alerts: tokens have no alerts")


def default_run() -> RunConfig:
    """A SHARP that is quick at bytes: over 5,000 tokens a second on one core, and no sleep long enough to notice."""
    sharp = SharpConfig(
        levels=3,
        width=64,
        embedding=16,
        depth=2,
        conditioning="film-normed",
        activation="between",
        adam=AdamConfig(lr=5e-4),
        sleep=SleepConfig(every=20_000, tags=32, replay_length=64),
    )
    return RunConfig(sharp=sharp, stream=StreamConfig(name="-", alphabet="bytes"))


def save_settings(directory: Path, config: WatchConfig) -> None:
    """Keep the settings beside the run's `config.toml`."""
    write_whole(directory / FILE_NAME, to_toml(config))


def load_settings(directory: Path) -> WatchConfig:
    """The settings a directory was last watched with; the defaults when it never was."""
    path = directory / FILE_NAME
    if not path.exists():
        return WatchConfig()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ConfigError(f"{path} cannot be read: {problem}; delete it to go on with the defaults") from problem
    return from_dict(WatchConfig, values)
