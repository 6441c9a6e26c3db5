"""The surprise reader: a passage with each symbol shaded by its bits, and what was expected beside it."""

from collections.abc import Sequence
from dataclasses import replace

from sharpstream.config import StreamConfig
from sharpstream.evaluate.reading import Read, read_passage
from sharpstream.frozen import opened
from sharpstream.rundir import RunDirectory
from sharpstream.showing.page import paragraph, text
from sharpstream.streams import open_stream

STRONGEST = 12.0  # bits: a symbol of so many has the full shade


def reader(directory: RunDirectory, length: int) -> list[str]:
    """What the run's learner makes of the next symbols of its stream; nothing where there are none to read."""
    config = directory.load_config()
    work = opened(directory.path)
    if work.stream.live or work.stream.name == "-":
        return []
    ahead: StreamConfig = replace(config.stream, end=None)
    stream = open_stream(ahead, seed=config.seed)
    stream.seek(min(work.total.tokens, max(0, (stream.length or work.total.tokens + length) - length)))
    tokens = stream.take(length)
    read = list(read_passage(work.learner, tokens))
    mean = sum(one.bits for one in read) / max(len(read), 1)
    said = (
        f"The next {len(read):,} symbols of {stream.name} after {work.total.tokens:,} tokens, {mean:.3f} bits each, "
        "read by a copy that goes on learning. The stronger the shade, the greater the surprise. Point at a symbol, or "
        "focus the passage and use the arrow keys."
    )
    return [paragraph(said), passage(read, stream.symbols)]


def passage(read: Sequence[Read], symbols: tuple[str, ...]) -> str:
    """The symbols as spans, and a line that tells of the one that is pointed at."""
    spans = "".join(
        f'<span style="--s:{min(one.bits / STRONGEST, 1.0):.2f}" data-told="{text(told(one, symbols))}">'
        f"{text(shown(one.token, symbols))}</span>"
        for one in read
    )
    label = "A passage, symbol by symbol; arrow keys move"
    return (
        f'<div class="reader" tabindex="0" role="textbox" aria-readonly="true" aria-label="{label}">{spans}</div>'
        '<div class="told" role="status" aria-live="polite"></div>'
    )


def told(one: Read, symbols: tuple[str, ...]) -> str:
    """One symbol in words."""
    names = ", ".join(f"{name(token, symbols)} {p:.1%}" for token, p in one.expected)
    return f"{name(one.token, symbols)}: {one.bits:.2f} bits" + (f"; expected {names}" if names else "")


def name(token: int, symbols: tuple[str, ...]) -> str:
    return "space" if symbols[token] == " " else symbols[token]


def shown(token: int, symbols: tuple[str, ...]) -> str:
    """A symbol in the passage; a byte that is white space is that."""
    return chr(token) if len(symbols) == 256 and token in b"\n\t " else symbols[token]
