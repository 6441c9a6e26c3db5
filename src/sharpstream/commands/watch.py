"""`sharp watch DIR [FILE]`: learn from standard input or a growing file, and say how surprising each line was."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from sharpstream.commands.options import parse, settings_beneath
from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError, RunError
from sharpstream.factory import make_learner
from sharpstream.learners.contract import Learner
from sharpstream.report.progress import tell_if_compiling
from sharpstream.rundir import RunDirectory, config_differences
from sharpstream.streams.text import symbols_of
from sharpstream.watching.follow import FollowedFile, check_followable
from sharpstream.watching.output import Rows, say
from sharpstream.watching.settings import WatchConfig, default_run, load_settings, save_settings
from sharpstream.watching.sources import Source, StandardInput
from sharpstream.watching.watch import Watch

# Flags of `sharp run` that mean nothing to a stream without an end.
MEANINGLESS = ("--tokens", "--log-every", "--probe", "--stream.name", "--stream.k", "--stream.start", "--stream.end")


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Learn as tokens arrive; one row of JSON per line (or token) with its surprise in bits goes to standard output.

    Settings of the learner are those of `sharp run`; a directory that was watched before keeps its own.
    """

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Where the learner lives. If it was watched before, it goes on from there."""
    file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None
    """A growing file to follow through rotation and truncation; standard input when not given."""
    recipe: str | None = None
    """Begin from the settings of a recipe (`sharp recipes` lists them)."""
    config: Path | None = None
    """A TOML file of the learner's settings."""
    watch: Annotated[WatchConfig, tyro.conf.arg(name="")] = field(default_factory=WatchConfig)
    run: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=default_run)


def main(argv: Sequence[str]) -> int:
    """Parse, watch, and say how it went; 128 + the signal's number when one ended it."""
    options = _options([_short(word) for word in argv])
    path = None if options.file is None else Path(os.path.abspath(options.file))
    run = options.run.replace(stream=replace(options.run.stream, name="-" if path is None else str(path)))
    directory = RunDirectory(options.directory)
    if directory.started:
        _check_same(directory, run)
    check_source(path)
    learner = make_learner(run, len(symbols_of(run.stream.alphabet)))
    watch = Watch(directory, run, options.watch, learner, Rows(sys.stdout.buffer), say)
    directory.create()
    with directory.locked():
        watch.restore()
        directory.save_config(run)
        save_settings(options.directory, options.watch)
        _warm_up(learner)
        with closing(open_source(path, watch)) as source:
            watch.go(source)
    if watch.rows.problem:
        raise RunError(f"cannot write to standard output: {watch.rows.problem}; everything so far is saved")
    if watch.rows.gone and not watch.stop_signal:
        raise BrokenPipeError  # the command line makes this a quiet exit
    say(watch.summary())
    return 128 + watch.stop_signal if watch.stop_signal else 0


def _options(words: Sequence[str]) -> WatchOptions:
    """Flags over the directory's own settings, or over recipe and TOML file: so the line is read twice."""
    options = parse(WatchOptions, words, command="watch")
    run = settings_beneath(options.directory, options.recipe, options.config, default_run())
    base = WatchOptions(directory=options.directory, watch=load_settings(options.directory), run=run)
    return parse(WatchOptions, words, command="watch", default=base)


def _short(word: str) -> str:
    """--alphabet is what people type; flags that only make sense for a run with an end are refused."""
    flag = word.split("=", 1)[0]
    if flag.startswith(MEANINGLESS) or flag == "--stream":
        raise ConfigError(f"{flag} has no meaning here: watching reads FILE or standard input as long as there is any")
    return "--stream.alphabet" + word.removeprefix("--alphabet") if flag == "--alphabet" else word


def _check_same(directory: RunDirectory, run: RunConfig) -> None:
    """A directory keeps its learner; what it reads may change."""
    theirs = directory.load_config()
    found = config_differences(run, theirs.replace(stream=replace(theirs.stream, name=run.stream.name)))
    if found:
        raise RunError(
            f"{directory.path} was begun with other settings ({'; '.join(found)}); leave them out, or choose another "
            "directory"
        )


def _warm_up(learner: Learner) -> None:
    """Compile now, so that the first line is not kept waiting."""
    tell_if_compiling(say, learner)
    try:
        learner.predict()
    except KeyboardInterrupt:
        raise RunError("interrupted before the first token") from None


def check_source(path: Path | None) -> None:
    """What can be known to be wrong with the input before anything is written."""
    if path is None:
        StandardInput()
    else:
        check_followable(path)


def open_source(path: Path | None, watch: Watch) -> Source:
    """The input, at the place where it was left."""
    if path is None:
        return StandardInput()
    return FollowedFile(path, say, place=watch.last_place, at_end=watch.config.start_at_end)
