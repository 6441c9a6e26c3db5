"""The study of memories: every question gives rows, arms differ in the memory alone, verdicts come from pairs."""

import pytest

from sharpstream.experiments import memory_kinds, memory_kinds_page
from sharpstream.experiments.harness import Job
from sharpstream.experiments.memory_kinds import config_of, jobs, with_memory, work
from sharpstream.experiments.memory_kinds_page import ARMS, KINDS, MIXED, findings
from sharpstream.experiments.recipes import acceleration

SMALL = {"block": {"tokens": 400, "probe": 400}, "drift": {"tokens": 4_000}, "rule": {"tokens": 2_000}}
SMALL |= {"text": {"tokens": 500}, "speed": {"rounds": 1, "kinds": ["rnn", "delay"]}}


def rows_of(prefixes: tuple[str, ...], directory) -> list[dict]:
    rows = []
    for job in jobs("quick", "fair"):
        if job.key.startswith(prefixes):
            rows += work(Job(job.key, {**job.settings, **SMALL[job.settings["part"]]}), directory / job.key)
    return rows


def test_every_question_gives_rows_pictures_a_table_and_verdicts(tmp_path):
    wanted = ("speed", "block-random", "drift-rnn", "drift-delay", "rule-K2-rnn", "rule-K2-orthogonal", "text-rnn")
    rows = rows_of(wanted, tmp_path)
    assert {row["part"] for row in rows} == {"speed", "read-out", "geometry", "drift", "rule", "text"}
    assert not list(tmp_path.iterdir()), "runs are let go when their rows are kept"
    assert len(memory_kinds.figures(rows)) == 4
    assert memory_kinds_page.figure(rows).axes
    page = memory_kinds_page.page(rows)
    assert all(f"| {arm} |" in page for arm in ("rnn", "orthogonal", "delay", "rnn no sleep", MIXED))
    claims = {finding.claim for finding in findings(rows)}
    assert {"training memory 1 pays on nonlinear(2)", "sleep pays for rnn on nonlinear(2)"} <= claims


def test_a_memory_that_never_learns_does_not_drift(tmp_path):
    drift = rows_of(("drift-",), tmp_path)
    assert {row["arm"] for row in drift if row["value"] == 0.0} == {"orthogonal", "delay"}
    assert all(row["value"] > 0.0 for row in drift if row["arm"] == "rnn")


@pytest.mark.parametrize("arm", ARMS)
def test_arms_share_width_stream_and_everything_but_the_memory(arm):
    settings = {"part": "rule", "k": 4, "arm": "rnn", "seed": 2, "tokens": 1_000}
    paper, other = config_of(settings), config_of({**settings, "arm": arm})
    assert (paper.stream, paper.seed, paper.tokens) == (other.stream, other.seed, other.tokens)
    changed = {name for name, value in vars(other.sharp).items() if value != getattr(paper.sharp, name)}
    assert changed <= {"memory", "upper_memory", "embedding", "sleep"}


def test_every_kind_is_asked_at_the_larger_scales():
    for scale in ("laptop", "paper"):
        keys = {job.key for job in jobs(scale, "fair")}
        assert {f"block-linear-{kind}-2" for kind in KINDS} <= keys
        assert {f"text-{kind}-0" for kind in KINDS} <= keys
    assert with_memory(acceleration().sharp, "delay").embedding == 5


def row(arm: str, seed: int, value: float) -> dict:
    return {"part": "rule", "where": "nonlinear(6)", "arm": arm, "seed": seed, "at": 1, "value": value}


def test_verdicts_compare_seed_by_seed():
    """Sleep helps by as much in every seed, though the seeds lie further apart than that."""
    rows = [row("rnn", seed, 0.2 + 0.1 * seed) for seed in range(3)]
    rows += [row("rnn no sleep", seed, 0.25 + 0.1 * seed) for seed in range(3)]
    verdicts = {finding.claim: finding.verdict for finding in findings(rows)}
    assert verdicts["sleep pays for rnn on nonlinear(6)"] == "holds"
    assert verdicts["training memory 1 pays on nonlinear(6)"] == "not run"
