"""The study of memories: every question gives rows, arms differ in the memory alone, verdicts come from pairs."""

import pytest

from sharpstream.experiments import memory_kinds_figures, memory_kinds_page
from sharpstream.experiments.harness import Job
from sharpstream.experiments.memory_kinds import config_of, jobs, with_memory, work
from sharpstream.experiments.memory_kinds_answer import answer
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
    named = ("training", "sleep", "text", "read-out", "geometry", "drift")
    assert set(memory_kinds_figures.figures(rows)) == {f"memory-kinds-{name}" for name in named}
    assert memory_kinds_figures.figure(rows).axes
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


def test_the_first_words_answer_each_question_by_its_verdict():
    arms = {"rnn": (0.25, 0.0), "rnn no sleep": (0.3, 0.0), "gru": (0.25, 0.001), "gru no sleep": (0.25, 0.03)}
    arms |= {"orthogonal": (0.3, 0.001), "delay": (0.33, 0.0)}
    rows = [row(arm, seed, value + step * seed) for arm, (value, step) in arms.items() for seed in range(3)]
    words = answer(rows)
    assert "- nonlinear(6): **no difference** (-0.001 ± 0.002)." in words, "training"
    assert "**yes** for rnn -0.050 ± 0.000; **not decided** for gru -0.029" in words, "sleep"
    assert "**rnn** has the least (0.250), better than orthogonal, delay; not shown to be better than gru" in words
    assert "read-out finds in it of the last tokens, random stream: not run yet" in words


def test_one_seed_chooses_no_memory():
    words = answer([row("rnn", 0, 0.2), row("gru", 0, 0.3), row("rnn no sleep", 0, 0.3)])
    assert "- nonlinear(6): **not decided**, one seed (least: rnn, 0.200)." in words
    assert "**not decided** for rnn -0.100, one seed" in words
