"""The normaliser equals a slow one written from its definition, wherever the chunks are cut."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharpstream.errors import StreamError
from sharpstream.streams.files import open_file
from sharpstream.streams.text import Encoder, decode, encode_file, symbols_of

LETTERS = symbols_of("letters")


def slow(text: str) -> str:
    """The definition, one character at a time."""
    out = ""
    for character in text:
        character = chr(ord(character) + 32) if "A" <= character <= "Z" else character
        if "a" <= character <= "z":
            out += character
        elif not out.endswith(" "):
            out += " "
    return out


MOSTLY_ASCII = st.text(st.sampled_from("abzABZ 019.,\n\t-éßЖ€😀") | st.characters(codec="utf-8"))


@given(text=MOSTLY_ASCII, cuts=st.lists(st.integers(0, 60), max_size=5))
def test_letters_equal_the_slow_normaliser_in_any_chunks(text: str, cuts: list[int]) -> None:
    raw = text.encode()
    bounds = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    encoder = Encoder("letters")
    parts = [encoder.encode(raw[low:high]) for low, high in itertools.pairwise(bounds)]
    assert decode(np.concatenate(parts), LETTERS) == slow(text)


@given(raw=st.binary(max_size=300))
def test_bytes_are_taken_as_they_are(raw: bytes) -> None:
    assert Encoder("bytes").encode(raw).tobytes() == raw


def test_symbols() -> None:
    assert len(LETTERS) == 27
    assert (LETTERS[0], LETTERS[1], LETTERS[26]) == (" ", "a", "z")
    assert len(symbols_of("bytes")) == 256
    assert symbols_of("bytes")[10] == "\\x0a"


def test_file_is_read_in_small_chunks(tmp_path: Path) -> None:
    path = tmp_path / "poem.txt"
    text = "Grüße, WORLD!  Ça va? — «oui»\r\n" * 20
    path.write_text(text, encoding="utf-8", newline="")
    for size in (1, 3, 7, 1000):
        assert decode(np.concatenate(list(encode_file(path, "letters", size))), LETTERS) == slow(text)


def test_file_stream_seeks_and_slices(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hello, world")
    stream = open_file(path, start=6, end=11)
    assert decode(stream.take(99), LETTERS) == "world"
    stream.seek(1)
    assert decode(stream.take(2), LETTERS) == "or"
    with pytest.raises(StreamError, match="has 11 tokens"):
        open_file(path, end=12)


def test_large_file_goes_through_the_cache_and_notices_changes(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sharpstream.streams.files.LARGEST_IN_MEMORY", 4)
    path = tmp_path / "a.txt"
    path.write_text("one two")
    first, again = open_file(path), open_file(path)
    assert first.identity() == again.identity()
    assert len(list((cache / "files").glob("*.json"))) == 1
    path.write_text("three four")
    assert decode(open_file(path).take(99), LETTERS) == "three four"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"12 34 !?", "no letters"),
        (b"text\0more", "NUL byte at offset 4"),
        (b"caf\xe9 au lait", "not UTF-8"),
        (b"cut off \xe2\x82", "ends inside a UTF-8 character"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(raw)
    with pytest.raises(StreamError, match=message):
        open_file(path)


def test_any_file_can_be_learnt_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\0\xff\xe9")
    stream = open_file(path, "bytes")
    assert stream.vocabulary == 256
    assert stream.take(9).tolist() == [0, 255, 233]


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="is a directory"):
        open_file(tmp_path)


def test_unreadable_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="cannot open"):
        open_file(tmp_path / "missing")
