"""A protocol becomes settings, a learner says its regime, and unlike rows do not share a table unsaid."""

import pytest

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import FAIR, PAPER
from sharpstream.evaluate.rows import Row, Table
from sharpstream.experiments.regimes import regime_of, under
from sharpstream.factory import make_learner


def row_of(name, protocol, clip=None):
    config = under(protocol, RunConfig(learner=name, tokens=500, seed=4))
    made = {"experiment": "text8", "scale": "quick", "protocol": protocol.name, "command": "sharp reproduce text8"}
    regime = regime_of(make_learner(config, 7), clip=clip, tokens=config.tokens)
    return Row({**made, "hardware": "a", "software": "b", "arm": name, "bits": 2.5, **regime.cells()})


def test_a_row_says_how_its_number_came_about():
    row = row_of("gru", FAIR)
    assert (row["protocol"], row["carry"], row["token_budget"]) == ("fair", "aligned", 500)
    assert (row["train_context"], row["score_context"], row["clip"]) == (4, "carried", None)
    assert row_of("gru", PAPER)["carry"] == "overlap"
    assert row_of("counts", FAIR)["train_context"] == "-"


def test_rows_of_two_protocols_are_refused_in_one_table_unless_it_is_said():
    rows = [row_of("gru", FAIR), row_of("gru", PAPER)]
    with pytest.raises(ConfigError, match="carry"):
        Table(rows)
    assert Table(rows, mixed=True)
