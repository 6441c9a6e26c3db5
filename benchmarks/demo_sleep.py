"""Does sleep make a difference in the demo? Eight seeds, with and without, from the same start on the same stream.

    python benchmarks/demo_sleep.py [SEEDS]

Prints and writes results/simulations/demo-sleep.md: the tokens until each was halfway to the best possible error.
"""

import math
import sys
import tempfile
from pathlib import Path

from sharpstream.commands.demo import final_error, halfway
from sharpstream.evaluate.pairs import difference_where_both
from sharpstream.evaluate.verdicts import Claim, verdict
from sharpstream.experiments.recipes import demo, never_sleeps
from sharpstream.experiments.simulations.halfway import told
from sharpstream.files import write_whole
from sharpstream.loop import run
from sharpstream.report.grid import Grid, markdown
from sharpstream.rundir import Log, RunDirectory

OUT = Path(__file__).parents[1] / "results" / "simulations" / "demo-sleep.md"


def measured(seed: int, asleep: bool) -> tuple[float, float]:
    """Tokens until halfway (the whole run if never), and the error at the end."""
    config = demo().replace(seed=seed)
    config = config if asleep else config.replace(sharp=never_sleeps(config.sharp))
    with tempfile.TemporaryDirectory() as directory:
        run(Path(directory) / "run", config)
        rows = Log(RunDirectory(Path(directory) / "run").metrics_file).rows()
    return halfway(rows), final_error(rows)


def main(seeds: int) -> None:
    """All seeds, then the table with its verdict."""
    found = {}
    for seed in range(1, seeds + 1):
        found[seed] = measured(seed, True), measured(seed, False)
        print(f"seed {seed}: halfway after {told([found[seed][0][0]])} with sleep, {told([found[seed][1][0]])} without")
    last = demo().tokens
    ours, theirs = ({seed: min(pair[arm][0], last) for seed, pair in found.items()} for arm in (0, 1))
    gap = difference_where_both(ours, theirs)
    word = verdict([gap], Claim("below", demo().log_every))
    lines = tuple((seed, told([a[0]]), told([b[0]]), a[1], b[1]) for seed, (a, b) in found.items())
    shown = "-" if gap is None or math.isnan(gap.half_width) else f"{gap.mean:+,.0f} ± {gap.half_width:,.0f} tokens"
    note = f"Sleep minus no sleep, paired by seed: {shown}. The claim that sleep finds the rule sooner: **{word}**."
    columns = ("seed", "halfway, with sleep", "halfway, without", "error at the end, with", "without")
    title = f"The demo with and without sleep, {seeds} seeds (`python benchmarks/demo_sleep.py {seeds}`)"
    page = markdown(Grid(title=title, columns=columns, rows=lines, note=note, decimals=4))
    write_whole(OUT, page)
    print(page)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
