"""A protocol becomes settings, a learner says its regime, and unlike rows do not share a table unsaid."""

import pytest

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import FAIR, PAPER
from sharpstream.evaluate.rows import ResultRow, Table
from sharpstream.experiments.regimes import regime_of, under
from sharpstream.factory import make_learner


def row_of(name, protocol, clip=None):
    config = under(protocol, RunConfig(learner=name, tokens=500, seed=4))
    regime = regime_of(make_learner(config, 7), config, protocol, clip=clip, command="sharp reproduce text8")
    return ResultRow(experiment="text8", arm=name, stream="text8", metric="bits", value=2.5, regime=regime)


def test_a_row_says_how_its_number_came_about():
    regime = row_of("gru", FAIR).regime
    assert (regime.protocol, regime.carry, regime.seed, regime.token_budget) == ("fair", "aligned", 4, 500)
    assert (regime.train_context, regime.score_context, regime.clip) == (4, "carried", None)
    assert row_of("gru", PAPER).regime.carry == "overlap"
    assert row_of("counts", FAIR).regime.train_context == "-"


def test_rows_of_two_protocols_are_refused_in_one_table_unless_it_is_said():
    rows = [row_of("gru", FAIR), row_of("gru", PAPER)]
    with pytest.raises(ConfigError, match="carry"):
        Table(rows)
    assert Table(rows, mixed=True)
