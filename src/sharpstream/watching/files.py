"""Several files and globs at once, each followed by its own name; lines are taken in turn.

Globs are looked up again every second. What rotation makes of a followed file (app.log.1 beside app.log) is no file of
its own.
"""

import glob
import os
import time
from collections.abc import Sequence
from pathlib import Path

from sharpstream.watching.follow import FollowedFile
from sharpstream.watching.lines import Line
from sharpstream.watching.reported import Reported, key
from sharpstream.watching.rotated import identity_of, is_rotated
from sharpstream.watching.sources import Places, Say

POLL = 0.004  # seconds between looks while nothing comes
SCAN = 1.0  # seconds between looks at the globs


class Files:
    """A source made of files."""

    ended = False

    def __init__(
        self,
        names: Sequence[str],
        say: Say,
        *,
        limit: int,
        places: Places,
        reported: Reported,
        at_end: bool = False,
    ) -> None:
        self.names, self.say, self.limit = names, say, limit
        self.turned = False
        self._places, self._reported, self._marks = dict(places), reported, reported.load()
        self._files: dict[str, FollowedFile] = {}
        self._turn = 0  # whose line comes next
        self._scanned = time.monotonic()
        self._scan(at_end=at_end)

    def next(self, timeout: float) -> Line | None:
        until = time.monotonic() + timeout
        while True:
            if line := self._poll():
                return line
            if self.turned or (left := until - time.monotonic()) <= 0:
                return None
            time.sleep(min(left, max(POLL, POLL * len(self._files) / 10)))  # many files: look less often

    def _poll(self) -> Line | None:
        if time.monotonic() - self._scanned >= SCAN:
            self._scan()
        files = list(self._files.values())
        for step in range(len(files)):
            file = files[(self._turn + step) % len(files)]
            line = file.poll()
            self.turned, file.turned = self.turned or file.turned, False
            if line:
                self._turn = (self._turn + step + 1) % len(files)
            if line or self.turned:
                return line
        return None

    def _scan(self, *, at_end: bool = False) -> None:
        """Follow what is named or matched and is not followed yet; let go of matched files that are no more."""
        self._scanned = time.monotonic()
        for path in expanded(self.names):
            if str(path) not in self._files and not self._known(path):
                self._follow(path, at_end=at_end)
        for name, file in list(self._files.items()):
            if name not in self.names and file.gone():
                file.close()
                del self._files[name]
                self._places.pop(name, None)

    def _follow(self, path: Path, *, at_end: bool) -> None:
        name = str(path)
        place = self._places.get(name)
        self._files[name] = FollowedFile(
            path, self.say, limit=self.limit, place=place, mark=self._marks.pop(key(name), None), at_end=at_end
        )
        self.turned = self.turned or place is None

    def _known(self, path: Path) -> bool:
        """Whether a glob found what rotation made of a file that is followed, or that file under another name."""
        if str(path) in self.names:
            return False
        if any(is_rotated(path, file.path) for file in self._files.values()):
            return True
        identity = identity_of(path)
        return any(file.identity() == identity for file in self._files.values())

    def taken(self, line: Line) -> None:
        self._files[line.source].taken(line)

    def reporting(self, line: Line) -> None:
        """A row of this line is about to be written."""
        ending = b"\n" if line.end == "newline" else b""
        self._reported.write(line.source, self._files[line.source].offset + line.size, line.data + ending)

    def saved(self) -> None:
        """A checkpoint has everything up to here."""
        self.turned = False
        self._reported.clear({name: file.mark for name, file in self._files.items() if file.mark is not None})

    def places(self) -> Places:
        for name, file in self._files.items():
            if (place := file.place()) is not None:
                self._places.pop(name, None)  # to the end: the latest are kept longest
                self._places[name] = place
        return self._places

    def lag(self) -> int:
        return sum(file.lag() for file in self._files.values())

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._reported.close()


def expanded(names: Sequence[str]) -> list[Path]:
    """The files that names and globs stand for now; a name without a match is waited for."""
    found: dict[str, Path] = {}
    for name in names:
        matches = [] if os.path.exists(name) or not glob.has_magic(name) else sorted(glob.glob(name))
        wanted = matches if glob.has_magic(name) and not os.path.exists(name) else [name]
        found.update({match: Path(match) for match in wanted if match == name or os.path.isfile(match)})
    return list(found.values())
