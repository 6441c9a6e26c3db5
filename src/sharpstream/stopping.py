"""How a run is asked to stop: SIGTERM and Ctrl-C are remembered, and the loop saves and leaves after the present chunk.

While the loop waits for a live stream there is no present chunk; there a signal interrupts the wait.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Stopped(Exception):
    """Somebody asked the run to stop; everything so far is saved."""

    def __init__(self, tokens: int, signal_number: int) -> None:
        super().__init__(tokens)
        self.tokens, self.signal_number = tokens, signal_number


class Interrupted(Exception):
    """A signal came while the loop waited for tokens."""


class Stoppable(Protocol):
    """A loop that looks at `stop_signal` after every chunk and says when it only waits."""

    stop_signal: int
    waiting: bool


@contextmanager
def handling(handler: Callable[[int, object], None], *numbers: int) -> Iterator[None]:
    """While inside, these signals go to the handler; nothing changes in a thread that is not the main one."""
    try:
        old = {number: signal.signal(number, handler) for number in numbers}
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        for number, before in old.items():
            signal.signal(number, before)


@contextmanager
def listening(work: Stoppable) -> Iterator[None]:
    """While inside, SIGTERM and Ctrl-C ask for a clean stop."""

    def ask(number: int, frame: object) -> None:
        work.stop_signal = number
        if work.waiting:
            raise Interrupted

    with handling(ask, signal.SIGINT, signal.SIGTERM):
        yield
