"""Runs on subwords with frozen vectors: they continue exactly, keep no copy of the vectors, and refuse others."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file
from small_runs import SMALL, halted, hashes

from sharpstream import checkpoint
from sharpstream.cli import main
from sharpstream.config import RunConfig, StreamConfig
from sharpstream.config_subword import SubwordConfig
from sharpstream.errors import RunError
from sharpstream.loop import run
from sharpstream.streams import subword
from sharpstream.streams.store import Section, write_store
from sharpstream.streams.tokenizer import train_tokenizer

SIZE = subword.SMALL_SIZE
DENSE = ("sharp", "rnn", "lstm", "gru", "clockwork", "transformer")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHARP_DATA", raising=False)


def dense(learner: str) -> RunConfig:
    return SMALL.replace(
        learner=learner,
        stream=StreamConfig(name="python-docs-subword"),
        sharp=replace(SMALL.sharp, input_size=SIZE, decoder="recall", sleep=replace(SMALL.sharp.sleep, top_k=5)),
        recurrent=replace(SMALL.recurrent, input_size=SIZE),
        clockwork=replace(SMALL.clockwork, input_size=SIZE),
        transformer=replace(SMALL.transformer, input_size=SIZE, chunk=256),
    )


@pytest.mark.parametrize("learner", [*DENSE, "counts", "episodic"])
def test_a_run_that_was_stopped_ends_with_the_same_bytes(tmp_path, learner):
    config = dense(learner)
    run(tmp_path / "whole", config)
    halted(tmp_path / "run", config)
    run(tmp_path / "run", config)
    assert hashes(tmp_path / "run") == hashes(tmp_path / "whole")


@pytest.mark.parametrize("learner", DENSE)
def test_a_checkpoint_holds_no_copy_of_the_frozen_vectors(tmp_path, learner):
    halted(tmp_path / "run", dense(learner))
    newest = checkpoint.saved(tmp_path / "run" / "checkpoints")[-1]
    tensors = checkpoint.load(newest, 1 << 30).tensors
    table = subword._drawn(subword.SMALL)[0]
    assert not [name for name, array in tensors.items() if array.shape == table.shape and np.allclose(array, table)]
    assert len(checkpoint.read_record(newest)["stream"]["vectors"]) == 64


def test_other_vectors_of_the_same_shape_are_refused(tmp_path, monkeypatch):
    halted(tmp_path / "run", dense("rnn"))
    table = np.zeros((subword.SMALL, SIZE))
    monkeypatch.setattr(subword, "_drawn", lambda vocabulary: (table, "another"))
    with pytest.raises(RunError, match="stream vectors: "):
        run(tmp_path / "run", dense("rnn"))


def test_a_run_from_before_a_setting_existed_continues(tmp_path):
    halted(tmp_path / "run", SMALL.replace(learner="counts"))
    root = tmp_path / "run" / "checkpoints"
    newest = checkpoint.load(checkpoint.saved(root)[-1], 1 << 30)
    older = json.loads(json.dumps(newest.record))
    del older["config"]["stream"]["subword"]
    checkpoint.save(root, newest.tensors, older)
    assert run(tmp_path / "run", SMALL.replace(learner="counts"))["tokens"] == SMALL.tokens


@pytest.fixture
def small_books(tmp_path, monkeypatch):
    """A stored pg19-subword of 300 symbols, and a table of vectors that fits."""
    tokenizer = train_tokenizer(["the nine of the two and the ten " * 20], 300, "")
    count = len(tokenizer.symbols)
    tokenizer.inner.save(str(tmp_path / "tokenizer.json"))
    tokens = tokenizer.encode("the nine of the two and the ten " * 20)
    store = write_store(tmp_path / "books", [tokens], tokenizer.symbols, sections=[Section("2", 0, len(tokens))])
    monkeypatch.setattr(subword, "subword_store", lambda name, config: store)
    save_file({"wte": np.ones((count, 4), dtype=np.float32)}, tmp_path / "fits.safetensors")
    save_file({"wte": np.ones((count + 1, 4), dtype=np.float32)}, tmp_path / "other.safetensors")
    return tmp_path


@pytest.mark.parametrize(
    ("embedding", "key", "size", "said"),
    [
        ("other.safetensors", "", 4, "they do not belong together"),
        ("fits.safetensors", "wpe", 4, "there is no table 'wpe'"),
        ("fits.safetensors", "wte", 5, "input_size = 5 needs frozen vectors of shape"),
        ("none.safetensors", "", 4, "there is no file"),
    ],
)
def test_vectors_that_do_not_fit_are_one_line_and_nothing_is_written(
    embedding, key, size, said, small_books, monkeypatch, capsys
):
    monkeypatch.chdir(small_books)
    files = ["--stream.subword.tokenizer", "tokenizer.json", "--stream.subword.embedding", embedding]
    words = ["run", "out", "--learner", "rnn", "--stream", "pg19-subword", *files, "--stream.subword.key", key]
    assert main([*words, "--recurrent.input-size", str(size)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (small_books / "out").exists()


def test_a_stream_of_letters_has_no_vectors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "out", "--stream", "python-docs", "--sharp.input-size", "4"]) == 2
    assert "input_size = 4 needs frozen vectors" in capsys.readouterr().err


def test_settings_of_the_files_are_kept_with_the_run(tmp_path):
    config = dense("counts").replace(stream=StreamConfig(name="python-docs-subword", subword=SubwordConfig(key="wte")))
    run(tmp_path / "run", config)
    assert 'key = "wte"' in (tmp_path / "run" / "config.toml").read_text()
