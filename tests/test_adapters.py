"""River and TensorBoard, the real packages: their own checks and their own reader."""

import json

import pytest

from sharpstream.cli import main
from sharpstream.errors import ConfigError

river = pytest.importorskip("river")
pytest.importorskip("sklearn")  # river's checks ask for its data sets


def checks():
    from river.checks import yield_checks

    from sharpstream.river_adapter import NextLabel

    return list(enumerate(yield_checks(NextLabel(memory="256kB"))))


@pytest.mark.parametrize(("number", "check"), checks(), ids=lambda one: getattr(one, "__name__", str(one)))
def test_rivers_own_checks(number, check):
    from sharpstream.river_adapter import NextLabel

    model = NextLabel(memory="256kB")
    if check.__name__ not in model._unit_test_skips():
        check(model.clone())


def test_progressive_evaluation_learns_what_follows_what():
    from river import evaluate, metrics

    from sharpstream.river_adapter import NextLabel

    stream = [({}, "abcab"[i % 5]) for i in range(400)]
    accuracy = evaluate.progressive_val_score(stream, NextLabel(learner="counts"), metrics.Accuracy())
    assert accuracy.get() > 0.9


def test_more_labels_than_there_is_room_for_are_told():
    from sharpstream.river_adapter import NextLabel

    model = NextLabel(learner="counts", classes=2)
    model.learn_one({}, "a")
    model.learn_one({}, "b")
    with pytest.raises(ConfigError, match="'c' is label number 3"):
        model.learn_one({}, "c")


def test_tensorboard_reads_what_the_run_logged(tmp_path, capsys):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    words = "--tokens 4000 --log-every 500 --sharp.width 16 --sharp.sleep.every 1000 --probe-every 2000"
    assert main(["run", str(tmp_path / "run"), *words.split(), "--probe-length", "100"]) == 0
    for _ in range(2):  # the second round replaces the first
        assert main(["tensorboard", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 0
    events = reader.EventAccumulator(str(tmp_path / "out" / "run"))
    events.Reload()
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    wanted = [(row["tokens"], row["bits"]) for row in rows if row["event"] == "interval"]
    found = [(one.step, one.value) for one in events.Scalars("interval/bits")]
    assert found == [(tokens, pytest.approx(bits, rel=1e-6)) for tokens, bits in wanted]
    assert {"sleep/loss of memory 2", "probe/segment 0"} <= set(events.Tags()["scalars"])
    assert main(["tensorboard", str(tmp_path)]) == 2
    assert main(["tensorboard"]) == 2
