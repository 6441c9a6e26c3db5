"""The command as people type it: one line and exit code 2 for every mistake, nothing half-written."""

import json
import subprocess
import sys
import time

import pytest

from sharpstream.cli import main
from sharpstream.commands import run as run_command

SMALL = ["--tokens", "600", "--sharp.levels", "2", "--sharp.width", "8", "--sharp.embedding", "4"]


def sharp(*words: str, **options) -> subprocess.CompletedProcess:
    program = [sys.executable, "-c", "from sharpstream.cli import entry; entry()", *words]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu", "out"], "did you mean 'run'?"),
        (["run", "out", "--toknes", "5"], "--toknes"),
        (["run", "out", "--tokens", "many"], "--tokens"),
        (["run", "out", "--tokens", "0"], "RunConfig.tokens = 0"),
        (["run", "out", "--sharp.levels", "0"], "SharpConfig.levels = 0"),
        (["run", "out", "--sharp.decoder", "lstm"], "decoder"),
        (["run", "out", "--learner", "shrap"], "there is no learner 'shrap'"),
        (["run", "out", "--stream", "nowhere"], "nowhere"),
        (["run", "out", "--recipe", "txet8"], "there is no recipe 'txet8'"),
        (["run", "out", "--stream", "pg19-subword", "--stream.subword.tokenizer", "no"], "there is no tokenizer no"),
        (["run", "out", "--config", "missing.toml"], "cannot read the config file"),
        (["run"], "sharp run --help"),
        (["evaluate", "out"], "there is no run in out"),
        (["data", "verify", "nothing"], "nothing"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_writes_nothing(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("sharp: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"ab", b"\x00\xff\xfe binary"])
def test_a_file_that_is_no_stream_is_one_line_and_exit_code_2(content, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(content)
    assert main(["run", "out", "--stream", "file", "--learner", "sharp"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_made_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    assert main(["run", "file/out", *SMALL]) == 2
    assert "cannot make the run directory" in capsys.readouterr().err


def test_missing_data_offline_says_what_and_how(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARP_DATA", raising=False)
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHARP_TEXT8_URL", "http://127.0.0.1:9/text8.zip")
    assert main(["run", "out", "--recipe", "text8-small"]) == 2
    told = capsys.readouterr().err
    assert "text8" in told
    assert "SHARP_DATA" in told
    assert not (tmp_path / "out").exists()


def test_flags_win_over_toml_over_recipe_and_the_resolved_config_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("seed = 7\ntokens = 500\n[sharp]\nwidth = 8\nembedding = 4\n")
    words = ["run", "--recipe", "head-depth", "--config", "mine.toml", "--tokens", "400", "--json", "out"]
    assert main(words) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["tokens"], summary["seed"], summary["stream"]["k"]) == (400, 7, 4)
    kept = (tmp_path / "out" / "config.toml").read_text()
    assert "tokens = 400" in kept
    assert "width = 8" in kept
    assert main(["run", "out"]) == 0
    assert "finished already" in capsys.readouterr().out


def test_other_settings_for_a_finished_run_are_refused_not_answered_with_its_result(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "out", *SMALL]) == 0
    capsys.readouterr()
    assert main(["run", "out", "--learner", "lstm", "--seed", "7"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "learner: 'sharp' → 'lstm'; seed: 0 → 7" in captured.err


def test_run_then_evaluate_in_json(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "out", *SMALL]) == 0
    capsys.readouterr()
    assert main(["evaluate", "out", "--length", "200", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["probes"]
    assert [row["probe"] for row in rows] == ["forward", "current", "backward"]
    assert all(0 < row["bits"] < 3.5 and 0 < row["accuracy"] < 1 for row in rows)


def test_evaluate_tells_used_context_and_transfer(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    probing = ["--probe-every", "200", "--probe-length", "100", "--sharp.adam.lr", "0.003"]
    assert main(["run", "out", *SMALL, *probing]) == 0
    capsys.readouterr()
    assert main(["evaluate", "out", "--length", "300", "--context", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [point["every"] for point in found["context"]] == [4, 8, 16, 32, 64, 128, 256, 512]
    assert found["transfer"].keys() == {"backward_transfer", "forgetting", "recall_gain"}
    assert found["transfer"]["backward_transfer"] > 0  # every segment obeys one rule, so later tokens help earlier ones


def test_standard_input_is_a_stream(tmp_path):
    done = sharp("run", "out", "--stream", "-", *SMALL, cwd=tmp_path, input="to be or not to be " * 40)
    assert done.returncode == 0, done.stderr
    assert "600 tokens" in done.stdout


def test_help_is_quick_and_imports_nothing_heavy():
    words = "import sys; from sharpstream.cli import main; main(['--help']); "
    check = words + "assert not {'numpy', 'numba', 'torch', 'rich', 'tyro', 'matplotlib'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, check=False).returncode == 0
    times = []
    for _ in range(3):
        began = time.perf_counter()
        sharp("--help")
        times.append(time.perf_counter() - began)
    assert min(times) < 0.5


def test_the_core_works_where_torch_is_absent(tmp_path):
    blocked = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'torch': raise ImportError('torch is not here')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import sharpstream\n"
        "from sharpstream.cli import main\n"
        f"code = main(['run', 'out', *{SMALL!r}])\n"
        "assert code == 0, code\n"
        "assert main(['evaluate', 'out', '--length', '100', '--json']) == 0\n"
        "assert main(['run', 'other', '--engine', 'reference', '--tokens', '10']) == 2\n"
        "assert not any(name.split('.')[0] == 'torch' for name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "pip install 'sharpstream[torch]'" in done.stderr


@pytest.mark.parametrize(
    ("words", "learner"),
    [
        ([], "sharp"),
        (["--stream", "nonlinear"], "sharp"),
        (["--stream", "python-docs"], "episodic"),
        (["--stream", "python-docs", "--learner", "counts"], "counts"),
        (["--stream", "python-docs", "--sharp.width", "8"], "sharp"),
        (["--config", "text.toml"], "episodic"),
        (["--config", "counts.toml"], "counts"),
        (["--recipe", "text8-small", "--stream", "python-docs"], "sharp"),
    ],
)
def test_who_reads_a_stream_when_nobody_says(words, learner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.toml").write_text('[stream]\nname = "python-docs"\n')
    (tmp_path / "counts.toml").write_text('learner = "counts"\n[stream]\nname = "python-docs"\n')
    assert run_command._options([run_command._short(word) for word in ["out", *words]]).run.learner == learner


def test_numbers_may_be_written_as_people_write_them(tmp_path, capsys):
    assert main(["run", str(tmp_path / "out"), "--learner", "counts", "--tokens", "1e3"]) == 0
    assert "learned 1,000 tokens" in capsys.readouterr().out
    assert main(["run", str(tmp_path / "other"), "--learner", "counts", "--tokens", "1.5"]) == 2


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_a_run_that_would_never_save_is_refused(seconds, tmp_path, capsys):
    words = ["--learner", "counts", "--tokens", "1000", f"--checkpoint-seconds={seconds}"]
    assert main(["run", str(tmp_path / "out"), *words]) == 2
    assert "checkpoint_seconds" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_fork_of_a_finished_run_says_that_it_needs_more_tokens(tmp_path, capsys):
    assert main(["run", str(tmp_path / "out"), "--learner", "counts", "--tokens", "1000"]) == 0
    assert main(["fork", str(tmp_path / "out"), str(tmp_path / "new")]) == 0
    assert f"`sharp run {tmp_path / 'new'} --tokens 2000` continues it: it has learned" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["recipes"], ["--help"]])
def test_output_that_cannot_be_written_ends_without_a_traceback(words):
    command = [sys.executable, "-m", "sharpstream", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr.startswith("sharp: cannot write the output")) == (2, True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reading:
        reading.stdout.close()
        assert reading.stderr.read() == ""


def test_a_learner_that_diverges_is_said_while_it_happens(tmp_path, capsys):
    words = ["--learner", "rnn", "--recurrent.adam.lr", "30", "--tokens", "2000", "--log-every", "500"]
    main(["run", str(tmp_path / "out"), *words])
    assert "it is diverging" in capsys.readouterr().err
