import dataclasses

import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.machine import describe
from sharpstream.evaluate.protocols import FAIR, PAPER, EvaluationProtocol, protocol_named
from sharpstream.evaluate.rows import MADE_BY, Regime, Row, Table

REGIME = Regime(
    clip=None, train_context=4, score_context="carried", carry="aligned", update_interval=1, token_budget=1_000_000
)
MADE = {
    "experiment": "text8",
    "scale": "quick",
    "protocol": "fair",
    "command": 'sharp reproduce text8 --scale quick --set "a, b"',
    "hardware": "a processor, 2 cores",
    "software": "Python 3.11, sharpstream 0.2.0 at 1234567",
}
ROW = Row({**MADE, "arm": "sharp", "metric": "bits", "value": 0.1 + 0.2, "seed": 0, **REGIME.cells()})


def with_regime(**changes: object) -> Row:
    return Row({**ROW, **changes})


@pytest.mark.parametrize("name", MADE_BY)
@pytest.mark.parametrize("bad", [None, "", "a\nb"])
def test_a_row_cannot_be_built_without_what_made_it(name: str, bad: str | None) -> None:
    with pytest.raises(ConfigError, match=f"without {name}:"):
        Row({**ROW, name: bad})


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Regime)])
def test_every_part_of_the_regime_must_be_given(name: str) -> None:
    values = {field.name: getattr(REGIME, field.name) for field in dataclasses.fields(Regime) if field.name != name}
    with pytest.raises(TypeError, match=name):
        Regime(**values)


@pytest.mark.parametrize("changes", [{"carry": ""}, {"update_interval": 0}, {"token_budget": -1}, {"clip": 0.0}])
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
    assert [table.regime_label(row) for row in table.rows] == [
        "clip none, train context 4",
        "clip 4.755, train context 1,024",
    ]


def test_seeds_and_commands_do_not_make_a_regime() -> None:
    table = Table([ROW, with_regime(seed=1, command="sharp run out", software="Python 3.12")])
    assert [row["seed"] for row in table.rows] == [0, 1]


def test_a_field_that_does_not_apply_agrees_with_any() -> None:
    assert len(Table([ROW, with_regime(carry="-")]).rows) == 2


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
        EvaluationProtocol(name="x", description="x", clip=None, carry="sideways", transformer_context="full")


def test_the_machine_describes_itself_on_one_line() -> None:
    machine = describe()
    assert machine.cores >= 1
    assert "cores" in machine.hardware
    assert "numba" in machine.software
    assert Row({**ROW, "hardware": machine.hardware, "software": machine.software})
