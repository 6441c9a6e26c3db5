import math

import numpy as np
import pytest

from sharpstream.errors import ConfigError, StreamError
from sharpstream.evaluate.context import RESET_LENGTHS, ContextPoint, effective_context, used_context


def test_lengths_run_from_4_to_4096() -> None:
    assert RESET_LENGTHS[0] == 4
    assert RESET_LENGTHS[-1] == 4096


def test_bits_by_hand_when_memory_is_wiped(counter) -> None:
    tokens = np.zeros(4, dtype=np.int32)
    points = effective_context(counter(2), tokens, lengths=[4, 1, 2])
    second = math.log2(3 / 2)  # p(0) after one 0 is 2/3; then 3/4, 4/5
    assert [point.every for point in points] == [1, 2, 4]
    assert [point.bits for point in points] == pytest.approx(
        [1.0, second, (math.log2(4 / 3) + math.log2(5 / 4)) / 2]  # of each stretch the second half
    )


def test_used_context_stops_at_the_first_length_that_loses() -> None:
    points = [ContextPoint(4, 2.0), ContextPoint(8, 2.5), ContextPoint(16, 2.005), ContextPoint(32, 2.0)]
    assert used_context(points) == 16  # 4 is as good by accident, but 8 is not


def test_a_learner_without_resets_is_refused_by_name() -> None:
    class Stubborn:
        pass

    with pytest.raises(ConfigError, match="Stubborn"):
        effective_context(Stubborn(), np.zeros(8, dtype=np.int32))


def test_too_few_tokens_for_the_longest_memory(counter) -> None:
    with pytest.raises(StreamError, match="context of 8"):
        effective_context(counter(2), np.zeros(7, dtype=np.int32), lengths=[4, 8])
