"""Runs that end, stop and are given more tokens: the bytes are those of one run of that length."""

import os
import signal
import subprocess
import threading
import time

import pytest
from small_runs import SHARP, halted, hashes, small

from sharpstream.cli import main
from sharpstream.config import StreamConfig
from sharpstream.factory import LEARNERS
from sharpstream.loop import Run, Stopped, run


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_given_more_tokens_ends_as_one_run_would(uninterrupted, tmp_path, learner):
    """Also from the middle of an interval; a Transformer's sums round by its chunks, so it ends on the loop's grid."""
    config = small(learner)
    run(tmp_path / "run", config.replace(tokens=1_400 if learner == "transformer" else 1_130))
    run(tmp_path / "run", config)
    assert hashes(tmp_path / "run") == uninterrupted(learner)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_told_to_stop_twice_ends_with_the_same_bytes(uninterrupted, tmp_path, learner):
    for at in (500, 1_900):
        halted(tmp_path / "run", small(learner), at=at)
    run(tmp_path / "run", small(learner))
    assert hashes(tmp_path / "run") == uninterrupted(learner)


def test_a_stream_that_ends_inside_an_interval_ends_the_run_the_same_way_again(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a stream that ends before the run does " * 40)
    config = small("counts").replace(stream=StreamConfig(name=str(text)))
    run(tmp_path / "whole", config)
    run(tmp_path / "again", config, checkpoint_seconds=0.0)
    (tmp_path / "again" / "summary.json").unlink()
    run(tmp_path / "again", config)
    assert hashes(tmp_path / "again") == hashes(tmp_path / "whole")


def test_a_finished_run_says_so(tmp_path, capsys):
    run(tmp_path / "run", small("counts"))
    assert main(["run", str(tmp_path / "run")]) == 0
    assert "finished already" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_that_waits_for_a_pipe(tmp_path, number):
    """Nothing arrives any more, so there is no chunk to finish."""
    path = tmp_path / "run"
    words = ["run", str(path), "--learner", "counts", "--counts.table-bits", "10", "--stream", "-"]
    command = [*SHARP, *words, "--checkpoint-seconds", "0"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"once upon a time " * 20)  # 340 tokens: a chunk and a part of one
    process.stdin.flush()
    while not (path / "checkpoints" / f"{250:015d}").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)  # it has saved, and waits
    process.send_signal(number)
    told = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 128 + number, told
    assert "stopped at token 250, everything saved" in told
    assert "cannot be continued: standard input is gone" in told
    assert "continues" not in told


def test_a_signal_that_comes_while_it_saves_does_not_wait_for_the_next_token(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"once upon a time " * 20)
    given_up = threading.Timer(20.0, os.close, [writer])  # the end of input, for a run that waits for more
    given_up.start()
    save = Run.save

    def told_meanwhile(work):
        save(work)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Run, "save", told_meanwhile)
    config = small("counts").replace(stream=StreamConfig(name=str(pipe)))
    with pytest.raises(Stopped) as stop:
        run(tmp_path / "run", config, checkpoint_seconds=0.0)
    given_up.cancel()
    os.close(writer)
    assert stop.value.tokens == 250


def test_a_learner_that_does_not_say_which_guesses_were_right_is_not_said_to_be_always_wrong(tmp_path, capsys):
    run(tmp_path / "run", small("counts"))
    assert main(["run", str(tmp_path / "run")]) == 0
    assert "wrong guesses" not in capsys.readouterr().out
    assert run(tmp_path / "run", small("counts"))["error"] is None
