"""Numbers for Prometheus: over HTTP (`:9109`, on localhost unless a host is given) or as a text file for node_exporter.

The watch loop updates a `Gauges`; a thread answers from its last text, so that nobody who asks holds up the log.
"""

import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sharpstream.errors import ConfigError, RunError, StreamError
from sharpstream.files import write_whole
from sharpstream.watching.sources import Say

EVERY = 1.0  # seconds between updates
HELP = {
    "lines_total": "counter", "tokens_total": "counter", "bits_total": "counter", "alerts_total": "counter",
    "lag_bytes": "gauge", "alert_score": "gauge", "last_line_timestamp_seconds": "gauge",
}  # fmt: skip


def parse_address(text: str) -> tuple[str, int] | Path:
    """Host and port, or a file.

    >>> parse_address(":9109"), parse_address("0.0.0.0:80"), parse_address("/var/lib/node/sharp.prom").name
    (('127.0.0.1', 9109), ('0.0.0.0', 80), 'sharp.prom')
    """
    if "/" in text:
        return Path(text)
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or not int(port) < 65_536:
        raise ConfigError(f"metrics = {text!r}: it must be :PORT, HOST:PORT or a path with a / in it")
    return host.strip("[]") or "127.0.0.1", int(port)


class Gauges:
    """The latest numbers, and where they can be had."""

    def __init__(self, address: str, say: Say) -> None:
        self.text, self.say = b"", say
        self._at = 0.0
        self._file: Path | None = None
        self._server: ThreadingHTTPServer | None = None
        if address:
            where = parse_address(address)
            if isinstance(where, Path):
                self._file = where
            else:
                self._serve(where)

    @property
    def due(self) -> bool:
        """Whether somebody wants numbers and the last ones are old."""
        wanted = self._file is not None or self._server is not None
        return wanted and time.monotonic() - self._at >= EVERY

    def update(self, numbers: Mapping[str, float], quantiles: Mapping[float, float]) -> None:
        """Show these numbers from now on."""
        self._at = time.monotonic()
        lines = [line for name, value in numbers.items() for line in _sample(name, value)]
        if quantiles:
            lines.append("# TYPE sharp_watch_score summary")
            lines += [f'sharp_watch_score{{quantile="{q:g}"}} {value:g}' for q, value in quantiles.items()]
        self.text = ("\n".join(lines) + "\n").encode()
        if self._file is not None:
            try:
                write_whole(self._file, self.text.decode())
            except RunError as problem:
                self.say(f"{problem}; no more numbers are written")
                self._file = None

    def _serve(self, where: tuple[str, int]) -> None:
        gauges = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/metrics" else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.end_headers()
                self.wfile.write(gauges.text if self.path == "/metrics" else b"the numbers are at /metrics\n")

            def log_message(self, format: str, *args: object) -> None:
                pass

        try:
            self._server = ThreadingHTTPServer(where, Handler)
        except OSError as problem:
            raise StreamError(
                f"cannot serve metrics on {where[0]}:{where[1]}: {problem.strerror}; choose another port"
            ) from problem
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.say(f"metrics are at http://{where[0]}:{self._server.server_port}/metrics")

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def _sample(name: str, value: float) -> list[str]:
    return [f"# TYPE sharp_watch_{name} {HELP[name]}", f"sharp_watch_{name} {value:.17g}"]
