"""Files made to hurt: nothing in them runs or is written elsewhere, memory is bounded, only our errors come out.

A hundred inputs each in CI; in `make soak` 2,500, and 1,500 states of each learner.
"""

import ast
import contextlib
import hashlib
import io
import json
import resource
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hostile import mutate_state, plain, safetensors_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as to_bytes
from small_runs import halted, small

import sharpstream
from sharpstream import checkpoint
from sharpstream.config_files import to_toml
from sharpstream.errors import DataError, NumericalError, RunError, SharpError
from sharpstream.factory import LEARNERS
from sharpstream.learners.contract import Learner
from sharpstream.loop import prepare
from sharpstream.rundir import RunDirectory
from sharpstream.streams import text8
from sharpstream.streams.store import open_store, write_store

ROOM = 150_000  # kilobytes by which the peak of memory may rise in one test
BASE = settings(deadline=None, suppress_health_check=list(HealthCheck))
FORBIDDEN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml"}
LOADERS = {"np.load", "numpy.load", "torch.load", "os.system"}
CALLS = {"eval", "exec", "compile", "__import__"}


def times(request) -> settings:
    """How often: `make soak` asks for more."""
    return settings(BASE, max_examples=2_500 if request.node.get_closest_marker("soak") else 120)


@pytest.fixture(scope="module")
def everything_loaded(tmp_path_factory):
    """Kernels and torch take memory once; what is measured comes after."""
    for learner in LEARNERS:
        prepare(tmp_path_factory.mktemp("loaded"), small(learner)).learner.learn(np.arange(1_100) % 7)


@pytest.fixture(autouse=True)
def bounded_memory(everything_loaded):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < ROOM


def often(function):
    """The same test twice: short, and marked for `make soak`."""
    return pytest.mark.parametrize("amount", ["ci", pytest.param("soak", marks=pytest.mark.soak)])(function)


# ---- nothing executes -----------------------------------------------------------------------------------------------


def offences(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN:
            yield node.module
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in CALLS:
                yield called.id
            if isinstance(called, ast.Attribute) and ast.unparse(called) in LOADERS:
                yield ast.unparse(called)
            yield from (word.arg for word in node.keywords if word.arg in ("allow_pickle", "shell"))


def test_no_source_file_loads_code_or_pickles():
    sources = sorted(Path(sharpstream.__file__).parent.rglob("*.py"))
    assert len(sources) > 100
    found = {str(source): list(offences(ast.parse(source.read_text()))) for source in sources}
    assert not {source: names for source, names in found.items() if names}


def test_that_test_finds_what_it_looks_for():
    text = "import pickle\nfrom marshal import loads\neval('1')\nnp.load('x')\nf(allow_pickle=True)"
    assert len(list(offences(ast.parse(text)))) == 5


# ---- checkpoints ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def victim(tmp_path_factory):
    return halted(tmp_path_factory.mktemp("victim") / "run", small("counts"))


def resume(path):
    """What `sharp run` does with a directory before it learns."""
    work = prepare(path, small("counts"))
    work.resume(lambda text: None)
    return work


def newest(path):
    return checkpoint.saved(path / "checkpoints")[-1]


@contextlib.contextmanager
def restored(path):
    """Put the newest checkpoint and the log back afterwards; whatever else appeared beside the run is an escape."""
    kept = {file: file.read_bytes() for file in (*newest(path).iterdir(), path / "metrics.jsonl")}
    before = sorted(path.parent.rglob("*"))
    yield
    assert sorted(path.parent.rglob("*")) == before
    for file, content in kept.items():
        file.write_bytes(content)


@often
def test_a_checkpoint_with_any_tensors_is_refused_or_taken(victim, request, amount):
    good = checkpoint.read_record(newest(victim))

    @times(request)
    @given(safetensors_bytes())
    def attempt(content):
        with restored(victim), contextlib.suppress(SharpError):
            record = {**good, "sha256": hashlib.sha256(content).hexdigest()}
            (newest(victim) / "state.json").write_bytes(checkpoint._sealed(record))
            (newest(victim) / "tensors.safetensors").write_bytes(content)
            resume(victim)

    attempt()


@often
def test_a_checkpoint_with_any_record_is_refused_or_taken(victim, request, amount):
    good = dict(checkpoint.read_record(newest(victim)))

    @times(request)
    @given(st.dictionaries(st.sampled_from(sorted(good)), plain, min_size=1, max_size=3), st.data())
    def attempt(changes, data):
        record = {**good, **changes}
        inner = data.draw(st.sampled_from(["interval", "total", "config", "stream"]))
        if isinstance(record[inner], dict) and record[inner]:
            record[inner] = {**record[inner], data.draw(st.sampled_from(sorted(record[inner]))): data.draw(plain)}
        with restored(victim), contextlib.suppress(SharpError):
            (newest(victim) / "state.json").write_bytes(checkpoint._sealed(record))
            resume(victim)

    attempt()


@often
def test_any_bytes_for_a_record_are_refused(victim, request, amount):
    @times(request)
    @given(st.binary(max_size=200) | plain.map(lambda value: json.dumps(value).encode()))
    def attempt(content):
        with restored(victim):
            (newest(victim) / "state.json").write_bytes(content)
            assert resume(victim).total.tokens == 1_250  # the one before

    attempt()


@pytest.mark.parametrize("piece", [b"[", b"[],", b'{"":0},', b"1", b'"\xff', b"[" * 900 + b"]" * 900 + b","])
@pytest.mark.parametrize("size", [checkpoint.LARGEST_RECORD, 10 * checkpoint.LARGEST_RECORD])
def test_a_record_of_megabytes_is_refused_within_bounds(victim, piece, size):
    with restored(victim):
        (newest(victim) / "state.json").write_bytes((b"[" + piece * (size // len(piece)))[: size - 2] + b"0]")
        assert resume(victim).total.tokens == 1_250


def test_a_tensor_file_larger_than_any_state_is_refused_unread(victim):
    with restored(victim):
        with (newest(victim) / "tensors.safetensors").open("r+b") as file:
            file.truncate(2**40)  # sparse: to read it would end us
        assert resume(victim).total.tokens == 1_250


# ---- states ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
@often
def test_a_mutated_state_is_refused_or_can_be_lived_with(learner, request, tmp_path, amount):
    """Well-formed arrays with wrong kinds, shapes, counters and values: an error of ours, or a learner that works."""
    work = prepare(tmp_path / "never made", small(learner))
    tokens = np.random.default_rng(0).integers(0, work.stream.vocabulary, 700)
    work.learner.learn(tokens)
    good = work.learner.state_dict()
    refused = 0

    @settings(times(request), max_examples=1_500 if amount == "soak" else 60)
    @given(st.data())
    def attempt(data):
        nonlocal refused
        try:
            give(work, mutate_state(data, good))
        except RunError:
            refused += 1
            return
        with contextlib.suppress(NumericalError), np.errstate(all="ignore"):
            live(work.learner, tokens)

    attempt()
    assert learner == "uniform" or refused > 0
    give(work, good)
    assert all(np.array_equal(good[name], array) for name, array in work.learner.state_dict().items())


def give(work, state):
    """By the door that a checkpoint comes through."""
    record = {"tokens": 0, "interval": vars(work.interval), "total": vars(work.total), "before": work.before}
    content = to_bytes({name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in state.items()})
    tensors = checkpoint._tensors(Path("hostile"), content)
    work.adopt(checkpoint.Checkpoint(path=Path("hostile"), tensors=tensors, record={**record, "last_bits": None}))


def live(learner: Learner, tokens) -> None:
    assert learner.predict().shape == (learner.vocabulary,)
    learner.evaluate(tokens[:50])
    learner.learn(tokens)  # long enough for two sleeps, and for a chunk of the Transformer to fill
    learner.state_dict()


# ---- configs --------------------------------------------------------------------------------------------------------


@often
def test_any_config_file_is_read_or_refused(tmp_path, request, amount):
    good = to_toml(small("sharp"))
    numbers = st.sampled_from(
        ["1" + "0" * 400, "-1", "nan", "inf", "1e999", "0x" + "f" * 300, "[[[[]]]]", '"x"', "true", "{}"]
    )

    @times(request)
    @given(st.data())
    def attempt(data):
        lines = good.splitlines()
        for _ in range(data.draw(st.integers(1, 3))):
            where = data.draw(st.integers(0, len(lines) - 1))
            key = lines[where].split(" = ")[0]
            lines[where] = data.draw(st.text(max_size=30) | st.just(f"{key} = {data.draw(numbers)}"))
        (tmp_path / "config.toml").write_text("\n".join(lines), encoding="utf-8", errors="replace")
        with contextlib.suppress(SharpError):
            RunDirectory(tmp_path).load_config()

    attempt()


@pytest.mark.parametrize("content", ["x = " + "[" * 100_000, "a." * 50_000 + "b = 1", "x = " + "{a=" * 20_000])
def test_deeply_nested_configs_are_refused(tmp_path, content):
    (tmp_path / "config.toml").write_text(content)
    with pytest.raises(SharpError):
        RunDirectory(tmp_path).load_config()


# ---- token stores ---------------------------------------------------------------------------------------------------


@often
def test_any_sidecar_gives_a_store_or_a_data_error(tmp_path, request, amount):
    write_store(tmp_path / "x", [np.arange(9) % 3], ("a", "b", "c"))
    sidecar = tmp_path / "x.json"
    good = json.loads(sidecar.read_text())

    @times(request)
    @given(
        st.dictionaries(st.sampled_from([*sorted(good), "extra"]), plain, max_size=3) | plain | st.binary(max_size=60)
    )
    def attempt(changes):
        if isinstance(changes, bytes):
            sidecar.write_bytes(changes)
        else:
            sidecar.write_text(json.dumps({**good, **changes} if isinstance(changes, dict) else changes))
        with contextlib.suppress(SharpError):
            open_store(tmp_path / "x").stream().take(20)

    attempt()


# ---- archives -------------------------------------------------------------------------------------------------------


def archive(**members: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return held.getvalue()


def convert(folder: Path, content: bytes):
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "text8.zip").write_bytes(content)
    found = text8.find(folder / "data")
    return text8.convert(found, folder / "cache" / "text8")


@often
def test_any_archive_is_read_or_refused_and_nothing_leaves_the_cache(tmp_path, request, amount):
    text = b"the quick brown fox " * 40
    good = archive(text8=text)

    @times(request)
    @given(st.data())
    def attempt(data):
        content = bytearray(good)
        for _ in range(data.draw(st.integers(1, 4))):
            where = data.draw(st.integers(0, len(content) - 1))
            content[where] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
        folder = tmp_path / "one"
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(DataError):
            convert(folder, bytes(content[:cut]))
        assert {path.name for path in folder.rglob("*")} <= {"data", "cache", "text8.zip", "text8.tokens", "text8.json"}
        assert [path.name for path in tmp_path.iterdir()] == ["one"]

    attempt()


@pytest.mark.parametrize("name", ["../../text8", "/tmp/text8", "a/../../text8", "text8/../x"])
def test_member_names_lead_nowhere(tmp_path, name):
    with pytest.raises(DataError, match="no member named"):
        convert(tmp_path / "in", archive(**{name: b"escape"}))
    assert not list(tmp_path.rglob("x"))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file, file.open("text8", "w") as member:
        for _ in range(text8.CANONICAL // 10**6 + 1):
            member.write(b" " * 10**6)
    bomb = held.getvalue()
    assert len(bomb) < 200_000
    with pytest.raises(DataError, match="at most 100,000,000 were expected"):
        convert(tmp_path, bomb)


def test_a_bomb_that_lies_about_its_size_gives_no_more_than_it_says(tmp_path):
    content = archive(text8=b" " * 10_000_000)
    size = (10_000_000).to_bytes(4, "little")
    assert content.count(size) == 2
    with pytest.raises(DataError):
        convert(tmp_path, content.replace(size, (100).to_bytes(4, "little")))
    assert not (tmp_path / "cache" / "text8.tokens").exists()
