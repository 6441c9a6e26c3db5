"""Every test here has its own empty cache and no SHARP_DATA; a local web server stands in for the network."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from local_web import Web

from sharpstream.streams import places


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHARP_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    places.notice.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def web() -> Iterator[Web]:
    """A running local web server."""
    answers = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.requests.append(self.path)
            body = answers.bodies.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if self.path in answers.truncated else body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield answers
    server.shutdown()
    thread.join()
    server.server_close()
