"""A count model's state: it round-trips, it is as small as what was seen, and a hostile one is refused."""

from collections.abc import Callable

import numpy as np
import pytest

from sharpstream.config import CountsConfig
from sharpstream.errors import RunError
from sharpstream.learners.contract import State
from sharpstream.learners.counts import Counts

CONFIG = CountsConfig(order=3, table_bits=7)  # crowded: contexts have left, cells have died
TOKENS = np.random.default_rng(0).integers(0, 6, 3000) ** 2 % 6


def trained(config: CountsConfig = CONFIG) -> Counts:
    learner = Counts(config, 6)
    learner.learn(TOKENS[:2000])
    return learner


@pytest.mark.parametrize("config", [CONFIG, CountsConfig(order=0), CountsConfig(order=-1), CountsConfig(order=8)])
def test_resumes_bit_for_bit(config: CountsConfig) -> None:
    learner, resumed = trained(config), Counts(config, 6)
    resumed.load_state_dict(learner.state_dict())
    np.testing.assert_array_equal(resumed.predict(), learner.predict())
    np.testing.assert_array_equal(resumed.learn(TOKENS[2000:]), learner.learn(TOKENS[2000:]))
    for name, array in learner.state_dict().items():
        np.testing.assert_array_equal(resumed.state_dict()[name], array, err_msg=name)


def test_state_is_a_copy() -> None:
    learner = trained()
    state = learner.state_dict()
    before = {name: array.copy() for name, array in state.items()}
    learner.learn(TOKENS[2000:])
    for name in state:
        np.testing.assert_array_equal(state[name], before[name], err_msg=name)


def test_state_is_as_small_as_what_was_seen() -> None:
    learner = Counts(CountsConfig(order=3), 6)  # tables of 128 MB
    learner.learn(TOKENS[:50])
    assert sum(array.nbytes for array in learner.state_dict().values()) < 20_000


def spoil(name: str, change: Callable[[np.ndarray], object]) -> Callable[[State], None]:
    def apply(state: State) -> None:
        changed = change(state[name])
        if changed is not None:
            state[name] = np.asarray(changed)

    apply.__name__ = name
    return apply


def put(index: object, value: int | float) -> Callable[[np.ndarray], None]:
    def change(array: np.ndarray) -> None:
        array[index] = value

    return change


HOSTILE = {
    "missing array": lambda state: state.pop("cells"),
    "unknown array": lambda state: state.update(more=np.zeros(1)),
    "another order": spoil("order", lambda a: a + 1),
    "another table size": spoil("table_bits", lambda a: a + 1),
    "wrong kind": spoil("cells", lambda a: a.astype(np.int64)),
    "wrong shape": spoil("contexts", lambda a: a[:, :7].copy()),
    "fewer rows than places": spoil("cells", lambda a: a[:-1].copy()),
    "place outside the table": spoil("cells.place", put(-1, 2**7)),
    "negative place": spoil("contexts.place", put(0, -1)),
    "place twice": spoil("cells.place", lambda a: np.concatenate([a[:1], a[:-1]])),
    "the empty context's place": spoil("contexts.place", put(-1, 2**6)),
    "owner outside the table": spoil("cells", put((slice(None), 1), 2**31)),
    "owner is the empty context": spoil("cells", put((slice(None), 1), 2**6)),
    "symbol outside the vocabulary": spoil("cells", put((slice(None), 2), 6)),
    "cell in the wrong bucket": spoil("cells.place", lambda a: (a + 4)[a + 4 < 2**7].copy()),
    "count changed": spoil("cells", lambda a: a + np.array([0, 0, 0, 1], dtype=np.uint32)),
    "total changed": spoil("contexts", put((0, 3), 2**31)),
    "types changed": spoil("contexts", put((0, 4), 77)),
    "stamp never given": spoil("counters", put(2, 0)),
    "history outside the vocabulary": spoil("history", put(0, 6)),
    "negative history": spoil("history", put(0, -1)),
    "history too long": spoil("counters", put(1, 4)),
    "negative counter": spoil("counters", put(0, -1)),
    "discount of 0": spoil("discounts", put((0, 0), 0.0)),
    "discount beyond its count": spoil("discounts", put((1, 1), 2.5)),
    "discount not a number": spoil("discounts", put((1, 1), np.nan)),
    "negative slope": spoil("slopes", put((0, 0), -1.0)),
    "infinite slope": spoil("slopes", put((0, 0), np.inf)),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_state_is_refused_and_changes_nothing(attack: str) -> None:
    learner = trained()
    state = learner.state_dict()
    HOSTILE[attack](state)
    before = learner.predict()
    with pytest.raises(RunError):
        learner.load_state_dict(state)
    np.testing.assert_array_equal(learner.predict(), before)
    assert np.isfinite(learner.learn(TOKENS[2000:])).all()
