"""What a person sees while a long job runs: a bar on a terminal, plain lines elsewhere; both refresh by time.

The loop calls `update` after every chunk and `note` for events; nothing here touches the result.
"""

import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from sharpstream.learners.contract import Learner


class Display(Protocol):
    """Somebody who watches a run."""

    def update(self, tokens: int, bits: float) -> None:
        """So many tokens are learned; the latest interval cost so many bits a token."""

    def note(self, text: str) -> None:
        """Something happened that a person wants to know."""

    def slept(self, report: Mapping[str, Any]) -> None:
        """The learner slept; this is what it did."""


class Silent:
    """Nobody watches."""

    def update(self, tokens: int, bits: float) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def slept(self, report: Mapping[str, Any]) -> None:
        pass


class Pace:
    """Tokens a second and time left, counted from the first chunk that is done: compilation is not learning."""

    def __init__(self, total: int) -> None:
        self.total, self.first, self.began = total, -1, 0.0

    def at(self, tokens: int) -> tuple[str, str]:
        """(rate, time left) after so many tokens, ready to print."""
        if self.first < 0:
            self.first, self.began = tokens, time.monotonic()
            return "-", "?"
        rate = (tokens - self.first) / max(time.monotonic() - self.began, 1e-9)
        return f"{rate:,.0f}", clock((self.total - tokens) / max(rate, 1e-9))


class Lines(Silent):
    """Plain lines, one every few seconds: for logs, pipes and CI."""

    def __init__(self, total: int, every: float = 10.0, unit: str = "tokens") -> None:
        self.total, self.every, self.last, self.unit = total, every, time.monotonic(), unit
        self.pace = Pace(total)

    def update(self, tokens: int, bits: float) -> None:
        rate, left = self.pace.at(tokens)
        if time.monotonic() - self.last < self.every and tokens < self.total:
            return
        self.last = time.monotonic()
        print(f"{tokens:,} of {self.total:,} {self.unit}, {rate}/s, {bits:.3f} bits, {left} left", file=sys.stderr)

    def note(self, text: str) -> None:
        print(text, file=sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stderr.flush()


class Bar(Silent):
    """A rich progress bar with tokens/s, bits and time left."""

    def __init__(self, total: int, start: int = 0, unit: str = "tokens") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn(f"[bold]{{task.completed:,}}[/] of {{task.total:,}} {unit}"),
            BarColumn(),
            TextColumn("{task.fields[rate]}/s"),
            TextColumn("{task.fields[bits]} bits"),
            TextColumn("{task.fields[left]} left"),
        )
        self.pace = Pace(total)
        self.progress = Progress(*columns, console=Console(stderr=True), refresh_per_second=5, transient=True)
        self.task = self.progress.add_task("", total=total, completed=start, rate="-", bits="-", left="-")

    def update(self, tokens: int, bits: float) -> None:
        rate, left = self.pace.at(tokens)
        self.progress.update(self.task, completed=tokens, rate=rate, bits=f"{bits:.3f}", left=left)

    def note(self, text: str) -> None:
        self.progress.console.print(text, highlight=False, markup=False)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()


def display(total: int, start: int = 0, unit: str = "tokens") -> Bar | Lines:
    """The right one for where standard error goes."""
    return Bar(total, start, unit) if sys.stderr.isatty() else Lines(total, unit=unit)


def clock(seconds: float) -> str:
    """Seconds as a person would say them: 12 s, 3 min 05 s, 2 h 10 min."""
    whole = round(min(max(seconds, 0.0), 1e9))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours / 24:.1f} days"


def tell_if_compiling(note: Callable[[str], None], learner: Learner) -> None:
    """Say why nothing happens for a while: this learner's kernels have not been compiled on this machine yet."""
    if not learner.compiled():
        note("compiling the kernels for this machine: up to a minute, once")
