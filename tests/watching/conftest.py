"""Shared by the tests of `sharp watch`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from watch_child import Child, Start


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts children in directories of the test's own, and leaves none behind."""
    children: list[Child] = []

    def begin(name: str, *flags: str, tiny: bool = True) -> Child:
        children.append(Child(tmp_path / name, *flags, tiny=tiny))
        return children[-1]

    yield begin
    for child in children:
        child.process.kill()
        child.process.communicate()
