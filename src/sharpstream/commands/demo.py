"""`sharp demo`: a small SHARP on nonlinear(2), wake and sleep as they happen, then without sleep; a picture of both."""

import shutil
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sharpstream.commands.options import parse
from sharpstream.config import RunConfig
from sharpstream.errors import RunError
from sharpstream.experiments.recipes import demo, never_sleeps
from sharpstream.experiments.simulations.halfway import tokens_until_halfway, told
from sharpstream.loop import Stopped, run
from sharpstream.report.progress import Pace, Silent
from sharpstream.rundir import Log, RunDirectory
from sharpstream.streams.synthetic import BEST_ERROR, NO_CONTEXT_ERROR

Rows = Sequence[Mapping[str, Any]]
LAST = 10_000  # predictions behind the final error


ASLEEP, AWAKE = "with-sleep", "without-sleep"  # the two runs of a demo, below its directory
OWN = {ASLEEP, AWAKE, "demo.png", "demo.pdf"}


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Watch a small SHARP learn a stream with a hidden rule, awake and asleep; then the same without sleep."""

    out: Path = Path("sharp-demo")
    """Where the two runs and their picture go; an earlier demo there is replaced, anything else is refused."""
    tokens: int = 200_000
    """How many tokens to learn from."""
    seed: int = 1
    """Another seed, another stream and another model."""


def main(argv: Sequence[str]) -> int:
    """Run the demo, print the verdict, write the picture."""
    options = parse(DemoOptions, argv, command="demo")
    config = demo().replace(tokens=options.tokens, seed=options.seed)
    clear_earlier(options.out, config)
    print(INTRODUCTION)
    began = time.monotonic()
    try:
        with (Live if sys.stdout.isatty() else Told)(config) as shown:
            run(options.out / ASLEEP, config, display=shown)
        print("\nThe same start and the same stream once more, without sleep ...", flush=True)
        run(options.out / AWAKE, config.replace(sharp=never_sleeps(config.sharp)))
    except Stopped as stopped:
        print(f"stopped at token {stopped.tokens:,}; what was learned is in {options.out}")
        return 128 + stopped.signal_number
    rows, awake = (Log(RunDirectory(options.out / name).metrics_file).rows() for name in (ASLEEP, AWAKE))
    picture = draw(rows, awake, options.out / "demo.png")
    print(verdict(rows, awake, time.monotonic() - began, picture))
    return 0


def clear_earlier(out: Path, config: RunConfig) -> None:
    """Remove an earlier demo, under its lock; refuse a directory that holds anything else, or a run still at work."""
    found = {path.name for path in out.iterdir()} if out.is_dir() else set()
    foreign = sorted(found - OWN)
    for name in {ASLEEP, AWAKE} & found:
        run_there = RunDirectory(out / name)
        theirs = run_there.load_config() if run_there.started else config
        sleep = theirs.sharp.sleep.trigger
        same = theirs.replace(tokens=config.tokens, seed=config.seed)
        wanted = config.replace(sharp=never_sleeps(config.sharp)) if sleep == "never" else config
        foreign += [] if same == wanted else [name]
    if foreign or (out.exists() and not out.is_dir()):
        told = f"it has {foreign[0]}" if foreign else "it is a file"
        raise RunError(f"{out} is not an earlier demo ({told}); choose another place with --out")
    for name in {ASLEEP, AWAKE} & found:
        with RunDirectory(out / name).locked():
            for path in (out / name).iterdir():
                if path.name != "lock":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


INTRODUCTION = """The stream: letters A-G. G is a hub; from it one of A-F follows at random, then the rest of its group
(ABC or DEF), clockwise or counter-clockwise, then G again. The direction depends on which groups
came before, so a learner without memory of them is wrong one time in three. Each letter is seen
once, one at a time; when something surprised it, SHARP marks the moment and replays it asleep, to
train its slower memories 2 and 3: after each sleep you see how badly they still reconstruct what they read.
"""


def final_error(rows: Rows, last: int = LAST) -> float:
    """Share of wrong guesses over the last predictions, from the log's intervals."""
    intervals = [row for row in rows if row["event"] == "interval"]
    end = intervals[-1]["tokens"]
    inside = [row["error"] for row in intervals if row["tokens"] > end - last]
    return float(sum(inside) / len(inside))


def draw(rows: Rows, awake: Rows, path: Path) -> Path:
    """Both learning curves, with the sleeps, as PNG and PDF."""
    from sharpstream.report.curves import learning_curve
    from sharpstream.report.style import save_figure

    asleep, other = ([row for row in part if row["event"] == "interval"] for part in (rows, awake))
    figure = learning_curve(
        [row["tokens"] for row in asleep],
        [row["error"] for row in asleep],
        sleeps=[row["tokens"] for row in rows if row["event"] == "sleep"],
        window=asleep[0]["tokens"],
        beside={"no-sleep": ([row["tokens"] for row in other], [row["error"] for row in other])},
        title="SHARP learns the hidden rule of nonlinear(2), one token at a time",
    )
    return save_figure(figure, path)[0]


def halfway(rows: Rows) -> float:
    """The tokens after which the error was first halfway down to the best possible; infinity if never."""
    return tokens_until_halfway([{**row, "seed": 0} for row in rows if row["event"] == "interval"])[0]


def verdict(rows: Rows, awake: Rows, seconds: float, picture: Path) -> str:
    """What a person should take away."""
    error, without = final_error(rows), final_error(awake)
    sleeps = [row for row in rows if row["event"] == "sleep"]
    replayed = sum(row["replayed"] for row in sleeps)
    tokens = next(row["tokens"] for row in reversed(rows) if row["event"] == "interval")
    solved = "It found the rule." if error <= 0.22 else "It has not found the whole rule yet; more --tokens may help."
    return (
        f"\nerror over the last {LAST:,} predictions: {error:.4f} with sleep, {without:.4f} without\n"
        f"   without context {NO_CONTEXT_ERROR:.4f}   best possible {BEST_ERROR:.4f}\n"
        f"{solved} {tokens:,} tokens, {len(sleeps)} sleeps ({replayed:,} replayed tokens); both runs {seconds:.0f} s.\n"
        f"Tokens until halfway there: {told([halfway(rows)])} with sleep, {told([halfway(awake)])} without. "
        "One run each decides nothing:\nover eight seeds sleep found this rule sooner "
        "(results/simulations/demo-sleep.md, `python benchmarks/demo_sleep.py`).\n"
        f"picture: {picture}"
    )


def sleep_line(report: Mapping[str, Any]) -> str:
    """One sleep in one line."""
    levels = ", ".join(
        f"memory {level} {found['loss']:.3f}" for level, found in report["levels"].items() if found["loss"] is not None
    )
    replayed = f"replayed {report['replayed']:,} tokens from {report['tags']} tags"
    return f"slept at {report['tokens']:,}: {replayed}; reconstruction error: {levels}"


class Told(Silent):
    """The demo where nobody can see a screen: a line now and then."""

    def __init__(self, config: RunConfig) -> None:
        self.every, self.next, self.total = config.tokens // 10, config.tokens // 10, config.tokens

    def update(self, tokens: int, bits: float) -> None:
        if tokens >= self.next:
            self.next += self.every
            print(f"awake at {tokens:,} of {self.total:,} tokens: {bits:.3f} bits a token", flush=True)

    def note(self, text: str) -> None:
        print(text, flush=True)

    def slept(self, report: Mapping[str, Any]) -> None:
        print("  " + sleep_line(report), flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Live(Silent):
    """The demo on a terminal: a bar, how surprised it is, and the last sleeps."""

    def __init__(self, config: RunConfig) -> None:
        from rich.live import Live as RichLive

        self.total, self.pace = config.tokens, Pace(config.tokens)
        self.sleeps: deque[str] = deque(maxlen=5)
        self.history: deque[float] = deque(maxlen=60)
        self.live = RichLive(self._panel(0, 0.0), refresh_per_second=8)

    def _panel(self, tokens: int, bits: float) -> Any:
        from rich.panel import Panel
        from rich.text import Text

        rate, left = self.pace.at(tokens)
        done = int(40 * tokens / self.total)
        text = Text()
        text.append(f"{'━' * done}", style="bold green").append(f"{'━' * (40 - done)}", style="dim")
        text.append(f"  {tokens:,} of {self.total:,} tokens, {rate}/s, {left} left\n")
        text.append("surprise  ", style="bold").append(spark(list(self.history)), style="yellow")
        text.append(f"  {bits:.3f} bits a token\n")
        text.append("\n".join(f"☾ {line}" for line in self.sleeps) or "awake; not slept yet", style="cyan")
        return Panel(text, title="SHARP, awake", subtitle="each letter once, one at a time")

    def update(self, tokens: int, bits: float) -> None:
        if tokens % 2_000 == 0:
            self.history.append(bits)
        self.live.update(self._panel(tokens, bits))

    def note(self, text: str) -> None:
        self.live.console.print(text, highlight=False, markup=False)

    def slept(self, report: Mapping[str, Any]) -> None:
        self.sleeps.append(sleep_line(report))

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()


def spark(values: Sequence[float]) -> str:
    """A line of little bars, the highest value full height."""
    top = max(values, default=1.0) or 1.0
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * value / top))] for value in values)
