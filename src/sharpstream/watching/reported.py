"""What was reported since the last checkpoint, so that a killed process does not report it twice.

Before a row is written, the end of its line goes into a small file, without fsync: what a killed process wrote stays.
After a restart the lines before that mark are learned again in silence, and the one that ends there is reported again
and marked, because nobody knows whether its row was written.
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE_NAME = "reported"
_SLOT = struct.Struct("<16sQQI")  # source, end of the line, its size, checksum of its bytes
MOST = 10_000  # slots that are read back


@dataclass(frozen=True)
class Mark:
    """The end of the last line whose row was, or was about to be, written."""

    offset: int
    size: int
    check: int

    def fits(self, descriptor: int, learned: int) -> bool:
        """Whether this line ends here in the open file, after what the checkpoint has learned."""
        if not learned < self.offset <= os.fstat(descriptor).st_size:
            return False
        size = min(self.size, self.offset)
        return zlib.crc32(os.pread(descriptor, size, self.offset - size)) == self.check


class Reported:
    """The marks of all sources, one slot each."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self._slots: dict[bytes, int] = {}
        self._descriptor = -1

    def load(self) -> dict[bytes, Mark]:
        """Marks that a killed process left behind, by the name of their source; half a slot counts for nothing."""
        try:
            content = self.path.read_bytes()[: MOST * _SLOT.size]
        except OSError:
            return {}
        whole = content[: len(content) - len(content) % _SLOT.size]
        marks = {name: Mark(*numbers) for name, *numbers in _SLOT.iter_unpack(whole)}
        self._slots = {name: i for i, name in enumerate(marks)}
        return marks

    def write(self, source: str, end: int, line: bytes) -> None:
        """The row of this line, which ends at `end`, is about to be written."""
        self._put(source, Mark(end, len(line), zlib.crc32(line)))

    def clear(self, but: Mapping[str, Mark]) -> None:
        """A checkpoint has it all, but for marks that are still ahead."""
        self._slots = {}
        if self._descriptor >= 0 or self.path.exists():
            os.ftruncate(self._file(), 0)
        for source, mark in but.items():
            self._put(source, mark)

    def _put(self, source: str, mark: Mark) -> None:
        slot = self._slots.setdefault(key(source), len(self._slots))
        data = _SLOT.pack(key(source), mark.offset, mark.size, mark.check)
        os.pwrite(self._file(), data, slot * _SLOT.size)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _file(self) -> int:
        if self._descriptor < 0:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        return self._descriptor


def key(source: str) -> bytes:
    """A source's name in a slot."""
    return hashlib.blake2b(source.encode("utf-8", "surrogateescape"), digest_size=16).digest()
