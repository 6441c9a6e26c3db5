"""Experiments without their workers."""

import pytest

from sharpstream.experiments import harness


def here(experiment, wanted, missing, out, workers, work=None):
    """What `harness._run` does, one job after the other in this process."""
    for job in missing:
        harness.do_job(experiment.name, job, out)
    return {}


@pytest.fixture
def without_workers(monkeypatch):
    """`reproduce` does its jobs in this process: quick, and a test can look inside. Gives what does them."""
    monkeypatch.setattr(harness, "_run", here)
    return here
