"""From a name in a config to an open stream: the one door the loop and the experiments come through.

Each kind of stream is imported when it is asked for, so that a synthetic run never loads the network or zip code.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

from sharpstream.config import StreamConfig
from sharpstream.errors import StreamError
from sharpstream.streams.base import Stream


def open_stream(config: StreamConfig, *, seed: int) -> Stream:
    """The stream a config names, at the first token of its slice.

    >>> open_stream(StreamConfig(name="linear", start=2), seed=0).take(3).tolist()
    [2, 3, 4]
    """
    opener = _OPENERS.get(config.name)
    if opener is not None:
        return opener(config, seed)
    from sharpstream.streams import catalogue, places
    from sharpstream.streams.store import open_store

    if config.name in catalogue.added_names():
        return open_store(places.added_base(config.name)).stream(config.start, config.end)
    path = Path(config.name).expanduser()
    table, _, column = config.name.rpartition(":")
    if table.endswith(".csv") and not _exists(path) and _exists(Path(table).expanduser()):
        from sharpstream.streams.columns import open_column

        return open_column(Path(table).expanduser(), column, start=config.start, end=config.end)
    if path.suffix == ".npy" and _exists(path):
        from sharpstream.streams.columns import open_array

        return open_array(path, start=config.start, end=config.end)
    if _exists(path):
        from sharpstream.streams.files import open_file

        return open_file(path, config.alphabet, start=config.start, end=config.end)
    raise unknown_stream(config.name)


def unknown_stream(name: str) -> StreamError:
    """What to say of a name that is neither a stream nor a file."""
    from sharpstream.streams.catalogue import all_names

    names = all_names()
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]}?" if near else ""
    return StreamError(
        f"there is no stream or file {name!r}.{guess} Streams: {', '.join(names)}, a file path, or - for standard input"
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, or with a NUL in it, is no file
        return False


def _open_synthetic(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams import synthetic

    if config.name == "linear":
        return synthetic.Linear(seed=seed, start=config.start, end=config.end)
    if config.name == "random":
        return synthetic.Random(seed=seed, start=config.start, end=config.end)
    return synthetic.Nonlinear(config.k, seed=seed, start=config.start, end=config.end)


def _open_python_docs(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams.python_docs import open_python_docs

    return open_python_docs(config.start, config.end)


def _open_text8(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams.text8 import text8_store

    return text8_store().stream(config.start, config.end)


def _open_pg19(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams.pg19 import pg19_store

    return pg19_store(config.name).stream(config.start, config.end)


def _open_subword(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams.subword import open_subword

    return open_subword(config)


def _open_standard_input(config: StreamConfig, seed: int) -> Stream:
    from sharpstream.streams.live import from_descriptor

    return from_descriptor(0, config.alphabet, start=config.start, end=config.end)


_OPENERS: dict[str, Callable[[StreamConfig, int], Stream]] = {
    "linear": _open_synthetic,
    "random": _open_synthetic,
    "nonlinear": _open_synthetic,
    "python-docs": _open_python_docs,
    "text8": _open_text8,
    "pg19": _open_pg19,
    "pg19-validation": _open_pg19,
    "pg19-subword": _open_subword,
    "pg19-subword-validation": _open_subword,
    "python-docs-subword": _open_subword,
    "-": _open_standard_input,
}
