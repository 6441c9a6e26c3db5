"""Arrays and columns as streams: the tokens are those of the file, and what cannot be one is told in one line."""

import numpy as np
import pytest

from sharpstream import open_stream
from sharpstream.cli import main
from sharpstream.errors import StreamError


def test_an_array_is_a_stream(tmp_path):
    np.save(tmp_path / "events.npy", np.array([3, 0, 3, 1], dtype=np.int16))
    stream = open_stream(str(tmp_path / "events.npy"))
    assert (stream.vocabulary, stream.take(9).tolist()) == (4, [3, 0, 3, 1])


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.zeros((2, 2), dtype=int), "one-dimensional array of integers"),
        (np.array([0.5]), "one-dimensional array of integers"),
        (np.array([], dtype=int), "is empty"),
        (np.array([-1, 2]), r"holds numbers -1\.\.2"),
        (np.array([0, 70_000]), "tokens lie in 0..65535"),
        (np.array([{"a": 1}], dtype=object), "holds Python objects"),
    ],
)
def test_what_is_no_stream_of_integers_is_refused(array, told, tmp_path):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(StreamError, match=told):
        open_stream(str(tmp_path / "a.npy"))


def test_a_file_that_only_ends_in_npy_is_refused(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"no array at all")
    with pytest.raises(StreamError, match="as an array"):
        open_stream(str(tmp_path / "a.npy"))


def test_a_column_is_a_stream_in_the_order_of_its_values(tmp_path):
    (tmp_path / "log.csv").write_text('time,state\n1,up\n2,"down"\n3,up\n\n4,10\n5,9\n', encoding="utf-8")
    stream = open_stream(f"{tmp_path / 'log.csv'}:state")
    assert stream.symbols == ("9", "10", "down", "up")
    assert stream.take(9).tolist() == [3, 2, 3, 1, 0]
    assert stream.name == "log.csv:state"


def test_another_column_or_none_is_told(tmp_path):
    (tmp_path / "log.csv").write_text("time,state\n1,up\n", encoding="utf-8")
    with pytest.raises(StreamError, match="has no column 'stat'; it has: time, state"):
        open_stream(f"{tmp_path / 'log.csv'}:stat")
    (tmp_path / "none.csv").write_text("time,state\n", encoding="utf-8")
    with pytest.raises(StreamError, match="no rows below its heading"):
        open_stream(f"{tmp_path / 'none.csv'}:state")
    many = "\n".join(str(i / 7) for i in range(70_000))
    (tmp_path / "many.csv").write_text(f"x\n{many}\n", encoding="utf-8")
    with pytest.raises(StreamError, match="70,000 different values"):
        open_stream(f"{tmp_path / 'many.csv'}:x")


def test_a_run_learns_from_a_column_and_continues(tmp_path, capsys):
    values = "\n".join("abcab"[i % 5] for i in range(2_000))
    (tmp_path / "c.csv").write_text(f"x\n{values}\n", encoding="utf-8")
    words = ["run", str(tmp_path / "out"), "--stream", f"{tmp_path / 'c.csv'}:x", "--learner", "counts"]
    assert main([*words, "--tokens", "1000"]) == 0
    assert main([*words, "--tokens", "2000"]) == 0
    assert "learned 2,000 tokens of c.csv:x" in capsys.readouterr().out
