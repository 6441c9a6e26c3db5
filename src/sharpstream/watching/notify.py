"""A command for each alert: the row goes to its standard input, its words are never given to a shell.

Commands run beside the watch. When more are at work than allowed, an alert is not told and that is said, because a slow
command must not hold up the log.
"""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

from sharpstream.errors import ConfigError
from sharpstream.watching.sources import Say

AT_WORK = 8


def words_of(command: str) -> list[str]:
    """A command line as words, quotes understood, nothing expanded.

    >>> words_of("mail -s 'odd line' ops")
    ['mail', '-s', 'odd line', 'ops']
    """
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise ConfigError(f"on_alert = {command!r} cannot be read: {problem}") from problem


class Notifier:
    """Starts the command."""

    def __init__(self, command: str, say: Say) -> None:
        self.words, self.say = words_of(command), say
        self.untold = 0
        self._running: list[subprocess.Popen[bytes]] = []

    def tell(self, row: Mapping[str, Any]) -> None:
        """Give a row to the command, if there is one."""
        self._running = [child for child in self._running if not self._done(child)]
        if not self.words:
            return
        if len(self._running) >= AT_WORK:
            self.untold += 1
            if self.untold & (self.untold - 1) == 0:  # 1, 2, 4, 8, …
                self.say(f"{AT_WORK} alert commands are still at work; {self.untold} alerts were not given to one")
            return
        with tempfile.TemporaryFile() as row_file:  # a file cannot block us as a pipe can
            row_file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            row_file.seek(0)
            try:
                self._running.append(
                    subprocess.Popen(self.words, stdin=row_file, stdout=2, env={**os.environ, "SHARP_ALERT": "1"})
                )
            except OSError as problem:
                self.say(f"cannot start the alert command {self.words[0]}: {problem.strerror}")

    def _done(self, child: subprocess.Popen[bytes]) -> bool:
        code = child.poll()
        if code:
            self.say(f"the alert command {self.words[0]} ended with exit code {code}")
        return code is not None

    def close(self, seconds: float = 5.0) -> None:
        """Wait a little for those at work."""
        for child in self._running:
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.say(f"the alert command {self.words[0]} (pid {child.pid}) is still at work")
