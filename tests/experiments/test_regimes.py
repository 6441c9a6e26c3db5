"""A protocol becomes settings, a number becomes a row with its regime, and unlike rows do not share a table unsaid."""

import pytest

from sharpstream.config import RunConfig
from sharpstream.errors import ConfigError
from sharpstream.evaluate.protocols import FAIR, PAPER
from sharpstream.evaluate.rows import Table
from sharpstream.experiments.regimes import result_rows, under
from sharpstream.factory import make_learner


def rows_of(name, protocol):
    config = under(protocol, RunConfig(learner=name, tokens=500, seed=4))
    learner = make_learner(config, 7)
    return result_rows("text8", learner, config, protocol, {"bits": 2.5, "bits_clipped": 2.4})


def test_a_row_says_how_its_number_came_about():
    true, clipped = rows_of("gru", FAIR)
    assert (true.regime.protocol, true.regime.carry, true.regime.seed, true.regime.token_budget) == (
        "fair",
        "aligned",
        4,
        500,
    )
    assert true.regime.clip is None
    assert clipped.regime.clip is None  # fair caps nothing
    assert rows_of("sharp", PAPER)[1].regime.clip == 4.755
    assert rows_of("gru", PAPER)[0].regime.carry == "overlap"


def test_rows_of_two_protocols_are_refused_in_one_table_unless_it_is_said():
    rows = [rows_of("gru", FAIR)[0], rows_of("gru", PAPER)[0]]
    with pytest.raises(ConfigError, match="carry"):
        Table(rows)
    assert Table(rows, mixed=True)
