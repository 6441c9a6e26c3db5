"""`import sharpstream` is the public surface: quick, typed, documented, and all of it there."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sharpstream

SHOWN = [name for name in sharpstream.__all__ if not name.endswith("Config") and name != "__version__"]


def test_importing_costs_nothing_heavy():
    program = "import sharpstream, sys; print({'torch', 'numba', 'numpy', 'matplotlib', 'tyro'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there_and_says_what_it_is():
    if "TransformerLearner" in sharpstream.__all__:
        pytest.importorskip("torch")
    for name in sharpstream.__all__:
        assert getattr(sharpstream, name) is not None
        assert name == "__version__" or getattr(sharpstream, name).__doc__, f"{name} has no docstring"
    assert set(sharpstream._HOME_OF) == set(sharpstream.__all__) - {"__version__"}
    assert set(sharpstream.__all__) <= set(dir(sharpstream))


@pytest.mark.parametrize("name", sorted(set(SHOWN) - {"Learner", "LearnerBase", "SharpError"}))
def test_what_can_be_called_has_a_runnable_example(name):
    pytest.importorskip("torch")
    assert ">>> " in getattr(sharpstream, name).__doc__, f"{name} has no example"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Shrap'"):
        sharpstream.Shrap  # noqa: B018


def test_the_version_is_declared_once():
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["version"]
    assert declared == sharpstream.__version__
    assert f"## {declared}" in (Path(__file__).parents[1] / "CHANGELOG.md").read_text()
