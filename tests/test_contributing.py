"""The snippets of CONTRIBUTING.md run as they stand, and the files it sends people to are there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"^## ([^\n]+)\n.*?```python\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("what", SNIPPETS)
def test_a_snippet_runs(what, tmp_path):
    (tmp_path / "snippet.py").write_text(SNIPPETS[what])
    done = subprocess.run([sys.executable, "snippet.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def test_there_is_one_for_each_thing_people_add():
    own = "A block of your own, in the reference"
    assert list(SNIPPETS) == ["A learner", "A memory", own, "An experiment", "A stream"]


def test_the_files_it_names_are_there():
    named = {name for name in re.findall(r"`((?:src|tests|examples)/[\w/.]+\.py)`", PAGE) if "mine" not in name}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
