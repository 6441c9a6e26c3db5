"""Comparators by compressed size: the three definitions, the packing, and what they give on real text."""

import importlib
import os
import zlib
from types import ModuleType

import numpy as np
import pytest

from sharpstream.config import StreamConfig
from sharpstream.errors import ConfigError, StreamError
from sharpstream.learners.compressors import Compressor, comparators, packed, ppmd, zpaq
from sharpstream.streams import open_stream

REAL_DATA = os.environ.get("SHARP_DATA", "")
BY_LENGTH = Compressor("squared", lambda data: len(data) ** 2)  # C(n bytes) = n²: sizes to compute by hand


def letters(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 27, length)


def test_the_three_definitions_by_hand() -> None:
    train, probe = letters(100), letters(64)
    assert BY_LENGTH.prequential(train, 27) == 8 * 100**2 / 100
    assert BY_LENGTH.forward_adaptive(train, probe, 27) == 8 * (164**2 - 100**2) / 64
    assert BY_LENGTH.repeat_adaptive(train, 64, 27) == 8 * (164**2 - 100**2) / 64


def test_repeat_is_of_the_beginning() -> None:
    seen: list[bytes] = []
    Compressor("spy", lambda data: seen.append(data) or len(data)).repeat_adaptive(letters(100), 64, 27)
    text = packed(letters(100), 27)
    assert seen == [text + text[:64], text]


def test_letters_bytes_and_pairs_of_bytes() -> None:
    assert packed(np.arange(27).repeat(3), 27) == bytes(b" abcdefghijklmnopqrstuvwxyz"[i // 3] for i in range(81))
    assert packed(np.arange(256), 256) == bytes(range(256))
    assert packed(np.full(64, 0x1234), 50_257) == bytes([0x34, 0x12]) * 64


def test_what_cannot_be_packed_is_refused() -> None:
    with pytest.raises(ConfigError, match="at most 65,536"):
        packed(letters(100), 70_000)
    with pytest.raises(StreamError, match="vocabulary has 20 symbols"):
        packed(letters(100), 20)
    with pytest.raises(StreamError, match="too few"):
        BY_LENGTH.prequential(letters(3), 27)
    with pytest.raises(ConfigError, match=r"1\.\.100"):
        BY_LENGTH.repeat_adaptive(letters(100), 101, 27)


def test_random_letters_cost_their_entropy_and_repetition_next_to_nothing() -> None:
    tokens = letters(20_000)
    for compressor in (ppmd(4), ppmd(6), zpaq(5)):
        assert np.log2(27) < compressor.prequential(tokens, 27) < 5.3
    assert ppmd(6).prequential(np.tile(letters(50), 400), 27) < 0.1


def test_a_repeat_costs_less_than_something_new() -> None:
    train, probe = letters(20_000), letters(2_000, seed=1)
    compressor = ppmd(6)
    assert compressor.repeat_adaptive(train, 2_000, 27) < 0.5 * compressor.forward_adaptive(train, probe, 27)


def test_the_table_has_four() -> None:
    assert [compressor.name for compressor in comparators()] == ["ppmd-4", "ppmd-6", "ppmd-16", "zpaq-5"]


@pytest.mark.parametrize(("make", "bad"), [(ppmd, 1), (ppmd, 65), (zpaq, 0), (zpaq, 6)])
def test_settings_out_of_range_are_refused(make: object, bad: int) -> None:
    with pytest.raises(ConfigError, match=f"= {bad}"):
        make(bad)  # type: ignore[operator]


@pytest.mark.parametrize(("make", "package"), [(ppmd, "pyppmd"), (zpaq, "zpaq")])
def test_a_missing_package_names_the_extra(make: object, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def missing(name: str) -> ModuleType:
        if name == package:
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r"sharpstream\[compressors\]"):
        make(5)  # type: ignore[operator]


def test_any_function_from_bytes_to_a_size_can_be_compared() -> None:
    assert Compressor("zlib", lambda data: len(zlib.compress(data, 9))).prequential(letters(5_000), 27) < 5.5


@pytest.mark.data
@pytest.mark.parametrize(("order", "bits"), [(4, 1.944), (6, 1.747), (16, 1.713)])
def test_ppmd_on_ten_million_characters_of_text8(order: int, bits: float) -> None:
    if not REAL_DATA:
        return
    tokens = open_stream(StreamConfig(name="text8", end=10_000_000), seed=0).take(10_000_000)
    assert ppmd(order).prequential(tokens, 27) == pytest.approx(bits, abs=5e-4)


@pytest.mark.data
def test_zpaq_on_ten_million_characters_of_text8() -> None:
    if not REAL_DATA:
        return
    tokens = open_stream(StreamConfig(name="text8", end=10_000_000), seed=0).take(10_000_000)
    assert zpaq(5).prequential(tokens, 27) == pytest.approx(1.601, abs=5e-4)


def test_the_training_text_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[bytes] = []

    class Package:
        @staticmethod
        def compress(data: bytes, **options: object) -> bytes:
            texts.append(data)
            return data

    monkeypatch.setattr(importlib, "import_module", lambda name: Package)
    train = letters(100)
    for made in (ppmd(4), zpaq(5)):
        texts.clear()
        assert made.prequential(train, 27) == 8.0
        assert made.forward_adaptive(train, letters(64, seed=1), 27) == 8.0
        assert made.repeat_adaptive(train, 64, 27) == 8.0
        assert [len(text) for text in texts] == [100, 164, 164]
