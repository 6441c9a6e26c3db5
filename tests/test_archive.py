"""Archives: every byte comes back, they are as small as the learner's bits, and what is damaged is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpstream import archive
from sharpstream.archive import BYTES, compress, decompress
from sharpstream.cli import main
from sharpstream.config import CountsConfig, EpisodicConfig, RunConfig
from sharpstream.errors import ConfigError, DataError
from sharpstream.factory import make_learner
from sharpstream.streams.python_docs import help_topics

COUNTS = RunConfig(learner="counts", counts=CountsConfig(order=2, table_bits=12))
SMALL = RunConfig(learner="episodic", episodic=EpisodicConfig(memory="1MB", network=8))
TEXT = help_topics()[:30_000]


@pytest.mark.parametrize("config", [COUNTS, SMALL], ids=lambda config: config.learner)
@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 100, bytes(range(256)) * 3, TEXT[:5_000]], ids=len)
def test_every_byte_comes_back(config, data):
    assert decompress(compress(data, config)) == data


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_come_back(data):
    assert decompress(compress(data, COUNTS)) == data


@pytest.mark.parametrize("config", [COUNTS, SMALL], ids=lambda config: config.learner)
def test_an_archive_is_as_small_as_the_bits_before_learning(config):
    bits = make_learner(config, BYTES).learn(np.frombuffer(TEXT, dtype=np.uint8)).sum()
    _, words = archive.opened(compress(TEXT, config))
    assert abs(32 * words.size - bits) < 0.001 * bits + 32


@pytest.mark.parametrize("place", [0, 5, 20, 50, 60, 200, -1])
def test_a_changed_byte_is_refused(place):
    packed = bytearray(compress(TEXT[:300], COUNTS))
    packed[place] ^= 1
    with pytest.raises(DataError, match=r"damaged|not an archive|another format"):
        decompress(bytes(packed))


def test_every_truncation_is_refused():
    packed = compress(TEXT[:60], COUNTS)
    for length in range(len(packed)):
        with pytest.raises(DataError):
            decompress(packed[:length])


def test_a_learner_that_counts_differently_here_is_told_and_nothing_wrong_is_given_out(monkeypatch):
    packed = compress(TEXT[:300], COUNTS)
    predict = make_learner(COUNTS, BYTES).predict
    monkeypatch.setattr("sharpstream.learners.counts.Counts.predict", lambda self: predict())
    with pytest.raises(DataError, match="did not come back"):
        decompress(packed)


def test_from_the_command_line_and_nobodys_file_is_replaced(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "some.log"
    source.write_bytes(TEXT[:2_000])
    assert main(["compress", "some.log", "--memory", "1MB", "--fast"]) == 0
    assert "2,000 →" in capsys.readouterr().out
    assert main(["compress", "some.log"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["decompress", "some.log.sharp"]) == 2
    source.unlink()
    assert main(["decompress", "some.log.sharp"]) == 0
    assert source.read_bytes() == TEXT[:2_000]
    assert main(["decompress", "some.log", "--out", "x"]) == 2
    assert "not an archive" in capsys.readouterr().err
    assert main(["compress", "nowhere"]) == 2
    assert not (tmp_path / "x").exists()


def test_without_the_coder_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "constriction", None)
    with pytest.raises(ConfigError, match=r"sharpstream\[compress\]"):
        compress(b"a", COUNTS)
