"""What the README shows in Python runs as it stands, and every experiment is on its page."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_snippet_runs_as_it_stands():
    (snippet,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)
    names: dict = {}
    exec(compile(snippet, "README.md", "exec"), names)
    assert names["p"].shape == (27,)
    assert names["bits"][-100:].mean() < names["bits"][:100].mean()


def test_every_experiment_is_named():
    from sharpstream.experiments.harness import EXPERIMENTS

    page = (ROOT / "docs" / "reproducing.md").read_text(encoding="utf-8")
    missing = [name for name in EXPERIMENTS if f"`{name}`" not in page]
    assert not missing
