"""`sharp watch DIR [FILE ...]`: learn from standard input or growing files, and say which lines stand out, and why."""

import os
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
from sharpstream.watching.files import Files, expanded
from sharpstream.watching.follow import check_followable
from sharpstream.watching.learn_first import learn_first
from sharpstream.watching.metrics import Gauges
from sharpstream.watching.notify import Notifier
from sharpstream.watching.output import say, standard_output
from sharpstream.watching.reported import Reported
from sharpstream.watching.settings import WatchConfig, default_run, load_settings, save_settings
from sharpstream.watching.sources import STANDARD_INPUT, Source, StandardInput, check_standard_input
from sharpstream.watching.watch import Watch

# Flags of `sharp run` that mean nothing to a stream without an end.
MEANINGLESS = ("--tokens", "--log-every", "--probe", "--stream.name", "--stream.k", "--stream.start", "--stream.end")


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Learn line by line as they arrive; one row for each goes to standard output, and says how much it stands out.

    Settings of the learner are those of `sharp run`; a directory that was watched before keeps its own.
    """

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Where the learner lives. If it was watched before, it goes on from there."""
    files: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = ()
    """Growing files, or globs in quotes, to follow through rotation and truncation; standard input when not given."""
    fast: bool = False
    """A smaller learner, about twice as fast; only for a new directory."""
    learn_first: Path | None = None
    """An old log, plain or .gz, that a new directory learns before it begins to watch."""
    recipe: str | None = None
    """Begin from the settings of a recipe (`sharp recipes` lists them)."""
    config: Path | None = None
    """A TOML file of the learner's settings."""
    watch: Annotated[WatchConfig, tyro.conf.arg(name="")] = field(default_factory=WatchConfig)
    run: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=default_run)


def main(argv: Sequence[str]) -> int:
    """Parse, watch, and say how it went; 128 + the signal's number when one ended it."""
    options = _options([_short(word) for word in argv])
    names = [os.path.abspath(name) for name in options.files]
    run = options.run.replace(stream=replace(options.run.stream, name=STANDARD_INPUT))
    directory = RunDirectory(options.directory)
    if directory.started:
        _check_same(directory, run)
    _check(names, options.learn_first)
    learner = make_learner(run, len(symbols_of(run.stream.alphabet)))
    watch = Watch(directory, run, options.watch, learner, standard_output(options.watch), say)
    with closing(Gauges(options.watch.metrics, say)) as gauges:
        directory.create()
        with directory.locked():
            watch.memory.restore()
            directory.save_config(run)
            save_settings(options.directory, options.watch)
            _warm_up(learner)
            if options.learn_first is not None:
                learn_first(watch, options.learn_first)
            if not watch.stop_signal:
                _watch(watch, names, gauges)
    return _said(watch)


def _watch(watch: Watch, names: list[str], gauges: Gauges) -> None:
    with closing(open_source(names, watch)) as source, closing(Notifier(watch.config.on_alert, say)) as notifier:
        watch.go(source, notifier, gauges)


def _said(watch: Watch) -> int:
    """The last words, and the exit code."""
    if watch.rows.problem:
        raise RunError(f"cannot write to standard output: {watch.rows.problem}; everything so far is saved")
    if watch.rows.gone and not watch.stop_signal:
        raise BrokenPipeError  # the command line makes this a quiet exit
    say(watch.memory.summary())
    return 128 + watch.stop_signal if watch.stop_signal else 0


def _options(words: Sequence[str]) -> WatchOptions:
    """Flags over the directory's own settings, or over recipe and TOML file: so the line is read twice."""
    options = parse(WatchOptions, words, command="watch")
    if options.fast and RunDirectory(options.directory).started:
        raise ConfigError(f"{options.directory} has its own settings already; leave out --fast")
    run = settings_beneath(options.directory, options.recipe, options.config, default_run(fast=options.fast))
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


def _check(names: Sequence[str], old: Path | None) -> None:
    """What can be known to be wrong with the input before anything is written."""
    if not names:
        check_standard_input()
    for path in expanded(names):
        check_followable(path)
    if old is not None:
        if not old.exists():
            raise ConfigError(f"there is no {old} to learn first")
        check_followable(old)


def open_source(names: Sequence[str], watch: Watch) -> Source:
    """The input, at the place where it was left."""
    places, limit = watch.memory.places, watch.config.line_limit
    if not names:
        return StandardInput(limit, places)
    reported = Reported(watch.memory.directory.path)
    at_end = watch.config.start_at_end and not watch.totals.lines
    return Files(names, say, limit=limit, places=places, reported=reported, at_end=at_end)
