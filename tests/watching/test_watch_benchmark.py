"""The measures and the reading of `benchmarks/logs.py`, on cases that can be counted by hand."""

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import log_scores


def test_auroc_and_average_precision_of_cases_counted_by_hand() -> None:
    wanted = np.array([True, False, True, False])
    assert log_scores.auroc(np.array([4.0, 3.0, 2.0, 1.0]), wanted) == 0.75
    assert log_scores.average_precision(np.array([4.0, 3.0, 2.0, 1.0]), wanted) == pytest.approx((1 + 2 / 3) / 2)
    assert log_scores.auroc(np.zeros(4), wanted) == 0.5
    assert log_scores.average_precision(np.zeros(4), wanted) == 0.5


def test_the_other_logs_choose_for_the_one_left_out() -> None:
    ap = {"a": [1.0, 0.2, 0.2], "b": [0.0, 0.5, 0.5], log_scores.BASELINES[0]: [1.0, 1.0, 1.0]}
    assert log_scores.chosen_without(ap, 0) == "b"
    assert log_scores.chosen_without(ap, 1) == "a"


def test_rare_and_labelled_lines_are_read_and_a_label_is_not_shown(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr("X_2k.log", "- all well\r\n" * 4 + "FAIL disk gone\n")
        rows = "".join("-,E1\n" for _ in range(4)) + "FAIL,E2\n"
        archive.writestr("X_2k.log_structured.csv", "Label,EventId\n" + rows)
    rare, labelled = log_scores.logs(tmp_path / "logs.zip")
    assert rare.rare.tolist() == labelled.rare.tolist() == [False] * 4 + [True]
    assert rare.lines[0] == "- all well"
    assert labelled.lines == ["all well"] * 4 + ["disk gone"]


def test_a_tail_is_taken_among_lines_of_its_kind_that_came_before() -> None:
    tails = log_scores.tail_among(np.array([1.0, 2.0, 9.0, 3.0]), ["x", "x", "y", "x"])
    assert tails.tolist() == pytest.approx([np.log(2), np.log(3), np.log(2), np.log(4)])
