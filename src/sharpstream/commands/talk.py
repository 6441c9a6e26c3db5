"""`sharp sample RUN`, `sharp surprise RUN FILE`: talk to what a run has learned; the run on disk is only read."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from sharpstream.commands.compress import read_file
from sharpstream.commands.options import parse
from sharpstream.errors import ConfigError
from sharpstream.evaluate.reading import Read, as_text, read_passage, sample
from sharpstream.frozen import opened
from sharpstream.streams.text import encode_for

if TYPE_CHECKING:
    from rich.text import Text

LONGEST = 1_000_000
SHADES = ((1.0, ""), (3.0, "on grey23"), (6.0, "black on yellow"), (10.0, "black on dark_orange"))
STRONGEST = "white on red"


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """Continue a text with what a run has learned. A copy reads its own words as it writes; the run stays as it is."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's directory."""
    prompt: str = ""
    """What to continue; without it the copy goes on where the run stopped."""
    length: int = 200
    """Symbols to write."""
    temperature: float = 1.0
    """1: as probable as predicted; below 1 bolder; 0: always the most probable."""
    seed: int = 0
    """Another seed, another text."""
    json: bool = False
    """Print JSON."""


@dataclass(frozen=True, kw_only=True)
class SurpriseOptions:
    """What each symbol of a file costs a run's learner, in bits. A copy learns as it reads; the run stays as it is."""

    directory: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's directory."""
    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """The text to read."""
    frozen: bool = False
    """Learning off: bits only, no expectations."""
    most: int = 10_000
    """Symbols to read at the most."""
    json: bool = False
    """A JSON line a symbol: symbol, bits, expected."""


def main_sample(argv: Sequence[str]) -> int:
    """Write on."""
    options = parse(SampleOptions, argv, command="sample")
    if not 0 < options.length <= LONGEST:
        raise ConfigError(f"--length {options.length}: it must be in 1..{LONGEST:,} symbols")
    if not (np.isfinite(options.temperature) and options.temperature >= 0.0):
        raise ConfigError(f"--temperature {options.temperature}: it must be a number ≥ 0")
    work = opened(options.directory)
    prompt = encode_for(options.prompt.encode("utf-8", "surrogateescape"), work.stream.symbols)
    if prompt.size:
        work.learner.learn(prompt)
    written = list(sample(work.learner, options.length, temperature=options.temperature, seed=options.seed))
    text = as_text(written, work.stream.symbols)
    shown = as_text(prompt.tolist(), work.stream.symbols)
    print(json.dumps({"prompt": shown, "text": text, "tokens": written}) if options.json else f"{shown}{text}")
    return 0


def main_surprise(argv: Sequence[str]) -> int:
    """Read, and show what surprised."""
    options = parse(SurpriseOptions, argv, command="surprise")
    work = opened(options.directory)
    tokens = encode_for(read_file(options.file), work.stream.symbols)[: max(options.most, 0)]
    if not tokens.size:
        raise ConfigError(f"{options.file} has nothing that this run's learner knows: it reads {work.stream.name}")
    if options.frozen:
        bits = work.learner.evaluate(tokens)
        read: Iterable[Read] = [Read(t, b, ()) for t, b in zip(tokens.tolist(), bits.tolist(), strict=True)]
    else:
        read = read_passage(work.learner, tokens)
    symbols = work.stream.symbols
    if options.json:
        for one in read:
            print(json.dumps(row_of(one, symbols)))
        return 0
    _show(list(read), symbols, options.file)
    return 0


def row_of(one: Read, symbols: tuple[str, ...]) -> dict[str, Any]:
    """A symbol for a script."""
    expected = [{"symbol": symbols[token], "p": round(p, 6)} for token, p in one.expected]
    return {"symbol": symbols[one.token], "bits": round(one.bits, 4), "expected": expected}


def shade(bits: float) -> str:
    """How a symbol of so many bits is shown on a terminal."""
    return next((style for most, style in SHADES if bits < most), STRONGEST)


def shaded(read: Sequence[Read], symbols: tuple[str, ...]) -> "Text":
    """The passage, each symbol in its shade."""
    from rich.text import Text

    text = Text()
    for one in read:
        symbol = chr(one.token) if len(symbols) == 256 and one.token in b"\n\t" else symbols[one.token]
        text.append(symbol, style=shade(one.bits))
    return text


def _show(read: Sequence[Read], symbols: tuple[str, ...], file: Path) -> None:
    from rich.console import Console

    console = Console(file=sys.stdout)
    console.print(shaded(read, symbols), highlight=False)
    mean = sum(one.bits for one in read) / len(read)
    legend = ", ".join(f"[{style}]below {most:g}[/]" if style else f"plain below {most:g}" for most, style in SHADES)
    console.print(f"\n{file}: {len(read):,} symbols, {mean:.3f} bits each ({legend}, [{STRONGEST}]more[/])")
