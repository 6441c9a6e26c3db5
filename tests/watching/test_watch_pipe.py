"""The real command on a real pipe: prompt, exact after a stop, quiet when nobody reads, one line for every error."""

import gzip
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


def test_tokens_have_rows_of_their_own_when_asked(start: Start) -> None:
    child = start("w", "--per", "token")
    child.give(b"ab7\n")
    assert [child.row()["symbol"] for _ in range(3)] == ["a", "b", "*"]
    row = child.row()
    assert (row["token"], row["line"], row["symbol"]) == (3, 1, "\\x0a")
    assert row["bits"] > 0


def test_the_end_of_input_reports_the_unfinished_line_and_saves(start: Start) -> None:
    child = start("w")
    child.give(b"whole\r\nnot whole \xe2\x82")
    code, rows, told = child.end()
    assert code == 0
    assert [(row["line"], row["tokens"], row["text"], row.get("unfinished")) for row in rows] == [
        (1, 6, "whole", None),
        (2, 13, "not whole \\xe2\\x82", True),
    ]
    assert "2 unknown symbols" in told
    assert child.record()["tokens"] == 19


EPISODIC = ["--learner", "episodic", "--episodic.memory", "1MB", "--episodic.network", "4"]


@pytest.mark.parametrize("learner", [[], EPISODIC], ids=["sharp", "episodic"])
@pytest.mark.parametrize("cut", [len(A), 1000, len(A) + len(B) - len("nïcode\n".encode()) - 1])
def test_stopped_and_continued_equals_never_stopped(start: Start, cut: int, learner: list[str]) -> None:
    """At a line's end, inside a line, and between the two bytes of ü; SHARP's sleeps fall on both sides."""
    whole, parts = start("whole", *learner), start("parts", *learner)
    whole.give(A + B)
    whole.end()
    parts.give((A + B)[:cut])
    for _ in range((A + B)[:cut].count(b"\n")):
        parts.row()
    code, _, told = parts.end(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert "everything is saved" in told
    again = start("parts", *learner)
    again.give((A + B)[cut:])
    code, rows, told = again.end()
    assert code == 0
    assert f"line {(A + B)[:cut].count(bytes([10])) + 1:,}" in told
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
    assert b"no alerts in the first" in child.process.stderr.readline()
    assert child.process.stderr.read() == b""
    assert child.record()["tokens"] == 8
    assert child.record()["watch"]["places"]["-"] == {"number": 3, "pending": b"three\n".hex()}


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
    wait_until(lambda: child.saved_offset(log) == len(A))
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
    assert again.record()["watch"]["places"][str(log)]["offset"] == len(A + B)


def test_a_followed_file_through_waiting_rotation_and_truncation(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    child = start("w", str(log))
    assert "no alerts in the first" in child.said()
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
    row = child.row()
    assert (row["line"], row["tokens"], row["tail"], row["alert"], row["text"]) == (4, 6, None, False, "three")
    child.end(signal.SIGTERM)


def test_a_pause_is_slept_through_once(start: Start) -> None:
    idle = ["--sharp.sleep.trigger", "idle", "--sharp.sleep.idle-seconds", "0.3", "--sharp.tau", "0"]
    child = start("w", *idle)
    child.give(A)
    assert "no alerts in the first" in child.said()
    assert "slept while nothing came" in child.said()
    time.sleep(0.8)
    _, _, told = child.end(signal.SIGTERM)
    assert "slept while" not in told
    assert child.process.returncode == 128 + signal.SIGTERM


def test_a_line_of_megabytes_comes_in_pieces(start: Start) -> None:
    child = start("w", "--learner", "unigram", "--line-limit", "100000")
    _, rows, told = child.end(last=b"x" * 1_050_000)
    assert [row["tokens"] for row in rows] == [100_000] * 10 + [50_001]
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
    assert told.endswith("sharp: line 2 of - has the unknown symbol '\\\\xff', and --unknown is stop\n")
    assert child.record()["tokens"] == 5
    assert child.record()["watch"]["places"]["-"] == {"number": 2, "pending": b"b\xffd\n".hex()}


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
        (["--alerts-per-1000", "0"], "alerts_per_1000 = 0.0"),
        (["--mask", "("], "is no regular expression"),
        (["--metrics", "9109"], "it must be :PORT"),
        (["--learn-first", "/nowhere.log"], "there is no /nowhere.log"),
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
    assert [(row["line"], row["source"]) for row in second.end()[1]] == [(1, "-")]
    third = start("w", str(log), tiny=False)  # no flags: the directory knows its learner, and its place in the file
    with log.open("ab") as file:
        file.write(b"added\n")
    assert third.row()["text"] == "added"
    third.end(signal.SIGTERM)
    done = subprocess.run([*COMMAND, str(tmp_path / "w"), *TINY, "--seed", "9"], capture_output=True, input=b"")
    assert done.returncode == 2
    assert b"seed: 0 \xe2\x86\x92 9" in done.stderr


def test_only_alerts_are_written_when_asked_and_one_kind_once(start: Start) -> None:
    child = start("w", "--learner", "counts", "--alerts-per-1000", "20", "--only-alerts")
    odd = [f"kernel: Out of memory: Killed process {i} (java)\n".encode() for i in range(3)]
    child.give(A * 5 + odd[0] + A + odd[1] + A + odd[2])
    _, rows, told = child.end()
    assert [(row["line"], row["alert"], row["count"]) for row in rows] == [(201, True, 1)]
    assert rows[0]["surprising"] == "kernel: Out of memory: Killed process 0 (java)"
    assert "3 alerts" in told


def test_an_old_log_is_learned_first_and_spares_the_warm_up(start: Start, tmp_path: Path) -> None:
    old = tmp_path / "old.log.gz"
    old.write_bytes(gzip.compress(A * 10))
    child = start("w", "--learner", "counts", "--learn-first", str(old))
    code, rows, told = child.end(last=A + b"kernel: Out of memory: Killed process 4711\n")
    assert code == 0
    assert [row["line"] for row in rows if row["alert"]] == [41]
    assert "learned 400 lines" in told
    assert "no alerts in the first" not in told
    again = start("w", "--learner", "counts", "--learn-first", str(old))
    assert "is not learned: this directory has learned 441 lines already" in again.end()[2]


def test_text_is_for_people(start: Start) -> None:
    child = start("w", "--learner", "counts", "--alerts-per-1000", "20", "--format", "text", "--only-alerts")
    child.process.stdin.write(A * 5 + b"kernel: \x1b[2J panic\n")  # type: ignore[union-attr]
    out, _ = child.process.communicate(timeout=60)
    assert "! 20" in out.decode()
    assert "\\x1b[2J panic" in out.decode()
    assert "└ 1 line in" in out.decode()
    assert b"\x1b" not in out


def test_the_fast_preset_is_a_smaller_learner(start: Start) -> None:
    child = start("w", "--fast", tiny=False)
    child.end(last=b"one\n")
    assert child.record()["config"]["episodic"]["network"] == 0
    code, _, told = start("w", "--fast", tiny=False).end()
    assert code == 2
    assert "leave out --fast" in told
