"""Settings: bad values are refused by name, TOML goes round, recipes hold the paper's numbers."""

import inspect
import re
from pathlib import Path

import pytest

from sharpstream import config as config_module
from sharpstream.config import AdamConfig, EpisodicConfig, RunConfig, SharpConfig, SleepConfig, StreamConfig
from sharpstream.config_files import from_dict, load_toml, to_dict, to_toml
from sharpstream.errors import ConfigError
from sharpstream.experiments import recipes
from sharpstream.rundir import config_differences


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SharpConfig(levels=0), r"SharpConfig\.levels = 0: it must be an integer in 1\.\.64"),
        (lambda: SharpConfig(decoder="lstm"), r"decoder = 'lstm': it must be one of 'rnn', 'recall'"),
        (lambda: SharpConfig(tau=float("nan")), r"tau = nan"),
        (lambda: SharpConfig(alpha=0), r"alpha = 0"),
        (lambda: SharpConfig(width=10**9), r"width = 1000000000: it must be an integer in 1\.\.65536"),
        (lambda: SharpConfig(levels=60), r"levels = 60: .*small enough"),
        (lambda: AdamConfig(beta2=1.0), r"beta2 = 1\.0: it must be in \[0, 1\)"),
        (lambda: SleepConfig(trigger="sometimes"), r"trigger = 'sometimes': it must be one of 'every', 'idle'"),
        (lambda: SleepConfig(novelty_ratio=1.0), r"novelty_ratio"),
        (lambda: StreamConfig(start=5, end=5), r"end = 5: it must be an integer > start \(5\)"),
        (lambda: RunConfig(seed=-1), r"seed = -1"),
        (lambda: RunConfig(tokens=True), r"tokens = True"),
    ],
)
def test_a_bad_value_is_refused_with_field_value_and_what_is_allowed(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_every_recipe_goes_through_toml_and_back(name, tmp_path):
    config = recipes.recipe_named(name)
    path = tmp_path / "run.toml"
    path.write_text(to_toml(config))
    assert load_toml(path, RunConfig()) == config
    assert from_dict(RunConfig, to_dict(config)) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("toknes = 5", r"there is no setting 'toknes'"),
        ("[sharp]\nwidht = 5", r"there is no setting 'sharp.widht'"),
        ("tokens = 'many'", r"tokens = 'many': it must be of type int"),
        ("sharp = 3", r"sharp must be a table"),
        ("tokens =", r"is not a TOML file"),
        ("[sharp.sleep]\nevery = 0", r"every = 0"),
        ("[sharp]\ntau = 1" + 400 * "0", r"too large"),
        ("x = " + 2_000 * "[", r"is not a TOML file"),
        ("#" * 70_000, r"larger than any config file"),
    ],
)
def test_a_bad_toml_file_is_refused_with_what_is_wrong(text, message, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_toml(path, RunConfig())


def test_text_in_toml_survives_quotes_and_control_characters(tmp_path):
    path = tmp_path / "run.toml"
    config = RunConfig(stream=StreamConfig(name='a "b"\\c\n\t\x7f é'))
    path.write_text(to_toml(config), encoding="utf-8")
    assert load_toml(path, RunConfig()) == config


def test_variants_change_one_thing():
    base = recipes.text8_small().sharp
    assert to_dict(recipes.no_slow_down(base)) == to_dict(base) | {"gamma": 1.0}
    assert to_dict(recipes.never_sleeps(base)) == to_dict(base) | {"sleep": to_dict(base.sleep) | {"trigger": "never"}}


def test_acceleration_follows_the_window_unless_given():
    assert SharpConfig(window=6).acceleration == 6
    assert SharpConfig(window=6, alpha=2).acceleration == 2


def test_every_number_that_can_be_set_says_what_it_counts():
    home = Path(inspect.getsourcefile(config_module)).parent
    source = "".join((home / name).read_text(encoding="utf-8") for name in ("config.py", "config_learners.py"))
    numbers = re.findall(r"^    (\w+): (?:int|float)[^\n]*\n(    \"\"\")?", source, flags=re.M)
    assert len(numbers) > 40
    assert [name for name, told in numbers if not told] == []


def test_a_config_saved_before_a_setting_was_there_means_what_it_meant_then():
    saved = to_dict(RunConfig(learner="episodic"))
    assert saved["episodic"].pop("mean_every") > 0
    before = from_dict(RunConfig, saved).episodic
    assert (before.residual, before.mean_every) == (True, 0), "a run of the last version goes on as it was"
    assert saved["episodic"].pop("residual") is True
    before = from_dict(RunConfig, saved).episodic
    assert (before.residual, before.mean_every) == (False, 0), "and one of the version before that"
    assert from_dict(RunConfig, {"episodic": {"memory": "1GB"}}).episodic.residual, "a person's file has the default"
    saved["episodic"] |= {"residual": True, "mean_every": 5}
    assert from_dict(RunConfig, saved).episodic.mean_every == 5


def test_a_run_of_another_learner_goes_on_whatever_the_episodic_learner_has_for_a_default():
    before, now = (RunConfig(learner="sharp", episodic=EpisodicConfig(residual=on)) for on in (False, True))
    assert config_differences(now, before) == []
    assert config_differences(now.replace(seed=3), before) == ["seed: 0 → 3"]
    assert config_differences(now.replace(learner="episodic"), before.replace(learner="episodic")) == [
        "episodic.residual: False → True"
    ]
