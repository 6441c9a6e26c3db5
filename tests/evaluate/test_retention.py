import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.evaluate.retention import RetentionMatrix, Segment
from sharpstream.evaluate.transfer import backward_transfer, forgetting, recall_gain


def three_tasks() -> RetentionMatrix:
    """Segments a, b, c learned in order, 10 tokens each, and a held-out one; measured untrained and after each."""
    matrix = RetentionMatrix(
        [Segment("a", 0, 10), Segment("b", 10, 20), Segment("c", 20, 30), Segment("new", None, None)]
    )
    matrix.add(0, [5.0, 5.0, 6.0, 5.0])
    matrix.add(10, [2.0, 4.0, 5.5, 4.0])
    matrix.add(20, [1.5, 2.0, 5.0, 3.5])
    matrix.add(30, [2.5, 1.0, 2.0, 3.0])
    return matrix


def test_backward_transfer_by_hand() -> None:
    # a: 2.0 − 2.5 = −0.5; b: 2.0 − 1.0 = +1.0; c was learned last and has no past.
    assert backward_transfer(three_tasks()) == pytest.approx(0.25)


def test_forgetting_by_hand_is_measured_from_the_best_past_time() -> None:
    # a: min(2.0, 1.5) − 2.5 = −1.0; b: min(4.0, 2.0) − 1.0 = +1.0.
    matrix = three_tasks()
    assert forgetting(matrix) == pytest.approx(0.0)
    matrix.add(40, [3.5, 2.0, 2.5, 3.0])  # a: 1.5 − 3.5; b: 1.0 − 2.0; c: 2.0 − 2.5
    assert forgetting(matrix) == pytest.approx((-2.0 - 1.0 - 0.5) / 3)


def test_recall_gain_by_hand_is_unseen_minus_first_seen() -> None:
    assert recall_gain(three_tasks()) == pytest.approx(3.0 - 2.5)
    assert recall_gain(three_tasks(), row=1) == pytest.approx((4.0 + 5.5 + 4.0) / 3 - 2.0)  # b, c, new unseen at 10


def test_recall_gain_needs_both_sides() -> None:
    with pytest.raises(ConfigError, match="recall gain"):
        recall_gain(three_tasks(), row=0)


def test_difficulty_correction_by_hand() -> None:
    counts = [2.0, 2.0, 4.0, 3.0]
    excess = three_tasks().corrected(counts)
    assert excess.bits[3].tolist() == [0.5, -1.0, -2.0, 0.0]
    assert recall_gain(excess) == pytest.approx(-0.5)  # the held-out text was easy to gain 0.5 on: it is just harder
    assert backward_transfer(excess) == pytest.approx(backward_transfer(three_tasks()))


def test_correction_against_a_whole_matrix_changes_transfer() -> None:
    matrix = three_tasks()
    baseline = np.full(matrix.bits.shape, 1.0)
    baseline[-1] = 0.5  # the count model itself got better everywhere by half a bit
    assert backward_transfer(matrix.corrected(baseline)) == pytest.approx(0.25 - 0.5)
    with pytest.raises(ConfigError, match="shape"):
        matrix.corrected([1.0, 2.0])


def test_unmeasured_cells_are_left_out_of_the_means() -> None:
    matrix = RetentionMatrix([Segment("a", 0, 10), Segment("b", 10, 20)])
    matrix.add(10, [2.0, np.nan])
    matrix.add(20, [3.0, 1.0])
    assert backward_transfer(matrix) == -1.0
    assert forgetting(matrix) == -1.0


@pytest.mark.parametrize(("start", "end"), [(None, 3), (3, None), (5, 5), (-1, 2)])
def test_a_segment_with_an_impossible_span_is_refused(start: int | None, end: int | None) -> None:
    with pytest.raises(ConfigError, match="'x'"):
        Segment("x", start, end)


def test_times_go_forward_and_names_are_distinct() -> None:
    matrix = three_tasks()
    with pytest.raises(ConfigError, match="does not come after"):
        matrix.add(30, [0.0] * 4)
    with pytest.raises(ConfigError, match="distinct"):
        RetentionMatrix([Segment("a", 0, 1), Segment("a", 1, 2)])
