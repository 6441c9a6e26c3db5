"""One nursery for all tests of this directory, and the hashes of runs that nothing disturbed."""

import pytest
from nursery import Nursery
from small_runs import hashes, small

from sharpstream.loop import run


@pytest.fixture(scope="session")
def nursery():
    with Nursery() as opened:
        yield opened


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """The hashes of a learner's run that nothing disturbed; made once each."""
    known: dict[str, dict[str, str]] = {}

    def of(learner: str) -> dict[str, str]:
        if learner not in known:
            path = tmp_path_factory.mktemp(learner) / "whole"
            run(path, small(learner))
            known[learner] = hashes(path)
        return known[learner]

    return of
