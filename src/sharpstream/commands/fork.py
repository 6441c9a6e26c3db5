"""`sharp fork DIR NEW --at TOKEN --set key=value`: what if, from here. A new run from a kept checkpoint of another.

NEW begins with the parent's log up to the fork and a `fork` row that names the changes; `parent.json` and later
`summary.json` say where it came from. It appears whole or not at all, and `sharp run NEW` continues it.
"""

import difflib
import json
import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import tyro

from sharpstream import checkpoint
from sharpstream.commands.options import parse
from sharpstream.config import RunConfig
from sharpstream.config_files import from_dict, to_dict
from sharpstream.errors import ConfigError, RunError
from sharpstream.factory import entry_of
from sharpstream.files import sync, write_whole
from sharpstream.loop import Run, prepare
from sharpstream.rundir import RunDirectory, differences, log_mark


@dataclass(frozen=True, kw_only=True)
class ForkOptions:
    """Start a new run from a kept checkpoint of another, with changed settings."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """The run to start from; it is only read."""
    new: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="NEW")]
    """Where the new run will live."""
    at: int | None = None
    """Fork after so many tokens, at a kept checkpoint (`sharp run --keep N` keeps more); the newest if not given."""
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """A changed setting, key=value, as often as needed; sleep.trigger=never is short for sharp.sleep.trigger=never."""
    json: bool = False
    """Print the parentage as JSON."""


def main(argv: Sequence[str]) -> int:
    """Fork, and say what to type next."""
    options = parse(ForkOptions, argv, command="fork")
    parent = fork(options.directory, options.new, options.at, options.set)
    if options.json:
        print(json.dumps(parent))
        return 0
    changes = ", ".join(f"{name} = {change['to']!r}" for name, change in parent["changes"].items()) or "no changes"
    more = RunDirectory(options.new).load_config().tokens > parent["tokens"]
    needed = "" if more else f" --tokens {2 * parent['tokens']}"
    why = "" if more else ": it has learned all its tokens, so it needs more of them"
    print(
        f"{options.new}: forked from {options.directory} at token {parent['tokens']:,} with {changes}; "
        f"`sharp run {options.new}{needed}` continues it{why}"
    )
    return 0


def fork(source: Path, target: Path, at: int | None, settings: Sequence[str]) -> Mapping[str, Any]:
    """Make the run directory `target`; its parentage."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RunError(f"{target} exists already; a fork needs a name of its own")
    if not RunDirectory(source).started:
        raise RunError(f"there is no run in {source}; start one with `sharp run {source}`")
    old = RunDirectory(source).load_config()
    new = changed(old, settings)
    parent = prepare(source, old)
    saved = checkpoint.load(_chosen(parent.directory, at), parent.state_limit())
    parent.look(saved)
    building = target.with_name(f".{target.name}.{os.getpid()}.forking")
    try:
        child = prepare(building, new)
        _adopt(child, saved)
        parentage = _write(child, parent, saved)
        os.rename(building, target)
        sync(target.parent)
    except OSError as problem:
        raise RunError(f"cannot make the run directory {target}: {problem.strerror or problem}") from problem
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return parentage


def _chosen(directory: RunDirectory, at: int | None) -> Path:
    """The kept checkpoint of that token, or the newest."""
    kept = checkpoint.saved(directory.checkpoints)
    if not kept:
        raise RunError(f"the run in {directory.path} has no checkpoint yet")
    if at is None:
        return kept[-1]
    for path in kept:
        if int(path.name) == at:
            return path
    there = ", ".join(str(int(path.name)) for path in kept)
    raise RunError(
        f"{directory.path} keeps no checkpoint at token {at}; it has: {there} (`sharp run --keep N` keeps more)"
    )


def _adopt(child: Run, saved: checkpoint.Checkpoint) -> None:
    """Give the child the parent's state, if its changed settings leave room for it."""
    found = differences(dict(child.stream.identity()), saved.record["stream"])
    if found:
        raise RunError(f"a fork goes on in the same stream; these changes would give it another: {'; '.join(found)}")
    if child.config.tokens < saved.tokens:
        raise RunError(f"tokens = {child.config.tokens}: {saved.tokens} were learned before the fork")
    try:
        child.adopt(saved)
    except RunError as problem:
        raise RunError(f"these changes do not fit the state of {saved.path}: {problem}") from problem
    child.learner.seed = child.config.seed  # a state brings its own; another one replays other dreams


def _write(child: Run, parent: Run, saved: checkpoint.Checkpoint) -> Mapping[str, Any]:
    """Everything a run directory has: the log so far, parentage, checkpoint, and last what makes it a run."""
    size, sha256 = log_mark(saved)
    content = parent.metrics.first(size, sha256)
    ours, theirs = _flat(to_dict(child.config)), _flat(to_dict(parent.config))
    changes = {name: {"from": theirs[name], "to": ours[name]} for name in ours if ours[name] != theirs[name]}
    state = saved.record["sha256"]
    parentage = {
        "path": str(parent.directory.path.resolve()), "tokens": saved.tokens, "state_sha256": state, "changes": changes
    }  # fmt: skip
    child.directory.create()
    child.metrics.add(content)
    child.metrics.append([{"event": "fork", "tokens": saved.tokens, "state_sha256": state, "changes": changes}])
    write_whole(child.directory.parent_file, json.dumps(parentage, indent=1) + "\n")
    child.save()
    child.directory.save_config(child.config)
    return parentage


def changed(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """The config with every `key=value` put in; values are TOML, and bare words are texts."""
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {setting}: it must be key=value, such as sharp.sleep.trigger=never")
        nested: Any = _value(text.strip())
        for part in reversed(_full_name(key.strip(), config).split(".")):
            nested = {part: nested}
        try:
            config = from_dict(RunConfig, nested, base=config)
        except OverflowError as problem:
            raise ConfigError(f"{key} = {text[:40]}: the number is too large") from problem
    return config


def _full_name(key: str, config: RunConfig) -> str:
    """The key as it stands in config.toml; the learner's own table may be left out."""
    names = _flat(to_dict(config))
    short = f"{entry_of(config.learner).settings}.{key}"
    for name in (key, short):
        if name in names:
            return name
    near = difflib.get_close_matches(short, names, n=1) or difflib.get_close_matches(key, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(f.name for f in fields(config))}"
    raise ConfigError(f"there is no setting {key!r}{hint}")


def _value(text: str) -> Any:
    if text == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings under their dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat
