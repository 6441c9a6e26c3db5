"""The demo: it draws both curves, replaces only a demo of its own, and touches nobody's run."""

import pytest

from sharpstream.cli import main
from sharpstream.commands.demo import ASLEEP, AWAKE
from sharpstream.rundir import RunDirectory

QUICK = ["--tokens", "12000"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "there"
    assert main(["demo", "--out", str(out), *QUICK]) == 0
    return out


def test_it_shows_sleep_and_what_happens_without(done, capsys):
    assert main(["demo", "--out", str(done), *QUICK]) == 0  # an earlier demo is replaced
    said = capsys.readouterr().out
    assert "reconstruction error: memory 2" in said
    assert "with sleep" in said
    assert "One run each decides nothing" in said
    assert (done / "demo.png").stat().st_size > 0
    asleep, awake = (RunDirectory(done / name).load_config() for name in (ASLEEP, AWAKE))
    assert (asleep.sharp.sleep.trigger, awake.sharp.sleep.trigger) == ("every", "never")
    assert asleep.replace(sharp=awake.sharp) == awake


def test_a_run_that_is_no_demo_is_refused_and_stays(tmp_path, capsys):
    run = tmp_path / "mine"
    assert main(["run", str(run), "--learner", "counts", "--tokens", "1000"]) == 0
    before = sorted(path.name for path in run.rglob("*"))
    assert main(["demo", "--out", str(run), *QUICK]) == 2
    assert "is not an earlier demo" in capsys.readouterr().err
    assert sorted(path.name for path in run.rglob("*")) == before


def test_a_run_of_other_settings_under_a_demos_name_is_refused_and_stays(tmp_path, capsys):
    run = tmp_path / "there" / ASLEEP
    assert main(["run", str(run), "--learner", "counts", "--tokens", "1000"]) == 0
    assert main(["demo", "--out", str(tmp_path / "there"), *QUICK]) == 2
    assert RunDirectory(run).summary is not None


def test_a_demo_that_is_still_at_work_is_left_alone(done, capsys):
    with RunDirectory(done / ASLEEP).locked():
        assert main(["demo", "--out", str(done), *QUICK]) == 2
    assert "is in use by" in capsys.readouterr().err
    assert RunDirectory(done / ASLEEP).summary is not None
