"""Where logs are: journald, docker, systemd, Kafka, Prometheus, a command for each alert.

Where the real program is not at hand, a stand-in with its format is used, and the test's name says so.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from watch_child import COMMAND, Start, wait_until

from sharpstream.errors import StreamError
from sharpstream.watching.metrics import Gauges

ROOT = Path(__file__).parents[2]
USUAL = [f"GET /v1/users/{i} 200 {i % 90}ms" for i in range(120)]
QUICK = ["--learner", "counts", "--alerts-per-1000", "20"]


def given(records: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_lines_in_the_format_of_journald_a_stand_in(start: Start) -> None:
    at = "1931245200000000"
    records: list[dict[str, object]] = [{"__REALTIME_TIMESTAMP": at, "MESSAGE": text} for text in USUAL]
    records += [{"__REALTIME_TIMESTAMP": at, "MESSAGE": [*b"segfault \xff at 7"], "_PID": "7"}]
    child = start("w", *QUICK, "--field", "MESSAGE")
    _, rows, _ = child.end(last=given(records))
    assert (rows[-1]["text"], rows[-1]["alert"]) == ("segfault \\xff at 7", True)
    assert (rows[-1]["time"], rows[-1]["time_from"]) == ("2031-03-14T09:00:00.000+00:00", "line")
    assert not any(row["alert"] for row in rows[:-1])


@pytest.mark.skipif(not shutil.which("journalctl"), reason="journalctl is not installed")
def test_the_real_journalctl_can_be_piped_in(start: Start) -> None:
    """Its journal may be empty, in a container for one; then nothing comes, and that is fine too."""
    child = start("w", *QUICK, "--field", "MESSAGE")
    lines = subprocess.run(["journalctl", "-o", "json", "-n", "50", "--no-pager"], capture_output=True).stdout
    code, rows, told = child.end(last=lines)
    assert code == 0
    assert len(rows) == lines.count(b"\n")
    assert "lines without the field" not in told


def test_lines_in_the_format_of_docker_a_stand_in(start: Start) -> None:
    records: list[dict[str, object]] = [
        {"log": text + "\n", "stream": "stdout", "time": "2031-03-04T09:14:05.1Z"} for text in USUAL
    ]
    child = start("w", *QUICK, "--field", "log")
    _, rows, told = child.end(
        last=given([*records, {"log": "panic: out of disk\n", "time": "2031-03-04T09:15:00Z"}]) + b"no\n"
    )
    assert rows[0]["text"] == USUAL[0]
    assert (rows[-2]["text"], rows[-2]["alert"], rows[-2]["time"]) == (
        "panic: out of disk", True, "2031-03-04T09:15:00+00:00",
    )  # fmt: skip
    assert rows[-1]["text"] == "no"
    assert "1 lines without the field" in told


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_unit() -> None:
    unit = ROOT / "examples/watch/sharp-watch.service"
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert not [line for line in done.stderr.splitlines() if "sharp-watch.service" in line]


def test_the_units_command_line_is_understood(tmp_path: Path) -> None:
    unit = (ROOT / "examples/watch/sharp-watch.service").read_text()
    words = re.search(r"^ExecStart=/usr/bin/env sharp watch \S+ \S+ (.+)$", unit, re.MULTILINE)
    assert words is not None
    flags = words[1].replace(":9109", ":0").split()
    done = subprocess.run([*COMMAND, str(tmp_path / "w"), *QUICK, *flags], input=b"one\n", capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_kafka_example_with_a_stand_in_for_kafka(tmp_path: Path) -> None:
    (tmp_path / "kafka.py").write_text(
        "class Message:\n"
        "    def __init__(self, value): self.value = value\n"
        "class KafkaConsumer(list):\n"
        "    def __init__(self, topic, **settings):\n"
        "        assert settings['enable_auto_commit'] is False\n"
        "        super().__init__(Message(f'{topic} message\\n{i}'.encode()) for i in range(5))\n"
        "    def commit(self): pass\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    words = [sys.executable, str(ROOT / "examples/watch/kafka_lines.py"), "orders", str(tmp_path / "w"), *QUICK]
    done = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONPATH": path})
    assert [json.loads(row)["text"] for row in done.stdout.splitlines()] == [f"orders message {i}" for i in range(5)]


# ---- Prometheus ------------------------------------------------------------------------------------------------------

SAMPLE = re.compile(r'[a-z_]+(\{quantile="0\.\d+"\})? -?\d+(\.\d+)?(e[+-]\d+)?')


def test_numbers_over_http_on_localhost_alone(start: Start) -> None:
    child = start("w", *QUICK, "--metrics", ":0")
    address = re.search(r"http://(127\.0\.0\.1:\d+)/metrics", child.said())
    assert address is not None
    child.give("".join(text + "\n" for text in USUAL).encode())
    url = f"http://{address[1]}/metrics"
    wait_until(lambda: "sharp_watch_lines_total 120" in fetch(url))
    text = fetch(url)
    assert all(line.startswith("# TYPE sharp_watch_") or SAMPLE.fullmatch(line) for line in text.splitlines())
    for name in ("alerts_total", "lag_bytes", "last_line_timestamp_seconds", 'score{quantile="0.99"}'):
        assert f"sharp_watch_{name} " in text
    child.end(signal.SIGTERM)


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())


def test_numbers_in_a_file(tmp_path: Path) -> None:
    gauges = Gauges(str(tmp_path / "sharp.prom"), lambda text: None)
    assert gauges.due
    gauges.update({"lines_total": 3}, {0.5: 1.5})
    assert not gauges.due
    assert (tmp_path / "sharp.prom").read_text().splitlines() == [
        "# TYPE sharp_watch_lines_total counter",
        "sharp_watch_lines_total 3",
        "# TYPE sharp_watch_score summary",
        'sharp_watch_score{quantile="0.5"} 1.5',
    ]


def test_a_port_in_use_is_said_in_one_line() -> None:
    first = Gauges("127.0.0.1:0", lambda text: None)
    try:
        assert first._server is not None
        with pytest.raises(StreamError, match="cannot serve metrics"):
            Gauges(f":{first._server.server_port}", lambda text: None)
    finally:
        first.close()


# ---- a command for each alert ----------------------------------------------------------------------------------------


def test_a_command_gets_the_row_and_no_shell_reads_it(start: Start, tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    command = f"{sys.executable} -c \"{script}\" '{tmp_path}/$(touch pwned) told'"
    child = start("w", *QUICK, "--on-alert", command)
    odd = "panic; $(touch pwned) `touch pwned` | sh"
    child.give("".join(text + "\n" for text in [*USUAL, odd, odd]).encode())
    child.end()
    told = [json.loads(line) for line in (tmp_path / "$(touch pwned) told").read_text().splitlines()]
    assert [(row["text"], row["alert"], row["count"]) for row in told] == [(odd, True, 1)]
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_fails_is_said_and_does_not_stop_the_watch(start: Start) -> None:
    child = start("w", *QUICK, "--on-alert", "/nowhere/notify")
    code, rows, told = child.end(last="".join(text + "\n" for text in [*USUAL, "panic"]).encode())
    assert (code, len(rows)) == (0, 121)
    assert "cannot start the alert command /nowhere/notify" in told


# ---- a terminal, and several files -----------------------------------------------------------------------------------


def test_on_a_terminal_the_surprising_part_is_red(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = [*COMMAND, str(tmp_path / "w"), *QUICK, "--only-alerts"]
    content = "".join(text + "\n" for text in [*USUAL, "GET /v1/users/7 exploded"]).encode()
    subprocess.run(words, input=content, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "GET /v1/users/7 \x1b[31;1mexploded\x1b[0m" in shown


def test_several_files_and_globs_on_the_command_line(start: Start, tmp_path: Path) -> None:
    for name in ("a.log", "b.log", "c.txt"):
        (tmp_path / name).write_text(f"from {name}\n")
    child = start("w", str(tmp_path / "c.txt"), str(tmp_path / "*.log"), *QUICK)
    rows = [child.row() for _ in range(3)]
    assert {(Path(row["source"]).name, row["text"]) for row in rows} == {
        (name, f"from {name}") for name in ("a.log", "b.log", "c.txt")
    }
    child.end(signal.SIGTERM)
