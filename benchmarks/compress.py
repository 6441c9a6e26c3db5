"""`sharp compress` beside xz -9, PPMd and zpaq -m5 on five real files: bytes, and processor seconds both ways.

    SHARP_DATA=... python benchmarks/compress.py [MOST_BYTES]

Every archive of ours is read back and compared. Prints and writes results/compress/RESULTS.md.
"""

import lzma
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sharpstream import archive
from sharpstream.evaluate.machine import describe
from sharpstream.experiments.language.frontier_texts import python_source, real_logs
from sharpstream.factory import make_learner
from sharpstream.files import write_whole
from sharpstream.learners.compressors import ppmd, zpaq
from sharpstream.report.grid import Grid, markdown
from sharpstream.streams.places import data_directory
from sharpstream.streams.python_docs import help_topics

OUT = Path(__file__).parents[1] / "results" / "compress" / "RESULTS.md"


def text8(most: int) -> bytes:
    with zipfile.ZipFile((data_directory() or Path()) / "text8.zip") as packed, packed.open("text8") as file:
        return file.read(most)


def files(most: int) -> dict[str, bytes]:
    """Documentation, source code, logs, an encyclopaedia, and machine code."""
    return {
        "Python's help topics": help_topics()[:most],
        "Python's library, source": python_source(most).tobytes(),
        "eight system logs": real_logs(most).tobytes(),
        "text8": text8(most),
        "numpy's compiled core": next(Path(np.__file__).parent.glob("_core/_multiarray_umath*.so")).read_bytes()[:most],
    }


def timed(work: Callable[[], int]) -> tuple[int, float]:
    began = time.process_time()
    size = work()
    return size, time.process_time() - began


def ours(data: bytes) -> tuple[int, float, float, float]:
    """Bytes, seconds to compress, seconds to read back, and how far the words are from the prequential bits."""
    bits = make_learner(archive.DEFAULT, archive.BYTES).learn(np.frombuffer(data, dtype=np.uint8)).sum()
    began = time.process_time()
    packed = archive.compress(data)
    middle = time.process_time()
    assert archive.decompress(packed) == data
    words = archive.opened(packed)[1].size * 32
    return len(packed), middle - began, time.process_time() - middle, words / bits - 1.0


def main(most: int) -> None:
    """One line a file."""
    lines = []
    for name, data in files(most).items():
        size, there, back, excess = ours(data)
        others = [
            timed(lambda data=data: len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))),
            timed(lambda data=data: ppmd(16).size(data)),
            timed(lambda data=data: zpaq(5).size(data)),
        ]
        cells = [f"{bytes_:,} ({seconds:.1f} s)" for bytes_, seconds in others]
        lines.append((name, len(data), f"**{size:,}** ({there:.0f} + {back:.0f} s)", *cells, f"{excess:+.3%}"))
        print(lines[-1], flush=True)
    columns = (
        "file",
        "bytes",
        "sharp compress (there + back)",
        "xz -9e",
        "PPMd, order 16",
        "zpaq -m5",
        "above its bits",
    )
    note = (
        f"`python benchmarks/compress.py {most}`, {describe().hardware}, beside other work; processor seconds of one "
        "thread. Above its bits: the coder's words against the learner's prequential bits."
    )
    title = "`sharp compress`: size and seconds on five real files, each read back byte for byte"
    grid = Grid(title=title, columns=columns, rows=tuple(lines), note=note)
    write_whole(OUT, "# What compressing with a learner gives\n\n" + markdown(grid))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
