"""`sharp compress FILE`, `sharp decompress FILE`: a file as the bits that a learner needs for it, and back."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sharpstream import archive
from sharpstream.commands.options import parse
from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError, DataError
from sharpstream.factory import make_learner
from sharpstream.files import write_whole
from sharpstream.report.progress import display, tell_if_compiling

SUFFIX = ".sharp"


@dataclass(frozen=True, kw_only=True)
class CompressOptions:
    """Write FILE.sharp: each byte coded with what a learner predicted before it saw it. FILE stays."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """What to compress: any file."""
    out: Path | None = None
    """Where the archive goes; FILE.sharp when not given."""
    learner: str = "episodic"
    """Who predicts: episodic, or any other learner (slower ones take hours)."""
    memory: str = "256MB"
    """episodic only: the budget of its memory; the same is needed to decompress."""
    fast: bool = False
    """episodic only: without its network."""
    force: bool = False
    """Replace the archive if there is one."""


@dataclass(frozen=True, kw_only=True)
class DecompressOptions:
    """Write back the file that an archive was made of. The archive stays."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """An archive of `sharp compress`."""
    out: Path | None = None
    """Where the file goes; the archive's name without .sharp when not given."""
    force: bool = False
    """Replace the file if there is one."""


def main(argv: Sequence[str]) -> int:
    """Compress, and say what came of it."""
    options = parse(CompressOptions, argv, command="compress")
    data = read_file(options.file)
    out = free(options.out or options.file.with_name(options.file.name + SUFFIX), options.force)
    config = config_of(options)
    with display(len(data), unit="bytes") as shown:
        tell_if_compiling(shown.note, make_learner(config, archive.BYTES))
        packed = archive.compress(data, config, watch=shown.update)
    write_whole(out, packed)
    share = f", {8 * len(packed) / len(data):.3f} bits a byte" if data else ""
    print(f"{out}: {len(data):,} → {len(packed):,} bytes{share}")
    return 0


def main_decompress(argv: Sequence[str]) -> int:
    """Decompress, and say where it is."""
    options = parse(DecompressOptions, argv, command="decompress")
    if options.out is None and options.file.suffix != SUFFIX:
        raise ConfigError(f"{options.file} does not end in {SUFFIX}; say with --out where its file is to go")
    out = free(options.out or options.file.with_suffix(""), options.force)
    packed = read_file(options.file)
    header, _ = archive.opened(packed)
    with display(header.length, unit="bytes") as shown:
        data = archive.decompress(packed, watch=shown.update)
    write_whole(out, data)
    print(f"{out}: {len(packed):,} → {len(data):,} bytes, as they were")
    return 0


def config_of(options: CompressOptions) -> RunConfig:
    """The learner that predicts."""
    if options.learner != "episodic":
        return RunConfig(learner=options.learner)
    default = archive.DEFAULT
    episodic = dataclasses.replace(default.episodic, memory=options.memory)
    fast = dataclasses.replace(episodic, network=0, residual=False)
    return default.replace(episodic=fast if options.fast else episodic)


def read_file(path: Path) -> bytes:
    """The whole file."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem


def free(path: Path, force: bool) -> Path:
    """A path that may be written: nobody's file is replaced unasked."""
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already; choose another with --out, or replace it with --force")
    if path.is_dir():
        raise ConfigError(f"{path} is a directory; name a file with --out")
    return path
