"""Two versions of the engine in one run: is the new one slower? A process of each, asked in turn, several times anew.

`git archive COMMIT src | tar x -C /tmp/old && python benchmarks/two_trees.py /tmp/old/src src --width 128`. Processor
time a token of SHARP at the text8 recipe. A ratio is the median over rounds of the ratio within a round; two processes
of one tree may differ by a sixth, by where their arrays come to lie, so the ratios of all starts are shown and their
geometric mean is what counts.
"""

import argparse
import os
import statistics
import subprocess
import sys

CHILD = """
import sys, time
from dataclasses import replace
import numpy as np
from sharpstream.experiments.recipes import acceleration, never_sleeps, on_tick, text8
from sharpstream.learners.sharp import Sharp

width, tokens = int(sys.argv[1]), np.random.default_rng(0).integers(0, 27, int(sys.argv[2]))
text = never_sleeps(replace(text8().sharp, width=width, embedding=100 if width == 512 else 30))
rests, learns = replace(text, tau=1e6), replace(text, tau=0.0)
learners = {name: Sharp(config, 27) for name, config in {
    "wake, memory at rest": rests, "wake, memory learns": learns, "on-tick, memory at rest": on_tick(rests),
    "on-tick, memory learns": on_tick(learns), "simulations": replace(never_sleeps(acceleration().sharp), tau=1e6),
}.items()}
frozen = learners["on-tick, memory at rest"]
works = {name: learner.learn for name, learner in learners.items()}
works |= {"evaluate": frozen.evaluate, "memory 1 alone": frozen.hidden_states}
for work in works.values():
    work(tokens)
print(*works, sep=";", flush=True)
for line in sys.stdin:
    began = time.process_time()
    works[line.strip()](tokens)
    print(1e6 * (time.process_time() - began) / tokens.size, flush=True)
"""


def start(tree: str, width: int, tokens: int) -> tuple[subprocess.Popen[str], list[str]]:
    """A process of this tree's code that measures what it is told to; and what it can measure."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(width), str(tokens)],
        env={**os.environ, "PYTHONPATH": tree},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip().split(";")


def ask(process: subprocess.Popen[str], work: str) -> float:
    """Microseconds a token, measured now."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{work}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    """A line for each kind of work: µs a token of both trees, the mean ratio, and that of every start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the source tree to compare with")
    parser.add_argument("new", help="the source tree that is compared")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--starts", type=int, default=5)
    options = parser.parse_args()
    starts = [compare(options) for _ in range(options.starts)]
    for work in starts[0]:
        before, after, ratios = zip(*(start[work] for start in starts), strict=True)
        told = " ".join(f"{ratio:.3f}" for ratio in ratios)
        mean = statistics.geometric_mean(ratios)
        print(
            f"H{options.width} {work:24} {statistics.median(before):8.2f} µs → {statistics.median(after):8.2f} µs   "
            f"× {mean:.3f} ({told})"
        )


def compare(options: argparse.Namespace) -> dict[str, tuple[float, float, float]]:
    """One process of each tree: for each kind of work the µs a token of both, and their ratio."""
    (old, works), (new, _) = (start(tree, options.width, options.tokens) for tree in (options.old, options.new))
    found = {}
    for work in works:
        pairs = [(ask(old, work), ask(new, work)) for _ in range(options.rounds)]
        before, after = (statistics.median(side) for side in zip(*pairs, strict=True))
        found[work] = before, after, statistics.median(second / first for first, second in pairs)
    for process in (old, new):
        process.communicate()
    return found


if __name__ == "__main__":
    main()
