"""`sharp run DIR`: start a run, or continue the one that is there, until it is finished."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from sharpstream.commands.options import parse, settings_beneath
from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.factory import learner_for
from sharpstream.loop import Stopped, finished, run
from sharpstream.report.progress import display
from sharpstream.rundir import RunDirectory


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Start or continue a run. Settings come from the recipe, then the TOML file, then these flags: the last wins."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Where the run lives. If a run is there already, it continues."""
    recipe: str | None = None
    """Begin from the settings of a recipe (`sharp recipes` lists them)."""
    config: Path | None = None
    """A TOML file of settings."""
    json: bool = False
    """Print the summary as JSON."""
    checkpoint_seconds: float = 300.0
    """Seconds between checkpoints."""
    checkpoint_at_sleep: bool = False
    """Also make a checkpoint after every sleep."""
    keep: int = 2
    """How many checkpoints to keep; `sharp fork` starts from any of them."""
    run: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)


def main(argv: Sequence[str]) -> int:
    """Parse, run, and say how it went."""
    options = _options([_short(word) for word in argv])
    config = options.run
    if options.keep < 1:
        raise ConfigError(f"--keep {options.keep}: at least 1 checkpoint must be kept")
    done = finished(RunDirectory(options.directory), config)
    if done is not None:
        _tell(options, done, "This run was finished already; a larger --tokens would continue it.")
        return 0
    start = _position(options.directory)
    try:
        with display(config.tokens, start) as shown:
            summary = run(
                options.directory,
                config,
                display=shown,
                checkpoint_seconds=options.checkpoint_seconds,
                checkpoint_at_sleep=options.checkpoint_at_sleep,
                keep=options.keep,
            )
    except Stopped as stopped:
        print(f"stopped at token {stopped.tokens:,}, everything saved; {_next_step(options)}", file=sys.stderr)
        return 128 + stopped.signal_number
    _tell(options, summary, "Finished.")
    return 0


def _next_step(options: RunOptions) -> str:
    """What a person can do after a stop: what was piped in cannot be read again."""
    if options.run.stream.name == "-":
        return "it cannot be continued: standard input is gone. `sharp watch` can be stopped and continued"
    return f"`sharp run {options.directory}` continues"


def _options(words: Sequence[str]) -> RunOptions:
    """Flags over the directory's own settings, or over recipe and TOML file: so the line is read twice."""
    options = parse(RunOptions, words, command="run")
    base = settings_beneath(options.directory, options.recipe, options.config, RunConfig())
    means_sharp = any(word.startswith(("--sharp.", "--engine")) for word in words)  # who sets SHARP up means SHARP
    if not means_sharp:
        named = any(word.startswith("--stream.name") for word in words)
        default = RunConfig(learner=learner_for(options.run.stream if named else base.stream))
        base = settings_beneath(options.directory, options.recipe, options.config, default)
    return parse(RunOptions, words, command="run", default=RunOptions(directory=options.directory, run=base))


def _tell(options: RunOptions, summary: Mapping[str, Any], ending: str) -> None:
    """The summary, for a person or a script."""
    if options.json:
        print(json.dumps(summary))
        return
    error = summary.get("error")  # not every learner says which guesses were right
    wrong = "" if error is None else f", {error:.4f} wrong guesses"
    print(
        f"{options.directory}: {summary['learner']} learned {summary['tokens']:,} tokens of "
        f"{summary['stream'].get('name', 'its stream')}: {summary['bits']:.4f} bits a token{wrong} "
        f"({summary['parameters']:,} parameters, "
        f"{summary['active_parameters']:,} active). {ending}"
    )


def _short(word: str) -> str:
    """--stream NAME is what people type; the setting is stream.name."""
    if word == "--stream":
        return "--stream.name"
    return "--stream.name=" + word.removeprefix("--stream=") if word.startswith("--stream=") else word


def _position(directory: Path) -> int:
    """How far the run already is, for the progress display."""
    from sharpstream.checkpoint import saved

    names = [path.name for path in saved(RunDirectory(directory).checkpoints)]
    return int(names[-1]) if names else 0
