"""Live streams give tokens as they arrive, lose none, and refuse to go back."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from sharpstream.errors import StreamError
from sharpstream.streams.base import Stream
from sharpstream.streams.files import open_file
from sharpstream.streams.live import from_descriptor, from_text, from_tokens
from sharpstream.streams.python_docs import open_python_docs
from sharpstream.streams.text import decode, symbols_of

LETTERS = symbols_of("letters")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def text_of(stream: Stream, count: int = 10**6) -> str:
    return decode(stream.take(count), LETTERS)


def test_standard_input_of_a_real_process() -> None:
    program = (
        "from sharpstream.config import StreamConfig\n"
        "from sharpstream.streams import open_stream\n"
        "stream = open_stream(StreamConfig(name='-', start=2, end=9), seed=0)\n"
        "print(stream.take(3).tolist(), stream.take(99).tolist(), stream.position)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input="AB cd\né  ef gh ij", capture_output=True, text=True)
    assert done.stdout == "[0, 3, 4] [0, 5, 6, 0] 7\n", done.stderr


def test_tokens_are_there_as_soon_as_they_are_written(pipe: tuple[int, int]) -> None:
    stream = from_descriptor(pipe[0])
    os.write(pipe[1], b"abc")
    assert text_of(stream, 3) == "abc"  # would hang if more were wanted than is there
    os.write(pipe[1], b"d")
    assert text_of(stream, 1) == "d"


def test_characters_may_be_split_between_reads(pipe: tuple[int, int]) -> None:
    stream = from_descriptor(pipe[0])
    euro = "€".encode()
    os.write(pipe[1], b"a" + euro[:1])
    first = text_of(stream, 1)
    os.write(pipe[1], euro[1:] + b"b")
    os.close(pipe[1])
    assert first + text_of(stream) == "a b"


def test_bad_bytes_do_not_stop_an_endless_stream(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"a\xff\xfe\0b")
    os.close(pipe[1])
    assert text_of(from_descriptor(pipe[0])) == "a b"


def test_take_waits_for_all_it_was_asked(pipe: tuple[int, int]) -> None:
    def write_slowly() -> None:
        for letter in b"abcdef":
            os.write(pipe[1], bytes([letter]))
            time.sleep(0.005)

    writer = threading.Thread(target=write_slowly)
    writer.start()
    assert text_of(from_descriptor(pipe[0]), 6) == "abcdef"
    writer.join()


def test_a_closed_descriptor_is_a_stream_error(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(StreamError, match="cannot read from -"):
        from_descriptor(pipe[0]).take(1)


def test_seek_is_refused_but_to_where_it_is() -> None:
    stream = from_text(["abcdef"])
    stream.take(2)
    stream.seek(2)
    with pytest.raises(StreamError, match="live stream at position 2"):
        stream.seek(0)


def test_an_interrupted_take_loses_nothing() -> None:
    class Interrupting:
        """Two pieces with an interruption between them."""

        parts: ClassVar[list[str | None]] = ["ab", None, "cd"]

        def __iter__(self) -> "Interrupting":
            return self

        def __next__(self) -> str:
            part = self.parts.pop(0)
            if part is None:
                raise KeyboardInterrupt
            return part

    stream = from_text(Interrupting())
    with pytest.raises(KeyboardInterrupt):
        stream.take(4)
    assert text_of(stream, 4) == "abcd"


def test_any_iterable_of_text_is_a_stream() -> None:
    assert text_of(from_text(iter(["Hello, ", b"  World", "!"]))) == "hello world "


def test_endless_generators_are_read_no_further_than_needed() -> None:
    given: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            given.append(1)
            yield 1

    assert from_tokens(endless(), ("a", "b")).take(5).tolist() == [1] * 5
    assert len(given) == 5


def test_tokens_outside_the_vocabulary_are_named() -> None:
    with pytest.raises(StreamError, match=r"tokens\[1\] = 2, but the vocabulary has 2 symbols"):
        from_tokens([0, 2], ("a", "b")).take(5)


def test_a_named_pipe_is_live(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("from a fifo"))
    writer.start()
    stream = open_file(path)
    writer.join()
    assert decode(stream.take(99), LETTERS) == "from a fifo"


def test_python_docs_are_english_and_repeatable() -> None:
    stream = open_python_docs()
    assert stream.length is not None
    assert stream.length > 100_000
    assert " the statement " in decode(stream.take(200_000), LETTERS)
    assert stream.identity() == open_python_docs().identity()
