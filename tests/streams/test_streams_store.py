"""A token store gives back what was written, and however it is damaged only a DataError or StreamError comes out."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharpstream.errors import DataError, StreamError
from sharpstream.streams.base import Part
from sharpstream.streams.store import Section, Store, open_store, read_description, replacing, write_store

ABC = ("a", "b", "c")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "corpora" / "abc"


@pytest.fixture
def store(base: Path) -> Store:
    pieces = [np.array([0, 1, 2], np.uint8), np.array([2, 1], np.uint8)]
    return write_store(
        base, pieces, ABC, sections=[Section("one", 0, 2), Section("two", 2, 5)], details={"from": "test"}
    )


def change(base: Path, **values: Any) -> None:
    path = base.with_name("abc.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_round_trip(store: Store, base: Path) -> None:
    again = open_store(base)
    assert again.description == store.description
    assert again.stream().take(10).tolist() == [0, 1, 2, 2, 1]
    assert again.stream().parts == (Part("one", 0, 2), Part("two", 2, 5))
    assert again.stream(1, 4).parts == (Part("one", 0, 1), Part("two", 1, 3))
    again.verify()


def test_large_vocabularies_take_two_bytes(base: Path) -> None:
    symbols = tuple(map(str, range(1000)))
    stored = write_store(base, [np.array([0, 999, 300])], symbols)
    assert stored.path.stat().st_size == 6
    assert stored.stream().take(3).tolist() == [0, 999, 300]


def test_slices_seek_and_end(store: Store) -> None:
    stream = store.stream(start=1, end=4)
    assert (stream.length, stream.vocabulary) == (3, 3)
    assert stream.take(2).tolist() == [1, 2]
    assert stream.take(2).tolist() == [2]
    assert len(stream.take(1)) == 0
    stream.seek(1)
    assert stream.take(1).tolist() == [2]
    assert stream.identity()["sha256"] == store.description.sha256


@pytest.mark.parametrize(("start", "end"), [(0, 6), (5, None), (3, 3), (7, 9)])
def test_slices_outside_are_refused(store: Store, start: int, end: int | None) -> None:
    with pytest.raises(StreamError, match=r"cannot be read up to end = \d|holds no tokens"):
        store.stream(start, end)


def test_flipped_token_is_found_by_verify(store: Store) -> None:
    store.path.write_bytes(b"\0\1\2\2\0")
    with pytest.raises(DataError, match="damaged"):
        store.verify()


def test_token_outside_the_vocabulary_is_named(store: Store) -> None:
    store.path.write_bytes(b"\0\1\2\x09\1")
    with pytest.raises(StreamError, match=r"tokens\[3\] = 9, but the vocabulary has 3 symbols"):
        store.stream(start=1).take(4)


def test_truncated_tokens_are_refused_before_mapping(store: Store, base: Path) -> None:
    store.path.write_bytes(b"\0\1")
    with pytest.raises(DataError, match="its sidecar promises 5"):
        open_store(base)


def test_missing_tokens_are_refused(store: Store, base: Path) -> None:
    store.path.unlink()
    with pytest.raises(DataError, match="has 0 bytes"):
        open_store(base)


HOSTILE: list[dict[str, Any]] = [
    {"format": 2},
    {"dtype": "float64"},
    {"dtype": ["uint8"]},
    {"length": -5},
    {"length": 5.0},
    {"length": True},
    {"length": 2**60},
    {"sha256": "../../etc"},
    {"symbols": []},
    {"symbols": "abc"},
    {"symbols": ["a", 1, "c"]},
    {"symbols": ["\ud800", "b", "c"]},
    {"sections": [{"name": "x", "start": 0, "end": 9}]},
    {"sections": [{"name": "x", "start": 3, "end": 1}]},
    {"sections": [{"name": "x", "where": 3}]},
    {"sections": 7},
    {"details": [1]},
]


@pytest.mark.parametrize("values", HOSTILE, ids=lambda values: json.dumps(values)[:40])
def test_hostile_sidecars_are_refused(store: Store, base: Path, values: dict[str, Any]) -> None:
    change(base, **values)
    with pytest.raises(DataError, match=r"does not describe a token store"):
        open_store(base)


@pytest.mark.parametrize(
    "raw", [b"", b"null", b"[1]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"format": 1}', b"9" * 10_000]
)
def test_sidecars_that_are_not_ours_are_refused(store: Store, base: Path, raw: bytes) -> None:
    base.with_name("abc.json").write_bytes(raw)
    with pytest.raises(DataError):
        open_store(base)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda x: st.lists(x, max_size=3)
)


@given(key=st.sampled_from(["symbols", "dtype", "length", "sha256", "sections", "details"]), value=JSON)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_in_a_sidecar_gives_a_store_or_a_data_error(tmp_path: Path, key: str, value: Any) -> None:
    good = {"format": 1, "sha256": "0" * 64, "symbols": ["a"], "dtype": "uint8", "length": 1}
    path = tmp_path / "any.json"
    path.write_text(json.dumps({**good, key: value}))
    with contextlib.suppress(DataError):
        read_description(path)


def test_missing_store_is_a_data_error(base: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        open_store(base)


def test_no_tokens_no_store(base: Path) -> None:
    with pytest.raises(DataError, match="no tokens"):
        write_store(base, [], ABC)
    assert list(base.parent.iterdir()) == []


def test_interrupted_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"new, half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_rewriting_replaces_the_store_and_open_streams_keep_theirs(store: Store, base: Path) -> None:
    stream = store.stream()
    write_store(base, [np.array([2, 2], np.uint8)], ABC)
    assert open_store(base).stream().take(9).tolist() == [2, 2]
    assert stream.take(9).tolist() == [0, 1, 2, 2, 1]


def test_unwritable_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="SHARP_CACHE"):
        write_store(tmp_path / "file" / "abc", [np.zeros(1, np.uint8)], ABC)
