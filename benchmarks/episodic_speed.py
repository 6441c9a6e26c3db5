"""The episodic learner's speed beside the compressors on the same text, all in one run, and what a checkpoint costs.

    SHARP_DATA=... python benchmarks/episodic_speed.py [MILLIONS]

Processor time of one thread, rounds interleaved, the median shown. Prints and writes results/frontier/speed.md.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from sharpstream.checkpoint import save
from sharpstream.config import EpisodicConfig, StreamConfig
from sharpstream.evaluate.machine import describe
from sharpstream.experiments.language.frontier import MILLION, timed_bits
from sharpstream.experiments.language.frontier_texts import TEXTS
from sharpstream.experiments.language.measure import read
from sharpstream.files import write_whole
from sharpstream.learners.contract import Tokens
from sharpstream.learners.episodic import Episodic
from sharpstream.report.grid import Grid, markdown

OUT = Path(__file__).parents[1] / "results" / "frontier" / "speed.md"
ARMS = ("episodic", "episodic fast", "zpaq-5", "ppmd-16")
ROUNDS = 3


def speeds(text: Tokens, vocabulary: int) -> list[tuple[str, float, float]]:
    """Arm, median microseconds a symbol, bits; the rounds go through all arms in turn."""
    found: dict[str, list[dict[str, float]]] = {arm: [] for arm in ARMS}
    for _ in range(ROUNDS):
        for arm in ARMS:
            found[arm].append(timed_bits(arm, text, vocabulary))
            print(arm, found[arm][-1], flush=True)
    return [(arm, median(one["microseconds"] for one in all_), all_[0]["bits"]) for arm, all_ in found.items()]


def checkpoint_seconds(text: Tokens) -> tuple[float, float, float]:
    """Seconds of wall and processor time to take and write a checkpoint of the default learner, and its megabytes."""
    learner = Episodic(EpisodicConfig(), 27)
    learner.learn(text)
    walls, costs = [], []
    with tempfile.TemporaryDirectory() as place:
        for number in range(ROUNDS):
            wall, cost = time.perf_counter(), time.process_time()
            state = learner.state_dict()
            save(Path(place) / "checkpoints", state, {"tokens": number})
            walls.append(time.perf_counter() - wall)
            costs.append(time.process_time() - cost)
    return median(walls), median(costs), sum(array.nbytes for array in state.values()) / 1e6


def main(millions: int) -> None:
    """Letters, bytes, and a checkpoint."""
    text = read(StreamConfig(name="text8"), (0, millions * MILLION))
    help_topics = TEXTS["help"].take(TEXTS["help"].most)
    lines = [
        (f"{name}, {len(tokens):,}", arm, cost, round(1e6 / cost), bits)
        for name, tokens, vocabulary in (("text8, characters", text, 27), ("Python's help, bytes", help_topics, 256))
        for arm, cost, bits in speeds(tokens, vocabulary)
    ]
    wall, cost, size = checkpoint_seconds(text)
    note = (
        f"Median of {ROUNDS} interleaved rounds, {describe().hardware}. A checkpoint of the default learner after this "
        f"text ({size:.0f} MB): {wall:.2f} s, {cost:.2f} s of them processor time. "
        f"`python benchmarks/episodic_speed.py {millions}`"
    )
    columns = ("text, symbols", "learner", "microseconds a symbol", "symbols a second", "bits")
    grid = Grid(title="Speed, all in one run", columns=columns, rows=tuple(lines), note=note, decimals=2)
    write_whole(OUT, "# How fast the episodic learner is\n\n" + markdown(grid))
    print(OUT.read_text())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
