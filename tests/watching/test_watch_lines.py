"""Bytes to lines: the same however they are cut, lines without end, unknown symbols, fields of JSON, times."""

import random
from datetime import UTC, datetime

import numpy as np
import pytest

from sharpstream.errors import StreamError
from sharpstream.streams.text import Alphabet
from sharpstream.watching.fields import field_of, time_of
from sharpstream.watching.lines import Line, LineBuffer, visible
from sharpstream.watching.reading import Reader
from sharpstream.watching.settings import WatchConfig

HOSTILE = (
    "é € 𝄞 plain\r\n\n".encode() + b"\xff\xfe bad \xe2\x82\n cut \xf0\x9f\x98 here\n\0\x80" + "ünfinished €".encode()
)
NOW = datetime(2031, 6, 15, 12, 0, tzinfo=UTC)


def fed(pieces: list[bytes], limit: int = 10_000) -> list[tuple[int, bytes, str]]:
    buffer, found = LineBuffer("-", limit), []
    for piece in pieces:
        buffer.add(piece)
        while line := buffer.next():
            assert buffer.next() == line  # given again until it is taken
            buffer.take(line)
            found.append((line.number, line.data, line.end))
    rest = buffer.rest()
    return [*found, (rest.number, rest.data, rest.end)] if rest else found


def test_where_the_pieces_are_cut_makes_no_difference() -> None:
    rng, data = random.Random(5), HOSTILE * 3
    expected = fed([data], limit=11)
    for _ in range(50):
        cuts = sorted(rng.randrange(len(data)) for _ in range(rng.randrange(1, 40)))
        assert fed([data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)], limit=11) == expected


def test_no_byte_is_lost() -> None:
    found = fed([HOSTILE], limit=7)
    assert b"".join(data + b"\n" * (end == "newline") for _, data, end in found) == HOSTILE


def test_a_line_without_end_comes_in_pieces_of_the_limit() -> None:
    found = fed([b"x" * 250 + b"\nnext\n"], limit=100)
    assert [(number, len(data), end) for number, data, end in found] == [
        (1, 100, "cut"), (1, 100, "cut"), (1, 50, "newline"), (2, 4, "newline"),
    ]  # fmt: skip


def test_a_line_of_exactly_the_limit_is_not_cut() -> None:
    assert [end for _, _, end in fed([b"12345\n"], limit=5)] == ["newline"]


def test_a_character_is_not_cut_in_two() -> None:
    assert [data.decode() for _, data, _ in fed(["aaa€€\n".encode()], limit=5)] == ["aaa", "€", "€"]


def reader(alphabet: Alphabet = "bytes", **settings: object) -> tuple[Reader, list[str]]:
    said: list[str] = []
    return Reader(alphabet, WatchConfig(**settings), said.append), said  # type: ignore[arg-type]


def line(data: bytes) -> Line:
    return Line("app.log", 4, data, "newline")


def test_bytes_are_learned_as_they_are_when_mapped() -> None:
    read, _ = reader(mask=("none",))
    learned = b"".join(read.read(line(data)).tokens.tobytes() for data in HOSTILE.split(b"\n"))
    assert learned == HOSTILE.replace(b"\r", b"") + b"\n"
    assert read.unknown == 8  # ff fe, e2 82, f0 9f 98, 80


def test_skipped_bytes_leave_valid_utf8() -> None:
    read, _ = reader(mask=("none",), unknown="skip")
    assert read.read(line(b"a\xffb\xc3\xa9")).tokens.tobytes() == "abé\n".encode()


def test_letters_map_to_a_space_or_are_skipped() -> None:
    assert reader("letters", mask=("none",))[0].read(line(b"a1b")).tokens.tolist() == [1, 0, 2, 0]
    assert reader("letters", mask=("none",), unknown="skip")[0].read(line(b"a1b")).tokens.tolist() == [1, 2, 0]


def test_stop_names_the_line() -> None:
    read, _ = reader(unknown="stop")
    with pytest.raises(StreamError, match=r"line 4 of app\.log has the unknown symbol '\\\\xff'"):
        read.read(line(b"\xff"))


def test_a_state_continues_inside_a_run_of_spaces() -> None:
    first, second = reader("letters")[0], reader("letters")[0]
    first.read(line(b"a "))
    second.restore(first.state())
    assert np.array_equal(second.read(line(b" b")).tokens, [2, 0])


def test_a_field_of_json_is_what_is_learned_and_other_lines_are_taken_whole() -> None:
    read, said = reader(field="message")
    reading = read.read(line(b'{"message": "disk 7 is full", "time": 1931245200}'))
    assert (reading.text, reading.masked.text, reading.given) == ("disk 7 is full", "disk * is full", 1931245200)
    assert read.read(line(b"plain")).text == read.read(line(b"plain")).text == "plain"
    assert (read.without_field, len(said)) == (2, 1)


def test_journald_gives_bytes_for_what_is_no_text() -> None:
    assert field_of('{"MESSAGE": [104, 105, 255]}', "MESSAGE")[0] == "hi\udcff"


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("2015-10-18 18:01:47,978 INFO", None, "2015-10-18T18:01:47.978"),
        ("[2031-03-04T09:14:05Z] x", None, "2031-03-04T09:14:05+00:00"),
        ("Jun 14 15:16:01 combo", None, "2031-06-14T15:16:01"),
        ("Dec 31 23:59:59 combo", None, "2030-12-31T23:59:59"),
        ('1.2.3.4 - - [04/Mar/2031:09:14:05 +0100] "GET"', None, "2031-03-04T09:14:05+01:00"),
        ("no time", "2031-03-04T09:14:05Z", "2031-03-04T09:14:05+00:00"),
        ("no time", "1931245200000000", "2031-03-14T09:00:00.000+00:00"),
    ],
)
def test_the_time_a_line_carries(text: str, given: object, expected: str) -> None:
    assert time_of(text, given, NOW) == (expected, True)


@pytest.mark.parametrize("text", ["2031-99-99 25:61:61", "nothing", "Foo 99 99:99:99"])
def test_without_a_time_it_is_when_the_line_arrived(text: str) -> None:
    assert time_of(text, None, NOW) == ("2031-06-15T12:00:00.000+00:00", False)


def test_shown_text_is_always_valid_unicode() -> None:
    text = HOSTILE.decode("utf-8", "surrogateescape")
    assert "\\xff\\xfe bad" in visible(text)
    visible(text).encode("utf-8")
