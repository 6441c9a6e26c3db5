"""Text to tokens and back: 27 letters (space, a-z) or the 256 byte values, chunk by chunk in constant memory.

Letters: A-Z become a-z, everything else becomes a space, runs of spaces become one. Works on UTF-8 bytes: each byte of
a character outside ASCII is "everything else", so chunk borders inside a character do no harm.
"""

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from sharpstream.errors import StreamError

Alphabet = Literal["letters", "bytes"]
TokenBytes = npt.NDArray[np.uint8]

LETTERS = " abcdefghijklmnopqrstuvwxyz"  # token 0 is the space
CHUNK = 1 << 20  # bytes
_TO_LETTER = bytes(max(0, LETTERS.find(chr(byte).lower())) if byte < 128 else 0 for byte in range(256))


def symbols_of(alphabet: Alphabet) -> tuple[str, ...]:
    """How each token of an alphabet is shown; bytes outside printable ASCII as \\xNN."""
    if alphabet == "letters":
        return tuple(LETTERS)
    return tuple(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in range(256))


def decode(tokens: Iterable[int], symbols: tuple[str, ...]) -> str:
    """Tokens as text.

    >>> decode([1, 2, 0, 26], symbols_of("letters"))
    'ab z'
    """
    return "".join(symbols[token] for token in tokens)


class Encoder:
    """Turns bytes into tokens as they arrive; what it remembers is one bit, whether the last token was a space.

    >>> encoder = Encoder("letters")
    >>> [decode(encoder.encode(part), symbols_of("letters")) for part in (b"It's  ", b" 9 o'clock")]
    ['it s ', 'o clock']
    """

    def __init__(self, alphabet: Alphabet, *, after_space: bool = False) -> None:
        self.alphabet = alphabet
        self._after_space = after_space  # True drops the spaces a text begins with

    def encode(self, chunk: bytes) -> TokenBytes:
        """The tokens this chunk adds."""
        if self.alphabet == "bytes" or not chunk:
            return np.frombuffer(chunk, np.uint8)
        tokens = np.frombuffer(chunk.translate(_TO_LETTER), np.uint8)
        keep = tokens != 0
        keep[1:] |= tokens[:-1] != 0
        keep[0] |= not self._after_space
        self._after_space = bool(tokens[-1] == 0)
        kept: TokenBytes = tokens[keep]
        return kept


def check_text(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Pass chunks of UTF-8 text on; stop at the first byte that shows this is not text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    hint = "it is not text; to learn from its bytes choose the alphabet bytes"
    offset = 0
    for chunk in chunks:
        if b"\0" in chunk:
            raise StreamError(f"{name} has a NUL byte at offset {offset + chunk.index(0):,}: {hint}")
        _decode_or_refuse(decoder, chunk, final=False, problem_at=f"{name} is not UTF-8 near offset {offset:,}: {hint}")
        yield chunk
        offset += len(chunk)
    _decode_or_refuse(decoder, b"", final=True, problem_at=f"{name} ends inside a UTF-8 character: {hint}")


def _decode_or_refuse(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool, problem_at: str) -> None:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError as problem:
        raise StreamError(problem_at) from problem


def read_chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """A file's bytes in pieces."""
    try:
        with path.open("rb") as file:
            while chunk := file.read(size):
                yield chunk
    except OSError as problem:
        raise StreamError(f"cannot read {path}: {problem.strerror or problem}") from problem


def encode_file(path: Path, alphabet: Alphabet, size: int = CHUNK) -> Iterator[TokenBytes]:
    """A whole file as pieces of tokens; refuses what is empty, not text, or has no letter in it."""
    chunks = read_chunks(path, size)
    if alphabet == "letters":
        chunks = check_text(chunks, str(path))
    encoder = Encoder(alphabet)
    said_something = False
    for chunk in chunks:
        tokens = encoder.encode(chunk)
        said_something = said_something or alphabet == "bytes" or bool(tokens.any())
        yield tokens
    if not said_something:
        raise StreamError(f"{path} is empty" if path.stat().st_size == 0 else f"{path} has no letters a-z in it")


def encode_for(data: bytes, symbols: tuple[str, ...]) -> npt.NDArray[np.int32]:
    """Bytes as tokens of a stream that shows its tokens so: letters, bytes, or single characters; others are refused.

    >>> encode_for(b"Hi, you", symbols_of("letters")).tolist(), encode_for(b"BA", ("A", "B")).tolist()
    ([8, 9, 0, 25, 15, 21], [1, 0])
    """
    for alphabet in ("letters", "bytes"):
        if symbols == symbols_of(alphabet):
            return Encoder(alphabet).encode(data).astype(np.int32)
    place = {symbol: token for token, symbol in enumerate(symbols)}
    text = [character for character in data.decode("utf-8", "replace") if not character.isspace() or character in place]
    unknown = next((character for character in text if character not in place), None)
    if unknown is not None:
        shown = " ".join(symbols[:8]) + (" …" if len(symbols) > 8 else "")
        raise StreamError(f"{unknown!r} is no symbol of this stream; its symbols are: {shown}")
    return np.array([place[character] for character in text], dtype=np.int32)
