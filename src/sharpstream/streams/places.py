"""Where corpora are looked for: the person's SHARP_DATA directory first, then our cache (SHARP_CACHE).

Also the one way this package speaks unasked: `notice`, a line on stderr that the logger `sharpstream` can redirect.
"""

import logging
import os
from functools import cache
from pathlib import Path

from sharpstream.errors import DataError


def data_directory() -> Path | None:
    """The directory of corpora the person provides, if SHARP_DATA names one."""
    named = os.environ.get("SHARP_DATA", "")
    if not named:
        return None
    if not Path(named).expanduser().is_dir():
        raise DataError(f"SHARP_DATA names {named}, which is not a directory")
    return Path(named).expanduser()


def cache_directory() -> Path:
    """Where downloads and converted corpora are kept; made when first written to."""
    named = os.environ.get("SHARP_CACHE", "")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "sharpstream"


def corpus_base(name: str) -> Path:
    """The token store of a corpus of ours."""
    return cache_directory() / "corpora" / name


def added_base(name: str) -> Path:
    """The token store of a file added by `sharp data add`."""
    return cache_directory() / "added" / name


def download_path(name: str) -> Path:
    """Where a downloaded file is kept."""
    return cache_directory() / "downloads" / name


@cache  # a process opens the same corpus many times; once is enough to be told
def notice(message: str) -> None:
    """Say something the person should know, once; on stderr unless logging is set up otherwise."""
    logging.getLogger("sharpstream").warning(message)
