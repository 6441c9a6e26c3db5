"""Downloads: one remote file to one path, whole and with the right checksum, or a DataError and nothing left behind.

A broken transfer is started again a few times. The bytes go to a temporary name and are renamed when they are right.
"""

import hashlib
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from sharpstream.errors import DataError
from sharpstream.streams.store import replacing

ATTEMPTS = 3
TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 16
Advance = Callable[[int, int | None], None]  # bytes so far, bytes in all if known


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file on the network, what it must hash to, and how large it may be at most."""

    url: str
    sha256: str | None
    bound: int  # bytes


class BrokenTransferError(Exception):
    """The body ended early: worth another attempt."""


def overridden(url: str, variable: str) -> str:
    """The URL, or a mirror's that the environment names in `variable`."""
    return os.environ.get(variable, "").rstrip("/") or url


def download(remote: RemoteFile, target: Path, advance: Advance | None = None) -> None:
    """Fetch `remote` to `target`."""
    if not remote.url.startswith(("http://", "https://")):
        raise DataError(f"{remote.url} is not an http or https address")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _download_once(remote, target, advance or _silent)
            return
        except BrokenTransferError as problem:
            if attempt == ATTEMPTS:
                raise DataError(f"cannot fetch {remote.url}: {problem}, {ATTEMPTS} times in a row") from problem


def _download_once(remote: RemoteFile, target: Path, advance: Advance) -> None:
    with _connection(remote.url) as response, replacing(target) as file:
        announced = response.headers.get("Content-Length", "")
        expected = int(announced) if announced.isdecimal() else None
        digest, received = hashlib.sha256(), 0
        for chunk in _body(response):
            received += len(chunk)
            if received > remote.bound:
                raise DataError(f"{remote.url} is larger than the {remote.bound:,} bytes expected at most")
            digest.update(chunk)
            file.write(chunk)
            advance(received, expected)
        if expected is not None and received < expected:
            raise BrokenTransferError(f"the transfer ended after {received:,} of {expected:,} bytes")
        found = digest.hexdigest()
        if remote.sha256 is not None and found != remote.sha256:
            raise DataError(f"{remote.url} arrived with the sha256 {found}, expected {remote.sha256}; it was deleted")


@contextmanager
def _connection(url: str) -> Iterator[Any]:
    """An open response; what keeps it from opening is said in one line."""
    try:
        response = urllib.request.urlopen(url, timeout=TIMEOUT)
    except urllib.error.HTTPError as problem:
        problem.close()
        raise DataError(f"cannot fetch {url}: the server answers {problem.code} {problem.reason}") from problem
    except (OSError, HTTPException, ValueError) as problem:  # URLError is an OSError
        raise DataError(f"cannot fetch {url}: {getattr(problem, 'reason', None) or problem}") from problem
    with response:
        yield response


def _body(response: IO[bytes]) -> Iterator[bytes]:
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except (OSError, HTTPException) as problem:
        raise BrokenTransferError(f"the transfer broke off ({problem or type(problem).__name__})") from problem


def _silent(received: int, expected: int | None) -> None:
    pass


@contextmanager
def progress_bar(what: str) -> Iterator[Advance]:
    """A bar on stderr when a person is watching; silence otherwise."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda received, expected: progress.update(task, completed=received, total=expected)
