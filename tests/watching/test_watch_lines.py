"""Bytes to tokens by line: the same however they are cut, the policy for unknown symbols, lines without end."""

import json
import random
from typing import Any

import numpy as np
import pytest

from sharpstream.errors import StreamError
from sharpstream.streams.text import Alphabet
from sharpstream.watching.lines import Lines, Part, Policy, visible

HOSTILE = (
    "é € 𝄞 plain\r\n\n".encode() + b"\xff\xfe bad \xe2\x82\n cut \xf0\x9f\x98 here\n\0\x80" + "ünfinished €".encode()
)


def whole_lines(parts: list[Part]) -> list[tuple[int, bytes, str, str]]:
    """Parts joined to lines, so that different cuts can be compared."""
    lines: list[tuple[int, bytes, str, str]] = []
    tokens, text = b"", ""
    for part in parts:
        tokens, text = tokens + part.tokens.tobytes(), text + part.text
        if part.end:
            lines.append((part.number, tokens, text, part.end))
            tokens, text = b"", ""
    return [*lines, (0, tokens, text, "")]


def fed(lines: Lines, pieces: list[bytes]) -> list[Part]:
    parts = [part for piece in pieces for part in lines.feed(piece)]
    return parts + list(lines.feed(b"", last=True))


@pytest.mark.parametrize("alphabet", ["bytes", "letters"])
@pytest.mark.parametrize("policy", ["map", "skip"])
def test_where_the_pieces_are_cut_makes_no_difference(alphabet: Alphabet, policy: Policy) -> None:
    rng = random.Random(5)
    data = HOSTILE * 3
    expected = Lines(alphabet, policy, limit=11)
    reference = whole_lines(fed(expected, [data]))
    for _ in range(50):
        cuts = sorted(rng.randrange(len(data)) for _ in range(rng.randrange(1, 40)))
        pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        lines = Lines(alphabet, policy, limit=11)
        assert whole_lines(fed(lines, pieces)) == reference
        assert lines.unknown == expected.unknown


def test_bytes_are_learned_as_they_are_when_mapped() -> None:
    lines = Lines("bytes", "map", limit=10_000)
    assert b"".join(part.tokens.tobytes() for part in fed(lines, [HOSTILE])) == HOSTILE
    assert lines.unknown == 8  # ff fe, e2 82, f0 9f 98, 80


def test_skipped_bytes_leave_valid_utf8() -> None:
    lines = Lines("bytes", "skip", limit=10_000)
    learned = b"".join(part.tokens.tobytes() for part in fed(lines, [HOSTILE]))
    assert learned == HOSTILE.decode("utf-8", "ignore").encode()


def test_letters_map_to_a_space_or_are_skipped() -> None:
    mapped, skipped = Lines("letters", "map", 99), Lines("letters", "skip", 99)
    assert next(mapped.feed(b"a1b")).tokens.tolist() == [1, 0, 2]
    assert next(skipped.feed(b"a1b")).tokens.tolist() == [1, 2]
    assert mapped.unknown == skipped.unknown == 1


def test_stop_names_the_line_and_takes_nothing_of_the_piece() -> None:
    lines = Lines("bytes", "stop", limit=99)
    list(lines.feed(b"one\ntwo\nthr\xc3"))
    before = lines.state()
    with pytest.raises(StreamError, match=r"line 4 has the unknown symbol '\\\\xff'"):
        lines.feed(b"\xa9\n\xff")
    assert lines.state() == before


def test_a_line_without_end_comes_in_pieces_of_the_limit() -> None:
    lines = Lines("bytes", "map", limit=100)
    parts = list(lines.feed(b"x" * 250 + b"\nnext\n"))
    assert [(part.number, len(part.text), part.end) for part in parts] == [
        (1, 100, "cut"), (1, 100, "cut"), (1, 50, "newline"), (2, 4, "newline"),
    ]  # fmt: skip


def test_a_line_of_exactly_the_limit_is_not_cut() -> None:
    parts = list(Lines("bytes", "map", limit=5).feed(b"12345\n"))
    assert [part.end for part in parts] == ["newline"]


def test_a_state_through_json_continues_inside_a_character_and_a_run_of_spaces() -> None:
    data = "a  é  b\n".encode()
    for alphabet in ("bytes", "letters"):
        whole = np.concatenate([part.tokens for part in Lines(alphabet, "map", 99).feed(data)])
        for cut in range(len(data)):
            first, second = Lines(alphabet, "map", 99), Lines(alphabet, "map", 99)
            before = [part.tokens for part in first.feed(data[:cut])]
            state: dict[str, Any] = json.loads(json.dumps(first.state()))
            second.restore(state)
            after = [part.tokens for part in second.feed(data[cut:])]
            assert np.array_equal(np.concatenate([*before, *after]), whole)


def test_a_lowered_limit_cuts_what_is_already_too_long() -> None:
    long, short = Lines("bytes", "map", 100), Lines("bytes", "map", 10)
    list(long.feed(b"x" * 50))
    short.restore(long.state())
    assert [(part.text, part.end) for part in short.feed(b"abc\n")] == [("", "cut"), ("abc", "newline")]


def test_shown_text_is_always_valid_unicode() -> None:
    text = "".join(part.text for part in fed(Lines("bytes", "map", 99), [HOSTILE]))
    assert "\\xff\\xfe bad" in visible(text)
    visible(text).encode("utf-8")
