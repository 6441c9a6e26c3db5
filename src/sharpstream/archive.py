"""A file as the bits that a learner needs for it: each byte coded with what was predicted before it was seen.

Bytes come in, an archive comes out, and back. The learner learns as it reads, the same on both sides, so nothing of it
is stored but its settings. The range coder is constriction's (extra `compress`). `sharp compress` calls this.

Layout: MAGIC, SHA-256 of all that follows, length of the header (4 bytes), header (JSON, deflated), words of the coder.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from sharpstream.config import EpisodicConfig, RunConfig
from sharpstream.config_files import from_dict, to_dict
from sharpstream.errors import ConfigError, DataError
from sharpstream.evaluate.machine import describe
from sharpstream.factory import entry_of, make_learner, model_of

MAGIC = b"sharp archive 1\n"
BYTES = 256
LARGEST_HEADER = 1 << 16
EVERY = 4_096  # bytes between two words of progress
Watch = Callable[[int, float], None]  # (bytes done, bits a byte so far)
DEFAULT = RunConfig(learner="episodic", episodic=EpisodicConfig(contexts="text", mean_every=0))


@dataclass(frozen=True)
class Header:
    """What a decoder must know before the first byte."""

    learner: str
    settings: dict[str, Any]
    length: int
    sha256: str
    """Of the bytes themselves."""
    hardware: str
    software: str


def compress(data: bytes, config: RunConfig = DEFAULT, *, watch: Watch = lambda done, bits: None) -> bytes:
    """The archive of some bytes.

    >>> archive = compress(b"as it was, as it is, as it will be", RunConfig(learner="counts"))
    >>> decompress(archive)
    b'as it was, as it is, as it will be'
    """
    stream, learner = _coder(), make_learner(config, BYTES)
    encoder, bits = stream.queue.RangeEncoder(), 0.0
    for place, symbol in enumerate(data):
        p = learner.predict()
        encoder.encode(symbol, stream.model.Categorical(p, perfect=False))
        bits += learner.observe(symbol)
        if place % EVERY == EVERY - 1 or place + 1 == len(data):
            watch(place + 1, bits / (place + 1))
    machine = describe()
    header = Header(
        learner=config.learner,
        settings=to_dict(model_of(config)),
        length=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        hardware=machine.hardware,
        software=machine.software,
    )
    words = np.asarray(encoder.get_compressed(), dtype="<u4").tobytes()
    about = zlib.compress(json.dumps(vars(header)).encode(), 9)
    body = struct.pack("<I", len(about)) + about + words
    return MAGIC + hashlib.sha256(body).digest() + body


def decompress(archive: bytes, *, watch: Watch = lambda done, bits: None) -> bytes:
    """The bytes of an archive; what is damaged, cut short or not ours is refused."""
    header, words = opened(archive)
    data = bytearray()
    for symbol in _decoded(header, words):
        data.append(symbol)
        if len(data) % EVERY == 0 or len(data) == header.length:
            watch(len(data), 32.0 * words.size / header.length)
    if hashlib.sha256(data).hexdigest() != header.sha256:
        now = describe()
        raise DataError(
            "the archive is whole, but its bytes did not come back: the learner counts a little differently here. "
            f"It was made on {header.hardware} with {header.software}; this is {now.hardware} with {now.software}"
        )
    return bytes(data)


def opened(archive: bytes) -> tuple[Header, "np.ndarray[Any, np.dtype[np.uint32]]"]:
    """Header and words, once the checksum is right."""
    at = len(MAGIC) + 32
    if not archive.startswith(MAGIC[:14]):
        raise DataError("this is not an archive of `sharp compress`")
    if not archive.startswith(MAGIC):
        raise DataError("this archive has another format: a newer sharpstream made it; decompress it with that")
    if hashlib.sha256(archive[at:]).digest() != archive[len(MAGIC) : at]:
        raise DataError("the archive is damaged or cut short: its checksum is wrong. Get it again")
    try:
        (length,) = struct.unpack_from("<I", archive, at)
        about = zlib.decompressobj().decompress(archive[at + 4 : at + 4 + length], LARGEST_HEADER)
        header = Header(**json.loads(about))
        words = np.frombuffer(archive, dtype="<u4", offset=at + 4 + length).astype(np.uint32)
    except (struct.error, zlib.error, ValueError, TypeError, RecursionError) as problem:
        raise DataError(f"the archive's header cannot be read ({problem})") from problem
    if type(header.length) is not int or header.length < 0 or not isinstance(header.learner, str):
        raise DataError("the archive's header cannot be read (its length or its learner is no such thing)")
    return header, words


def _decoded(header: Header, words: Any) -> Iterator[int]:
    """Byte after byte."""
    settings = entry_of(header.learner).settings
    base = RunConfig(learner=header.learner)
    config = base.replace(**{settings: from_dict(type(getattr(base, settings)), header.settings)})
    stream, learner = _coder(), make_learner(config, BYTES)
    decoder = stream.queue.RangeDecoder(words)
    for _ in range(header.length):
        symbol = int(decoder.decode(stream.model.Categorical(learner.predict(), perfect=False)))
        learner.observe(symbol)
        yield symbol


def _coder() -> ModuleType:
    """constriction's stream codes."""
    try:
        import constriction
    except ImportError as problem:
        raise ConfigError("compressing needs constriction: pip install 'sharpstream[compress]'") from problem
    found: ModuleType = constriction.stream
    return found
