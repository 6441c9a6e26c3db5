"""Files of a run that were damaged, cut, swapped or cannot be written: found out, told, and the result is the same."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_runs import SHARP, halted, hashes, small

from sharpstream import checkpoint
from sharpstream.config import CountsConfig, StreamConfig
from sharpstream.config_files import to_dict, to_toml
from sharpstream.errors import RunError
from sharpstream.experiments.pace import seconds_per_1000
from sharpstream.factory import LEARNERS, make_learner
from sharpstream.loop import run
from sharpstream.report.progress import Silent
from sharpstream.rundir import Log, RunDirectory

LARGE = 10**8  # bytes; more than any state here
FILES = ("tensors.safetensors", "state.json")
SOME = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANY = settings(SOME, max_examples=10_000)


class Listener(Silent):
    """Hears what the person would."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run of counts, stopped with two checkpoints; never touched itself."""
    return halted(tmp_path_factory.mktemp("halted") / "run", small("counts"))


@pytest.fixture
def copied(original, tmp_path):
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def test_a_torn_line_of_wall_clock_times_costs_one_interval_and_no_job(tmp_path):
    rows = [{"event": "interval", "tokens": n, "time": float(t)} for n, t in ((1000, 0), (2000, 2), (3000, 4))]
    torn = '{"event": "interval", "tok'  # a disk that was full; later the run went on behind it
    lines = [json.dumps(rows[0]), torn + json.dumps(rows[1]), json.dumps(rows[2]), torn]
    (tmp_path / "timing.jsonl").write_text("\n".join(lines))
    read = Log(tmp_path / "timing.jsonl").readable_rows()
    assert read == [rows[0], rows[2]]
    assert seconds_per_1000(read) == 2.0


def test_results_with_a_damaged_row_are_refused_by_name_and_a_torn_end_is_not_yet_a_row(tmp_path):
    log = Log(tmp_path / "metrics.jsonl")
    log.path.write_text('{"tokens": 1}\n{"tokens": 2}\n{"tok')
    assert [row["tokens"] for row in log.rows()] == [1, 2]
    log.path.write_text('{"tokens": 1}\n{"tok\n{"tokens": 3}\n')
    with pytest.raises(RunError, match="line 2 is not a row"):
        log.rows()


def kept(path):
    return checkpoint.saved(path / "checkpoints")


def continued(path, learner="counts"):
    """Run to the end; what the person was told on the way."""
    listener = Listener()
    run(path, small(learner), display=listener)
    return listener.notes


def reseal(path, **changes):
    """Change the record of a checkpoint as somebody would who knows how it is sealed."""
    record = {**checkpoint.read_record(path), **changes}
    (path / "state.json").write_bytes(checkpoint._sealed(record))


# ---- a checkpoint's files ------------------------------------------------------------------------------------------


def flips_are_found(original, name, data):
    newest, older = kept(original)[::-1]
    content = bytearray((newest / name).read_bytes())
    where = data.draw(st.integers(0, 8 * len(content) - 1), label="bit")
    content[where // 8] ^= 1 << where % 8
    root = original.parent / "flipped"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(original / "checkpoints", root)
    (root / newest.name / name).write_bytes(content)
    notes = []
    found = checkpoint.load_latest(root, LARGE, tell=notes.append)
    if found.path.name == newest.name:  # a number spelt differently (1E-08) is the same number
        assert name == "state.json"
        assert found.record == checkpoint.read_record(newest)
    else:
        assert found.path.name == older.name
        assert name in notes[0]


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_found_and_the_one_before_is_used(original, name):
    SOME(given(st.data())(lambda data: flips_are_found(original, name, data)))()


@pytest.mark.soak
@pytest.mark.parametrize("name", FILES)
def test_ten_thousand_flipped_bits(original, name):
    MANY(given(st.data())(lambda data: flips_are_found(original, name, data)))()


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def lengthen(path):
    path.write_bytes(path.read_bytes() + b"\0")


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_directory(path):
    path.unlink()
    path.mkdir()


def take_the_other(path):
    older = kept(path.parents[2])[0]
    path.write_bytes((older / path.name).read_bytes())


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", [cut, empty, lengthen, os.unlink, make_pipe, make_directory, take_the_other])
def test_a_damaged_newest_checkpoint_is_told_and_the_result_is_the_same(copied, uninterrupted, harm, name):
    newest, older = kept(copied)[::-1]
    harm(newest / name)
    notes = continued(copied)
    assert str(newest) in notes[0]
    assert "trying the one before" in notes[0]
    assert notes[1] == f"continuing {copied} at token {int(older.name):,}"
    assert hashes(copied) == uninterrupted("counts")


def test_two_checkpoints_that_changed_names_are_not_mistaken_for_one_another(copied):
    first, second = kept(copied)
    first.rename(first.with_name("x"))
    second.rename(first)
    first.with_name("x").rename(second)
    with pytest.raises(RunError, match=r"no checkpoint under .* can be continued"):
        continued(copied)


def test_damage_to_all_checkpoints_is_one_clear_line_and_exit_code_2(copied):
    for path in kept(copied):
        cut(path / "tensors.safetensors")
    told = subprocess.run([*SHARP, "run", str(copied)], capture_output=True, text=True, timeout=120)
    assert told.returncode == 2
    last = told.stderr.strip().splitlines()[-1]
    assert last.startswith("sharp: no checkpoint under")
    assert "delete that directory to start" in last
    assert "Traceback" not in told.stderr


def test_damaged_checkpoints_do_not_push_good_ones_out(copied):
    """After falling back, the damaged one is not counted among the two that are kept."""
    newest, older = kept(copied)[::-1]
    cut(newest / "state.json")
    checkpoint.save(copied / "checkpoints", checkpoint.load(older, LARGE).tensors, {"tokens": int(older.name) + 1})
    assert [int(path.name) - int(older.name) for path in kept(copied)] == [0, 1]


def test_a_checkpoint_that_steps_aside_is_found_if_its_successor_never_came(copied):
    newest = kept(copied)[-1]
    newest.rename(newest.with_name(newest.name + ".replaced"))
    found = checkpoint.load_latest(copied / "checkpoints", LARGE, tell=print)
    assert found.tokens == int(newest.name)


def test_strange_entries_beside_the_checkpoints_are_ignored(copied, uninterrupted):
    root = copied / "checkpoints"
    for name in ("²²²", "notes", "00", "000000000999999x"):
        (root / name).mkdir()
    (root / f"{10**14:015d}").write_text("a file")
    continued(copied)
    for name in ("²²²", "notes", "00", "000000000999999x"):
        (root / name).rmdir()
    (root / f"{10**14:015d}").unlink()
    assert hashes(copied) == uninterrupted("counts")


def test_a_count_model_may_outgrow_its_first_state_by_megabytes(tmp_path):
    """Its tables begin empty; a bound taken from the empty ones called every later checkpoint damaged."""
    config = small("counts").replace(stream=StreamConfig(name="random"), tokens=10_000)
    config = config.replace(counts=CountsConfig(order=8, table_bits=17))
    path = halted(tmp_path / "run", config, at=9_000)
    newest = kept(path)[-1]
    assert (newest / "tensors.safetensors").stat().st_size > 2 * checkpoint.HEADER_ROOM
    listener = Listener()
    run(path, config, display=listener)
    assert listener.notes == [f"continuing {path} at token {int(newest.name):,}"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_bound_on_a_state_holds_for_every_learner(learner):
    fresh = make_learner(small(learner), 7)
    bound = checkpoint.largest_state(fresh)
    for chunk in np.split(np.random.default_rng(0).integers(0, 7, 4_000), 4):
        fresh.learn(chunk)
        assert sum(array.nbytes for array in fresh.state_dict().values()) <= bound


# ---- the log -------------------------------------------------------------------------------------------------------


def test_a_log_shorter_than_the_newest_checkpoint_needs_falls_back_to_the_older(copied, uninterrupted):
    sizes = [checkpoint.read_record(path)["metrics_bytes"] for path in kept(copied)]
    assert sizes[0] < sizes[1]
    os.truncate(copied / "metrics.jsonl", sizes[1] - 1)
    notes = continued(copied)
    assert "metrics.jsonl is damaged" in notes[0]
    assert hashes(copied) == uninterrupted("counts")


@pytest.mark.parametrize("harm", [empty, os.unlink, lambda path: path.write_bytes(b"?" + path.read_bytes()[1:])])
def test_a_log_that_no_checkpoint_continues_is_refused(copied, harm):
    harm(copied / "metrics.jsonl")
    with pytest.raises(RunError, match=r"metrics.jsonl is damaged"):
        continued(copied)


def test_what_was_logged_after_the_checkpoint_is_cut_off(copied, uninterrupted):
    with (copied / "metrics.jsonl").open("a") as file:
        file.write('{"event": "interval", "tok')
    continued(copied)
    assert hashes(copied) == uninterrupted("counts")


# ---- the other files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"tokens": 9e99', '{"tokens": "3100"}', "[" * 100_000])
def test_a_damaged_summary_is_made_again(tmp_path, uninterrupted, content):
    run(tmp_path / "run", small("counts"))
    (tmp_path / "run" / "summary.json").write_text(content)
    continued(tmp_path / "run")
    assert hashes(tmp_path / "run") == uninterrupted("counts")


@pytest.mark.parametrize(
    "content", ["tokens = ", "seed = 1e400", "x = " + "[" * 50_000, "[sharp]\ngamma = 1" + "0" * 400]
)
def test_a_damaged_config_is_one_clear_line(copied, content):
    (copied / "config.toml").write_text(content)
    told = subprocess.run([*SHARP, "run", str(copied)], capture_output=True, text=True, timeout=120)
    assert told.returncode == 2
    assert len(told.stderr.strip().splitlines()) == 1
    assert "config.toml" in told.stderr or "seed" in told.stderr


def test_files_that_lead_out_of_the_directory_are_refused_and_not_written(copied, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    for name in ("metrics.jsonl", "lock", "checkpoints"):
        (copied / name).rename(tmp_path / f"old {name}")
        (copied / name).symlink_to(precious)
        with pytest.raises(RunError, match="is a link"):
            continued(copied)
        (copied / name).unlink()
        (tmp_path / f"old {name}").rename(copied / name)
    assert precious.read_text() == "keep me"


# ---- what does not belong together -----------------------------------------------------------------------------------


def test_a_newer_format_is_refused(copied):
    newest = kept(copied)[-1]
    record = {**checkpoint.read_record(newest), "format": 2}
    (newest / "state.json").write_bytes(checkpoint._sealed(record))
    with pytest.raises(RunError, match=r"has checkpoint format 2, but this version reads format 1; update"):
        continued(copied)


def test_a_checkpoint_of_other_settings_is_refused_with_what_differs(copied):
    newest = kept(copied)[-1]
    config = to_dict(small("counts"))
    config["counts"]["order"] = 4
    reseal(newest, config=config)
    with pytest.raises(RunError, match=r"belongs to another run; what differs: counts.order: 4 → 3"):
        continued(copied)


def test_another_stream_under_the_same_name_is_refused_with_its_sha256(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("once upon a time there was a stream " * 100)
    config = small("counts").replace(stream=StreamConfig(name=str(text)))
    path = halted(tmp_path / "run", config)
    text.write_text("once upon a time there was a river " * 100)
    with pytest.raises(RunError, match=r"belongs to another run; what differs: stream sha256: '[0-9a-f]{64}' → "):
        run(path, config)


# ---- a full disk -----------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_grow_leaves_the_last_good_checkpoint(tmp_path, uninterrupted):
    """Count tables grow, so that a limit on the size of files is met in the middle of the run."""
    path, toml = tmp_path / "run", tmp_path / "small.toml"
    toml.write_text(to_toml(small("counts")))
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (11_300, 11_300));"
    command = [sys.executable, "-c", limited + SHARP[2], "run", str(path), "--checkpoint-seconds", "0"]
    told = subprocess.run([*command, "--config", str(toml)], capture_output=True, text=True, timeout=120)
    check_full(told, path)
    assert subprocess.run([*SHARP, "run", str(path)], capture_output=True, timeout=120).returncode == 0
    assert hashes(path) == uninterrupted("counts")


def check_full(told, path):
    assert told.returncode == 2, told.stderr
    assert "Traceback" not in told.stderr
    assert "cannot write a checkpoint" in told.stderr
    assert "the last good one is intact" in told.stderr
    assert kept(path)
    for saved in kept(path):
        checkpoint.load(saved, LARGE)
    assert not list((path / "checkpoints").glob(".*"))


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, uninterrupted):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here; the limit on file sizes stands in for it")
    try:
        toml, path = tmp_path / "small.toml", disk / "run"
        toml.write_text(to_toml(small("counts")))
        command = [*SHARP, "run", str(path), "--checkpoint-seconds", "0", "--config", str(toml)]
        check_full(subprocess.run(command, capture_output=True, text=True, timeout=120), path)
        shutil.copytree(path, tmp_path / "larger")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    run(tmp_path / "larger", small("counts"))
    assert hashes(tmp_path / "larger") == uninterrupted("counts")


# ---- two at once -----------------------------------------------------------------------------------------------------


def test_a_second_process_is_refused_and_a_dead_ones_lock_is_no_obstacle(nursery, tmp_path):
    path = tmp_path / "run"
    first = nursery.start(path, to_dict(small("counts").replace(tokens=10**7)))
    while not kept(path):
        time.sleep(0.005)
    second = subprocess.run([*SHARP, "run", str(path)], capture_output=True, text=True, timeout=120)
    os.kill(first, signal.SIGKILL)
    assert nursery.end() == -signal.SIGKILL
    assert second.returncode == 2
    assert f"in use by pid {first} on {socket.gethostname()}; wait for it" in second.stderr
    assert (path / "lock").read_text().startswith(f"pid {first} ")
    with RunDirectory(path).locked():
        assert (path / "lock").read_text() == f"pid {os.getpid()} on {socket.gethostname()}\n"
