"""`sharp fork`: a what-if from a kept checkpoint, its parentage, and that it is a run like any other."""

import json
import shutil

import pytest
from small_runs import halted, hashes, small

from sharpstream.checkpoint import saved
from sharpstream.cli import main
from sharpstream.errors import ConfigError, RunError
from sharpstream.loop import run
from sharpstream.rundir import Log, RunDirectory


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run of SHARP, stopped at token 1,400 with the checkpoint of 1,250 beside it."""
    return halted(tmp_path_factory.mktemp("halted") / "run", small("sharp"))


def forked(*words):
    """Fork by the command line's own words."""
    from sharpstream.commands.fork import main as command

    assert command([str(word) for word in words]) == 0


def test_without_changes_it_ends_where_its_parent_would_have(original, tmp_path, uninterrupted):
    forked(original, tmp_path / "new", "--at", 1_250)
    config = RunDirectory(tmp_path / "new").load_config()
    summary = run(tmp_path / "new", config)
    same, whole = hashes(tmp_path / "new"), uninterrupted("sharp")
    tensors = next(name for name in whole if name.endswith("tensors.safetensors"))
    assert same[tensors] == whole[tensors]
    assert summary["parent"] == json.loads((tmp_path / "new" / "parent.json").read_text())


def test_a_changed_setting_takes_effect_from_the_fork_on_and_is_recorded(original, tmp_path, capsys):
    forked(original, tmp_path / "new", "--set", "sleep.trigger=never", "--set", "tokens=2000")
    assert "`sharp run" in capsys.readouterr().out
    parent = json.loads((tmp_path / "new" / "parent.json").read_text())
    assert parent["path"] == str(original.resolve())
    assert parent["tokens"] == 1_400
    assert parent["changes"] == {
        "tokens": {"from": 3_100, "to": 2_000},
        "sharp.sleep.trigger": {"from": "every", "to": "never"},
    }
    assert main(["run", str(tmp_path / "new")]) == 0
    rows = Log(tmp_path / "new" / "metrics.jsonl").rows()
    at = next(i for i, row in enumerate(rows) if row["event"] == "fork")
    assert rows[at]["state_sha256"] == parent["state_sha256"]
    assert rows[:at] == Log(original / "metrics.jsonl").rows()[:at]
    assert [row["event"] for row in rows[at + 1 :]] == ["interval"]
    assert any(row["event"] == "sleep" for row in rows[:at])


def test_a_fork_interrupted_ends_with_the_same_bytes(original, tmp_path):
    forked(original, tmp_path / "whole", "--set", "adam.lr=0.001")
    shutil.copytree(tmp_path / "whole", tmp_path / "parts")
    config = RunDirectory(tmp_path / "whole").load_config()
    assert config.sharp.adam.lr == 0.001
    run(tmp_path / "whole", config)
    halted(tmp_path / "parts", config, at=2_000)
    run(tmp_path / "parts", config)
    assert hashes(tmp_path / "parts") == hashes(tmp_path / "whole")


def test_the_parent_is_only_read(original, tmp_path):
    before = {file: file.read_bytes() for file in original.rglob("*") if file.is_file()}
    forked(original, tmp_path / "new")
    assert {file: file.read_bytes() for file in original.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--at", "7"], RunError, r"keeps no checkpoint at token 7; it has: 1250, 1400"),
        (["--set", "sharp.width=16"], RunError, r"do not fit the state of .*: the state's \S+ is float32"),
        (["--set", "learner=rnn"], RunError, "do not fit"),
        (["--set", "seed=9"], RunError, "goes on in the same stream"),
        (["--set", "stream.name=linear"], RunError, r"goes on in the same stream; .* name: 'nonlinear\S* → 'linear"),
        (["--set", "tokens=500"], RunError, "tokens = 500: 1400 were learned before the fork"),
        (
            ["--set", "sleep.triger=never"],
            ConfigError,
            r"no setting 'sleep.triger'; did you mean sharp.sleep.trigger\?",
        ),
        (["--set", "sleep.trigger"], ConfigError, "must be key=value"),
        (["--set", "sleep.trigger=often"], ConfigError, "one of 'every'"),
        (["--set", "sleep.every=1.5"], ConfigError, "must be of type int"),
        (["--set", "sharp.tau=1" + "0" * 400], ConfigError, "tau"),
    ],
)
def test_what_cannot_be_forked_leaves_nothing(original, tmp_path, words, error, message):
    with pytest.raises(error, match=message):
        forked(original, tmp_path / "new", *words)
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_taken_and_a_run_that_is_none(original, tmp_path):
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(RunError, match="exists already"):
        forked(original, tmp_path)
    with pytest.raises(RunError, match="there is no run in"):
        forked(tmp_path, tmp_path / "new")


def test_more_checkpoints_are_kept_on_request(tmp_path):
    run(tmp_path / "run", small("counts"), checkpoint_seconds=0.0, keep=5)
    assert len(saved(tmp_path / "run" / "checkpoints")) == 5
    forked(tmp_path / "run", tmp_path / "new", "--at", int(saved(tmp_path / "run" / "checkpoints")[0].name))
    assert main(["run", str(tmp_path / "new")]) == 0
    assert main(["run", str(tmp_path / "new"), "--keep", "0"]) == 2
