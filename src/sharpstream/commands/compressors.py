"""`sharp compressors`: what PPMd and zpaq make of a stream, in bits a token: the baselines that humble everyone.

They cannot be asked for probabilities token by token, so they are not learners; their bits are differences of
compressed sizes over the same tokens.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import tyro

from sharpstream.commands.options import parse
from sharpstream.config import StreamConfig
from sharpstream.errors import StreamError
from sharpstream.streams import open_stream


@dataclass(frozen=True, kw_only=True)
class CompressorOptions:
    """Bits a token of PPMd (orders 4, 6, 16) and zpaq (level 5) on a stream."""

    tokens: int = 1_000_000
    """How many tokens to compress (fewer if the stream ends)."""
    probe: int = 100_000
    """Tokens of the two probes: the future after them (forward) and their own beginning again (repeat)."""
    seed: int = 0
    """Of a synthetic stream."""
    json: bool = False
    """Print JSON."""
    stream: Annotated[StreamConfig, tyro.conf.arg(name="stream")] = field(
        default_factory=lambda: StreamConfig(name="python-docs")
    )


def main(argv: Sequence[str]) -> int:
    """Compress, and print the bits."""
    from sharpstream.learners.compressors import comparators

    words = ["--stream.name" if word == "--stream" else word for word in argv]
    options = parse(CompressorOptions, words, command="compressors")
    stream = open_stream(options.stream, seed=options.seed)
    train, future = stream.take(options.tokens), stream.take(options.probe)
    if not train.size:
        raise StreamError(f"the stream {stream.name} is empty; there is nothing to compress")
    rows: list[dict[str, Any]] = []
    for compressor in comparators():
        print(f"{compressor.name} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        rows.append(
            {
                "compressor": compressor.name,
                "tokens": int(train.size),
                "prequential": compressor.prequential(train, stream.vocabulary),
                "forward": compressor.forward_adaptive(train, future, stream.vocabulary) if future.size else None,
                "repeat": compressor.repeat_adaptive(train, min(options.probe, train.size), stream.vocabulary),
                "seconds": time.perf_counter() - began,
            }
        )
    _print(rows, stream.name, options.json)
    return 0


def _print(rows: list[dict[str, Any]], name: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"stream": name, "rows": rows}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"bits a token of {name}, by differences of compressed sizes")
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "compressor" else "right")
    for row in rows:
        values = (np.nan if value is None else value for value in row.values())
        table.add_row(
            *(f"{v:.4f}" if isinstance(v, float) else (f"{v:,}" if isinstance(v, int) else v) for v in values)
        )
    Console().print(table)
