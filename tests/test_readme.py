"""What the README shows runs as it stands, and what it links to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_snippet_runs_as_it_stands():
    (snippet,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)
    names: dict = {}
    exec(compile(snippet, "README.md", "exec"), names)
    assert names["p"].shape == (27,)
    assert names["bits"][-100:].mean() < names["bits"][:100].mean()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", TEXT))))
def test_what_is_linked_is_there(target):
    assert (ROOT / target).exists()


def test_every_experiment_is_named():
    from sharpstream.experiments.harness import EXPERIMENTS

    missing = [name for name in EXPERIMENTS if f"`{name}`" not in TEXT]
    assert not missing
