"""Subwords: books through a tokenizer of either format, lengths in characters, frozen vectors, and bad files."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from sharpstream.config import StreamConfig
from sharpstream.config_subword import SubwordConfig
from sharpstream.errors import ConfigError, DataError
from sharpstream.streams import open_stream, subword, tokenizer
from sharpstream.streams.pg19 import Rules

BOOKS = {
    "train/9.txt": "The nine, the NINE\r\nand 9 naïve cafés!\r\n",
    "train/2.txt": "the two and the two of the nine",
    "train/3.txt": "no",
    "validation/4.txt": "the four and the nine of the four",
}
TEXTS = [BOOKS["train/2.txt"], BOOKS["train/9.txt"].replace("\r\n", "\n")]


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four books, a tokenizer of 270 symbols in both formats, vectors of size 3."""
    rules = {
        "train": Rules(shortest=4, cut=99, total=999, books=9),
        "validation": Rules(shortest=4, cut=8, total=99, books=1),
    }
    for split, one in rules.items():
        monkeypatch.setitem(subword.RULES, split, one)
    data = tmp_path / "data"
    monkeypatch.setenv("SHARP_DATA", str(data))
    (data / "gpt2").mkdir(parents=True)
    (data / "wordllama").mkdir()
    with zipfile.ZipFile(data / "pg19.zip", "w") as archive:
        for name, text in BOOKS.items():
            archive.writestr(name, text.encode())
    inner = tokenizer.train_tokenizer(TEXTS * 3, 270, "").inner
    inner.save(str(data / "wordllama" / "tokenizer.json"))
    for made, name in zip(inner.model.save(str(data / "gpt2")), ("encoder.json", "vocab.bpe"), strict=True):
        Path(made).rename(data / "gpt2" / name)
    save_table(data / "wordllama" / "embedding.safetensors", 270)
    return data


def save_table(path: Path, rows: int, name: str = "embedding.weight") -> None:
    table = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float16)
    save_file({name: table}, path)


def test_the_books_come_in_order_and_whole(small: Path) -> None:
    stream = open_stream(StreamConfig(name="pg19-subword"), seed=0)
    inner = tokenizer.load_tokenizer(small / "wordllama").inner
    texts = [inner.decode(stream.take(part.end - part.start).tolist()) for part in stream.parts]
    assert texts == TEXTS
    assert [part.name for part in stream.parts] == ["2", "9"]
    assert stream.vocabulary == 270
    held = open_stream(StreamConfig(name="pg19-subword-validation"), seed=0)
    assert inner.decode(held.take(99).tolist()) == "the four"


def test_both_formats_of_one_tokenizer_give_the_same_tokens(small: Path) -> None:
    def tokens(where: str) -> list[int]:
        config = StreamConfig(name="pg19-subword", subword=SubwordConfig(tokenizer=where))
        return open_stream(config, seed=0).take(999).tolist()

    gpt2 = small / "gpt2"
    assert tokens(str(gpt2)) == tokens(str(small / "wordllama" / "tokenizer.json")) == tokens(str(gpt2 / "vocab.bpe"))


def test_tokens_say_how_many_characters_of_text_they_are() -> None:
    stream = open_stream(StreamConfig(name="pg19-subword"), seed=0)
    assert stream.characters is not None
    assert stream.characters[stream.take(999)].sum() == sum(map(len, TEXTS))


def test_characters_of_a_tokenizer_that_falls_back_to_bytes() -> None:
    characters = tokenizer.characters_of(["▁and", "<0xE2>", "<0x82>", "<0xAC>", "<0x0A>"], "text")
    assert characters.tolist() == [4, 1, 0, 0, 1]


def test_vectors_are_part_of_what_the_stream_is_once_they_are_read(small: Path) -> None:
    stream = open_stream(StreamConfig(name="pg19-subword"), seed=0)
    assert "vectors" not in stream.identity()
    table = stream.vectors()
    assert table is not None
    assert table.shape == (270, 3)
    before = stream.identity()["vectors"]
    save_table(small / "wordllama" / "embedding.safetensors", 270, "another name")
    stream.vectors()
    assert stream.identity()["vectors"] != before


def test_a_stream_without_data_has_vectors_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARP_DATA")
    stream = open_stream(StreamConfig(name="python-docs-subword"), seed=0)
    assert stream.vocabulary == subword.SMALL
    assert stream.vectors().shape == (subword.SMALL, subword.SMALL_SIZE)  # type: ignore[union-attr]
    assert stream.characters[stream.take(10**7)].sum() == len(subword.python_docs.help_topics().decode())  # type: ignore[index]


def vectors_of(config: SubwordConfig) -> None:
    open_stream(StreamConfig(name="pg19-subword", subword=config), seed=0).vectors()


@pytest.mark.parametrize(
    ("table", "config", "said"),
    [
        (("w", 269), SubwordConfig(), r"w in .* has 269 rows, but the tokenizer has 270 symbols"),
        (("w", 270), SubwordConfig(key="wte"), r"there is no table 'wte' in .*; it has: w$"),
        (None, SubwordConfig(), r"embedding\.safetensors is not a sound safetensors file"),
        (None, SubwordConfig(embedding="nowhere.safetensors"), r"there is no file nowhere\.safetensors"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(
    table: tuple[str, int] | None, config: SubwordConfig, said: str, small: Path
) -> None:
    path = small / "wordllama" / "embedding.safetensors"
    if table is None:
        path.write_bytes(b"not a table at all")
    else:
        save_table(path, table[1], table[0])
    with pytest.raises(DataError, match=said):
        vectors_of(config)


def test_several_tables_need_a_key_and_numbers_must_be_finite(small: Path) -> None:
    path = small / "wordllama" / "embedding.safetensors"
    save_file({"a": np.zeros((270, 3)), "b": np.full((270, 3), np.nan), "c": np.zeros(270)}, path)
    with pytest.raises(DataError, match=r"has 3 tables \(a, b, c\); say which with stream\.subword\.key"):
        vectors_of(SubwordConfig())
    with pytest.raises(DataError, match=r"b in .* holds numbers that are not finite"):
        vectors_of(SubwordConfig(key="b"))
    with pytest.raises(DataError, match=r"c in .* is float64 of shape \(270,\)"):
        vectors_of(SubwordConfig(key="c"))
    vectors_of(SubwordConfig(key="a"))


@pytest.mark.parametrize("content", ["", "{}", "[1, 2", '{"model": {"type": "BPE"}}'])
def test_a_file_that_is_no_tokenizer_is_refused_and_nothing_is_left(content: str, small: Path, cache: Path) -> None:
    (small / "wordllama" / "tokenizer.json").write_text(content)
    with pytest.raises(DataError, match=r"^.*wordllama is not a tokenizer: [^\n]*$"):
        open_stream(StreamConfig(name="pg19-subword"), seed=0)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_tokenizer_with_too_many_symbols_is_refused(small: Path) -> None:
    path = small / "wordllama" / "tokenizer.json"
    described = json.loads(path.read_text())
    described["added_tokens"] = []
    described["model"]["vocab"]["far"] = 70_000
    path.write_text(json.dumps(described))
    with pytest.raises(DataError, match="has 70,001 symbols; it must have 2 to 65,536"):
        open_stream(StreamConfig(name="pg19-subword"), seed=0)


def test_half_a_tokenizer_and_none_are_said(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = StreamConfig(name="pg19-subword", subword=SubwordConfig(tokenizer=str(small / "gpt2")))
    (small / "gpt2" / "vocab.bpe").unlink()
    with pytest.raises(DataError, match=r"no tokenizer in .*gpt2: it must hold tokenizer\.json, or encoder\.json and"):
        open_stream(config, seed=0)
    monkeypatch.delenv("SHARP_DATA")
    with pytest.raises(DataError, match=r"name one with stream\.subword\.tokenizer"):
        open_stream(replace(config, subword=SubwordConfig()), seed=0)


@pytest.mark.parametrize(("text", "said"), [(b"", "is empty"), (b"nine \xff nine", "is not UTF-8 at byte 5")])
def test_a_bad_book_is_refused_and_nothing_is_left(text: bytes, said: str, small: Path, cache: Path) -> None:
    with zipfile.ZipFile(small / "pg19.zip", "w") as archive:
        archive.writestr("train/2.txt", BOOKS["train/2.txt"])
        archive.writestr("train/9.txt", text)
    with pytest.raises(DataError, match=said):
        open_stream(StreamConfig(name="pg19-subword"), seed=0)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_damaged_member_is_refused_and_nothing_is_left(small: Path, cache: Path) -> None:
    path = small / "pg19.zip"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"the two and", b"the TWO and"))
    with pytest.raises(DataError, match="is not a sound zip archive: Bad CRC"):
        open_stream(StreamConfig(name="pg19-subword"), seed=0)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(ConfigError, match=r"pip install 'sharpstream\[subword\]'"):
        open_stream(StreamConfig(name="pg19-subword"), seed=0)


def test_paths_are_text() -> None:
    with pytest.raises(ConfigError, match=r"SubwordConfig\.key = 3: it must be text"):
        SubwordConfig(key=3)  # type: ignore[arg-type]
