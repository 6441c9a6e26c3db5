import dataclasses
import math
import multiprocessing
from pathlib import Path

import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.machine import describe
from sharpstream.evaluate.protocols import FAIR, PAPER, EvaluationProtocol, protocol_named
from sharpstream.evaluate.rows import Regime, ResultRow, Table
from sharpstream.evaluate.rows_csv import HEADER, append_rows, read_rows, write_rows

REGIME = Regime(
    protocol="fair",
    clip=None,
    train_context=4,
    score_context="carried",
    carry="aligned",
    update_interval=1,
    token_budget=1_000_000,
    seed=0,
    hardware="a processor, 2 cores",
    software="Python 3.11",
    command='sharp reproduce text8 --scale quick --set "a, b"',
)
ROW = ResultRow(experiment="text8", arm="sharp", stream="text8", metric="bits", value=0.1 + 0.2, regime=REGIME)


def with_regime(**changes: object) -> ResultRow:
    return dataclasses.replace(ROW, regime=dataclasses.replace(REGIME, **changes))


def test_a_row_cannot_be_built_without_its_regime() -> None:
    with pytest.raises(TypeError, match="regime"):
        ResultRow(experiment="e", arm="a", stream="s", metric="bits", value=1.0)
    with pytest.raises(ConfigError, match="regime"):
        ResultRow(experiment="e", arm="a", stream="s", metric="bits", value=1.0, regime=None)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Regime)])
def test_every_part_of_the_regime_must_be_given(name: str) -> None:
    values = {field.name: getattr(REGIME, field.name) for field in dataclasses.fields(Regime) if field.name != name}
    with pytest.raises(TypeError, match=name):
        Regime(**values)


@pytest.mark.parametrize(
    "changes", [{"command": ""}, {"command": "a\nb"}, {"update_interval": 0}, {"token_budget": -1}, {"clip": 0.0}]
)
def test_impossible_regimes_are_refused_by_field(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        dataclasses.replace(REGIME, **changes)


@pytest.mark.parametrize(
    ("name", "other"),
    [("protocol", "paper"), ("clip", 4.755), ("carry", "overlap"), ("token_budget", 5), ("hardware", "another")],
)
def test_a_table_refuses_to_mix_regimes_and_names_what_differs(name: str, other: object) -> None:
    with pytest.raises(ConfigError, match=f"{name}: .*{other}"):
        Table([ROW, with_regime(**{name: other})])


def test_a_mixed_table_shows_the_regime_as_a_column() -> None:
    table = Table([ROW, with_regime(clip=4.755, train_context=1024)], mixed=True)
    assert table.columns[-1] == "regime"
    assert [record["regime"] for record in table.records()] == [
        "clip none, train context 4",
        "clip 4.755, train context 1,024",
    ]
    assert "regime" not in Table([ROW]).records()[0]


def test_seeds_and_commands_do_not_make_a_regime() -> None:
    table = Table([ROW, with_regime(seed=1, command="sharp run out", software="Python 3.12")])
    assert [record["seed"] for record in table.records()] == [0, 1]


def test_a_field_that_does_not_apply_agrees_with_any() -> None:
    assert len(Table([ROW, with_regime(carry="-")]).rows) == 2


def test_select_keeps_what_was_asked_and_refuses_other_names() -> None:
    table = Table([ROW, dataclasses.replace(ROW, arm="rnn")])
    assert [row.arm for row in table.select(arm="rnn").rows] == ["rnn"]
    with pytest.raises(ConfigError, match="colour"):
        table.select(colour="red")


def test_rows_survive_the_disk_exactly(tmp_path: Path) -> None:
    rows = [ROW, with_regime(clip=4.755, score_context=4), dataclasses.replace(ROW, value=math.inf)]
    write_rows(tmp_path / "deep" / "rows.csv", rows)
    assert read_rows(tmp_path / "deep" / "rows.csv") == rows
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["rows.csv"]


def test_append_makes_the_file_and_then_adds(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    append_rows(path, [ROW])
    append_rows(path, [with_regime(seed=1)])
    assert [row.regime.seed for row in read_rows(path)] == [0, 1]


def test_a_line_torn_by_a_crash_is_passed_over_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_rows(path, [ROW])
    with open(path, "a", encoding="utf-8") as file:
        file.write("text8,sharp,te")
    assert read_rows(path) == [ROW]
    append_rows(path, [with_regime(seed=2)])
    assert [row.regime.seed for row in read_rows(path)] == [0, 2]


def append_some(path: Path, seed: int) -> None:
    for _ in range(20):
        append_rows(path, [with_regime(seed=seed)])


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=append_some, args=(path, seed)) for seed in (1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(row.regime.seed for row in read_rows(path)) == [1] * 20 + [2] * 20


def test_a_file_with_other_columns_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ConfigError, match="other columns"):
        append_rows(path, [ROW])
    assert path.read_text() == "a,b\n1,2\n"


def test_a_bad_cell_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_rows(path, [ROW])
    path.write_text(path.read_text().replace("1000000", "many"))
    with pytest.raises(ConfigError, match="line 2"):
        read_rows(path)
    assert len(HEADER) == 16


def test_protocols_say_what_the_design_says() -> None:
    assert (FAIR.clip, FAIR.carry, FAIR.transformer_context) == (None, "aligned", "full")
    assert (PAPER.clip, PAPER.carry, PAPER.transformer_context) == (4.755, "overlap", "window4")
    assert PAPER.clip_for("lstm", "text8") == 4.75
    assert PAPER.clip_for("lstm", "pg19") == 4.755
    assert PAPER.clip_for("clockwork", "pg19") is None
    assert protocol_named("fair") is FAIR
    with pytest.raises(ConfigError, match="fair, paper"):
        protocol_named("best")
    with pytest.raises(dataclasses.FrozenInstanceError):
        FAIR.clip = 1.0


def test_a_protocol_refuses_an_unknown_choice() -> None:
    with pytest.raises(ConfigError, match="carry"):
        EvaluationProtocol(
            name="x", description="x", clip=None, carry="sideways", transformer_context="full", scoring="token"
        )


def test_the_machine_describes_itself_on_one_line() -> None:
    machine = describe()
    assert machine.cores >= 1
    assert "cores" in machine.hardware
    assert "numba" in machine.software
    assert dataclasses.replace(REGIME, hardware=machine.hardware, software=machine.software)
