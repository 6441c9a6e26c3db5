"""The real command on a real pipe: prompt, exact after a stop, quiet when nobody reads, one line for every error."""

import os
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pytest
from watch_child import COMMAND, TINY, Start, wait_until

A = "".join(f"2031-03-04 INFO request {i % 7} of user {i * 37 % 101} took {i % 13} ms\n" for i in range(40)).encode()
B = A[: A.index(b"\n", 900) + 1].replace(b"INFO", b"WARN") + "ünïcode\n".encode()


def test_each_line_is_answered_as_soon_as_it_is_complete(start: Start) -> None:
    child = start("w")
    child.give(b"the first line waits for the process to begin\n")
    assert child.row()["line"] == 1
    waits = []
    for number in range(2, 22):
        began = time.monotonic()
        child.give(b"GET /v1/users/1234 200 12ms req=8f3a2c\n")
        assert child.row()["line"] == number
        waits.append(time.monotonic() - began)
    assert statistics.median(waits) < 0.05
    code, rows, told = child.end()
    assert (code, rows) == (0, [])
    assert "21 lines" in told


def test_tokens_are_learned_before_the_line_is_complete(start: Start) -> None:
    child = start("w", "--per", "token")
    child.give(b"ab")
    assert [child.row()["symbol"], child.row()["symbol"]] == ["a", "b"]
    child.give(b"\n")
    row = child.row()
    assert (row["token"], row["line"], row["symbol"]) == (2, 1, "\\x0a")
    assert row["bits"] > 0


def test_the_end_of_input_reports_the_unfinished_line_and_saves(start: Start) -> None:
    child = start("w")
    child.give(b"whole\r\nnot whole \xe2\x82")
    code, rows, told = child.end()
    assert code == 0
    assert [(row["line"], row["tokens"], row["text"]) for row in rows] == [
        (1, 7, "whole"),
        (2, 12, "not whole \\xe2\\x82"),
    ]
    assert all(abs(row["total_bits"] - row["bits"] * row["tokens"]) < 0.01 for row in rows)
    assert "2 unknown symbols" in told
    assert child.record()["tokens"] == 19


@pytest.mark.parametrize("cut", [len(A), 1000, len(A) + len(B) - len("nïcode\n".encode()) - 1])
def test_stopped_and_continued_equals_never_stopped(start: Start, cut: int) -> None:
    """At a line's end, inside a line, and between the two bytes of ü; sleeps fall on both sides."""
    whole, parts = start("whole"), start("parts", "--per", "token")
    whole.give(A + B)
    whole.end()
    parts.give((A + B)[:cut])
    for _ in range(cut - (cut > len(A))):  # the first byte of ü is no token yet
        parts.row()
    code, _, told = parts.end(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert "everything is saved" in told
    again = start("parts", "--per", "line")
    again.give((A + B)[cut:])
    code, rows, told = again.end()
    assert code == 0
    assert f"going on at token {cut - (cut > len(A)):,}" in told
    assert again.record()["sha256"] == whole.record()["sha256"]
    assert again.record()["watch"] == whole.record()["watch"]
    assert rows[-1]["text"] == "ünïcode"


def test_control_c_saves_too(start: Start) -> None:
    child = start("w")
    child.give(b"one\n")
    child.row()
    assert child.end(signal.SIGINT)[0] == 128 + signal.SIGINT
    assert child.record()["tokens"] == 4


def test_a_reader_that_goes_away_ends_it_quietly_with_everything_saved(start: Start) -> None:
    child = start("w")
    child.give(b"one\n")
    child.row()
    assert child.process.stdout is not None
    child.process.stdout.close()
    child.give(b"two\nthree\n")
    assert child.process.wait(timeout=30) == 0
    assert child.process.stderr is not None
    assert child.process.stderr.read() == b""
    assert child.record()["tokens"] == 14


def test_a_reader_that_does_not_read_cannot_hold_up_a_stop(start: Start) -> None:
    child = start("w", "--learner", "unigram")
    child.give(b"x\n")
    child.row()
    os.set_blocking(child.process.stdin.fileno(), False)  # type: ignore[union-attr]
    fed = 0
    until = time.monotonic() + 60
    while time.monotonic() < until:  # until both pipes are full: its rows are longer than its lines
        try:
            fed += os.write(child.process.stdin.fileno(), b"x\n" * 500)  # type: ignore[union-attr]
            last = time.monotonic()
        except BlockingIOError:
            if time.monotonic() - last > 1.0:
                break
            time.sleep(0.05)
    child.process.send_signal(signal.SIGTERM)
    assert child.process.wait(timeout=20) == 128 + signal.SIGTERM
    assert 0 < child.record()["tokens"] < fed


def test_checkpoints_by_time_survive_a_kill(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(A)
    child = start("w", str(log), "--checkpoint-seconds", "0.2")
    wait_until(lambda: child.saved_tokens() == len(A))
    child.end(signal.SIGKILL)
    with log.open("ab") as file:
        file.write(B)
    again, whole = start("w", str(log)), start("whole")
    while again.row()["text"] != "ünïcode":
        assert again.process.poll() is None
    again.end(signal.SIGTERM)
    whole.give(A + B)
    whole.end()
    assert again.record()["sha256"] == whole.record()["sha256"]
    assert again.record()["watch"]["place"]["offset"] == len(A + B)


def test_a_followed_file_through_waiting_rotation_and_truncation(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    child = start("w", str(log))
    assert "waiting" in child.said()
    log.write_bytes(b"one\nunfinished")
    assert child.row()["text"] == "one"
    wait_until(lambda: log.exists())
    time.sleep(0.2)
    log.rename(tmp_path / "app.log.1")
    log.write_bytes(b"two\n")
    assert [child.row()["text"], child.row()["text"]] == ["unfinished", "two"]
    assert "rotated" in child.said()
    os.truncate(log, 0)
    assert "truncated" in child.said()
    with log.open("ab") as file:
        file.write(b"three\n")
    assert child.row() | {"bits": 0, "total_bits": 0} == {
        "line": 4, "tokens": 6, "bits": 0, "total_bits": 0, "threshold": None, "alert": False, "text": "three",
    }  # fmt: skip
    child.end(signal.SIGTERM)


def test_a_pause_is_slept_through_once(start: Start) -> None:
    idle = ["--sharp.sleep.trigger", "idle", "--sharp.sleep.idle-seconds", "0.3", "--sharp.tau", "0"]
    child = start("w", *idle)
    child.give(A)
    assert "slept while nothing came" in child.said()
    time.sleep(0.8)
    _, _, told = child.end(signal.SIGTERM)
    assert "slept while" not in told
    assert child.process.returncode == 128 + signal.SIGTERM


def test_a_line_of_megabytes_comes_in_pieces(start: Start) -> None:
    child = start("w", "--learner", "unigram", "--line-limit", "100000")
    _, rows, told = child.end(last=b"x" * 1_050_000)
    assert [row["tokens"] for row in rows] == [100_000] * 10 + [50_000]
    assert [row.get("cut") for row in rows] == [True] * 10 + [None]
    assert told.count("longer than") == 1
    assert "10 pieces of long lines" in told


def test_an_unknown_symbol_can_stop_it_and_what_was_learned_stays(start: Start) -> None:
    child = start("w", "--unknown", "stop")
    child.give(b"good\n")
    child.row()
    child.give(b"b\xffd\n")
    code, rows, told = child.end()
    assert (code, rows) == (2, [])
    assert told == "sharp: line 2 has the unknown symbol '\\\\xff', and --unknown is stop\n"
    assert child.record()["tokens"] == 5
    assert child.record()["watch"]["lines"]["number"] == 2


def test_letters_alone_leave_some_lines_without_tokens(start: Start) -> None:
    child = start("w", "--alphabet", "letters")
    _, rows, told = child.end(last=b"a1 b\n123\n")
    assert [(row["tokens"], row["bits"] is None, row["text"]) for row in rows] == [(4, False, "a1 b"), (0, True, "123")]
    assert "4 unknown symbols" in told


def test_two_cannot_watch_in_one_directory(start: Start) -> None:
    first = start("w")
    first.give(b"one\n")
    first.row()
    code, _, told = start("w").end()
    assert code == 2
    assert "is in use by pid" in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--alert-quantile", "2"], "alert_quantile = 2.0"),
        (["--unknown", "maybe"], "unknown"),
        (["--tokens", "5"], "--tokens has no meaning here"),
        (["--stream", "text8"], "--stream has no meaning here"),
        (["--recipe", "nope"], "there is no recipe 'nope'"),
        (["--config", "/nowhere.toml"], "cannot read the config file"),
        (["--learner", "nope"], "nope"),
        (["/dev/null"], "not a regular file"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing_behind(tmp_path: Path, flags: list[str], expected: str) -> None:
    words = [*COMMAND, str(tmp_path / "w"), *flags]
    done = subprocess.run(words, input=b"x\n", capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == b""
    assert expected in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "w").exists()


def test_a_directory_keeps_its_learner_but_may_read_something_else(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(b"from a file\n")
    first = start("w", str(log))
    first.row()
    first.end(signal.SIGTERM)
    second = start("w")
    second.give(b"from a pipe\n")
    assert [row["line"] for row in second.end()[1]] == [2]
    third = start("w", str(log), tiny=False)  # no flags: the directory knows its learner, and its place in the file
    with log.open("ab") as file:
        file.write(b"added\n")
    assert third.row()["text"] == "added"
    third.end(signal.SIGTERM)
    done = subprocess.run([*COMMAND, str(tmp_path / "w"), *TINY, "--seed", "9"], capture_output=True, input=b"")
    assert done.returncode == 2
    assert b"seed: 0 \xe2\x86\x92 9" in done.stderr


def test_only_alerts_are_written_when_asked(start: Start) -> None:
    child = start("w", "--learner", "counts", "--alert-warmup", "100", "--only-alerts")
    child.give(A * 5 + b"kernel: Out of memory: Killed process 4711\n" + A)
    _, rows, told = child.end()
    assert [(row["line"], row["alert"]) for row in rows] == [(201, True)]
    assert "1 alerts" in told
