"""Non-stationarity runs with no corpus, and its verdicts follow from the rows alone."""

import numpy as np
import pytest

from sharpstream.experiments.harness import reproduce
from sharpstream.experiments.language import nonstationarity


def curve(text, kind, distance, *, shuffled=0.082, words=0.079, longest=100):
    return [
        {
            "text": text,
            "kind": kind,
            "lag": lag,
            "distance": distance(lag),
            "shuffled": shuffled,
            "words_shuffled": words,
        }
        for lag in nonstationarity.kept_lags(longest)
    ]


def verdicts(experiment, rows):
    return {finding.claim: finding.verdict for finding in experiment.findings(rows)}


# ---- nonstationarity -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["fair", "paper"])
def test_nonstationarity_runs_from_a_command_without_any_corpus(protocol, tmp_path, monkeypatch):
    monkeypatch.delenv("SHARP_DATA", raising=False)
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    rows = reproduce("nonstationarity", "quick", protocol, out, workers=1, command="sharp reproduce nonstationarity")
    assert (min(row["lag"] for row in rows) == 0) == (protocol == "paper")
    assert {path.name for path in out.iterdir()} >= {"rows.csv", "nonstationarity.png", "nonstationarity.pdf"}
    assert "python-docs: then it is flat" in (out / "RESULTS.md").read_text()
    levels = [row["shuffled"] for row in rows if row["lag"] > 0]
    assert np.mean(levels) == pytest.approx(0.083, abs=0.003)
    assert not (tmp_path / "cache").exists()


def test_a_curve_that_saturates_agrees_and_one_that_keeps_rising_does_not():
    study = nonstationarity.EXPERIMENT
    saturating = curve("a", "text8", lambda lag: 0.12 - 0.025 * np.exp(-(lag - 1) / 5))
    rising = curve("b", "book", lambda lag: 0.09 + 0.0003 * lag)
    found = verdicts(study, saturating + rising)
    assert found["text8: it rises at small lags"] == found["text8: then it is flat"] == "agrees"
    assert found["book: it rises at small lags"] == found["book: then it is flat"] == "differs"
    assert found["book: the distance rises with the lag"] == "agrees"
    assert not any(claim.startswith("pg19") for claim in found)


def test_a_text_in_which_nothing_changes_is_not_called_changing():
    flat = curve("a", "book", lambda lag: 0.079 - 1e-5 / lag)
    found = verdicts(nonstationarity.EXPERIMENT, flat)
    assert found["book: windows differ more than where nothing changes"] == "differs"
    assert found["book: drawn from lag 0, most of the increase is change in the text"] == "differs"


def test_the_shape_of_a_straight_curve_by_hand():
    (shape,) = nonstationarity.shapes(curve("a", "book", lambda lag: 0.1 + 0.001 * lag, longest=20), "book")
    assert shape.first == pytest.approx(0.101)
    assert shape.few == pytest.approx(0.110)
    assert shape.change == pytest.approx(0.010)  # lags 10 to 20
    late = np.mean([0.1 + 0.001 * lag for lag in (10, 11, 13, 14, 16, 18, 20)])
    assert shape.late == pytest.approx(late)
    assert shape.early_share == pytest.approx(0.009 / (late - 0.101))


def test_shuffled_words_keep_every_word_whole():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 5, 400)
    mixed = nonstationarity.words_shuffled(np.append(tokens, 0), seed=3)

    def words(text):
        return sorted("".join(map(str, text)).split("0"))

    assert not np.array_equal(mixed[:-1], tokens)
    assert words(mixed) == words(np.append(tokens, 0))


def test_the_larger_scales_ask_for_whole_long_books_and_disjoint_segments():
    jobs = [job.settings for job in nonstationarity.jobs("laptop", "fair")]
    books = [s["book"] for s in jobs if s["kind"] == "book"]
    assert len(books) >= 10
    assert books == sorted(set(books))
    segments = [(s["start"], s["end"]) for s in jobs if s["kind"] == "text8"]
    assert segments == [(n * 10_000_000, (n + 1) * 10_000_000) for n in range(5)]
    assert [s["kind"] for s in (job.settings for job in nonstationarity.jobs("paper", "paper"))] == ["text8", "pg19"]
