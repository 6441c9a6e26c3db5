"""What the learner contract promises, as checks that run on any learner: ours in the tests, yours by `check_learner`.

Each check makes fresh learners from a function of a seed and raises AssertionError with a sentence when a promise is
broken. They need a stream of some hundred tokens and no files.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sharpstream.errors import RunError, StreamError
from sharpstream.learners.contract import Array, Learner, Resettable

Make = Callable[[int], Learner]  # a fresh learner from a seed
Bits = npt.NDArray[np.float64]


def sample(vocabulary: int, count: int = 900) -> npt.NDArray[np.int64]:
    """A noisy cycle through the vocabulary: something to learn, and something that cannot be."""
    rng = np.random.default_rng(0)
    cycle = np.arange(count) % vocabulary
    return np.where(rng.random(count) < 0.2, rng.integers(0, vocabulary, count), cycle)


def same_state(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """Whether two states have the same arrays, bit for bit."""
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key], equal_nan=a[key].dtype.kind == "f") for key in a)


def promise(kept: object, sentence: str) -> None:
    """Say so when it is not."""
    if not kept:
        raise AssertionError(sentence)


def close(a: Bits, b: Bits, rounding: float) -> bool:
    """Equal, or equal within the rounding that a learner owns up to."""
    return bool(np.allclose(a, b, rtol=rounding)) if rounding else np.array_equal(a, b)


def keeps_the_protocol(make: Make, rounding: float) -> None:
    """Every method and attribute of the contract is there."""
    learner = make(3)
    asked = {name for name in (*Learner.__annotations__, *vars(Learner)) if not name.startswith("_")}
    missing = ", ".join(sorted(asked - set(dir(learner))))
    promise(isinstance(learner, Learner), f"{type(learner).__name__} lacks {missing} of learners/contract.py")
    promise(learner.vocabulary >= 2, "learner.vocabulary >= 2")
    promise(0 <= learner.parameters(active=True) <= learner.parameters(), "active parameters are some of all")
    promise(learner.growth_bytes >= 0, "learner.growth_bytes >= 0")


def predicts_what_it_scores(make: Make, rounding: float) -> None:
    """`predict` is a distribution, changes nothing, and is what `observe` scores by."""
    learner = make(3)
    for token in sample(learner.vocabulary, 150):
        before, p = learner.state_dict(), learner.predict()
        promise(p.shape == (learner.vocabulary,), f"predict gives shape {p.shape}")
        promise(p.min() >= 0, "a probability is below 0")
        promise(abs(p.sum() - 1.0) < 1e-6, f"probabilities sum to {p.sum()}")
        promise(same_state(before, learner.state_dict()), "predict changed the state")
        bits, expected = learner.observe(int(token)), -np.log2(p[token])
        promise(abs(bits - expected) <= 1e-4 * expected + 1e-5, f"observe scored {bits}, predict said {expected}")


def learns_the_same_in_any_chunks(make: Make, rounding: float) -> None:
    """`learn` equals `observe` token by token."""
    whole, single, halves = make(3), make(3), make(3)
    x = sample(whole.vocabulary, 400)
    bits = whole.learn(x)
    parts = np.concatenate([halves.learn(x[:333]), halves.learn(x[333:])])
    ones = np.array([single.observe(int(token)) for token in x])
    promise(close(ones, bits, rounding), "learn differs from observe")
    promise(close(parts, bits, rounding), "two calls of learn differ from one")
    promise(
        rounding or same_state(whole.state_dict(), single.state_dict()), "the states differ after learn and observe"
    )


def evaluates_frozen(make: Make, rounding: float) -> None:
    """`evaluate` changes nothing, repeats itself and is finite."""
    learner = make(3)
    learner.learn(sample(learner.vocabulary, 400))
    before, x = learner.state_dict(), sample(learner.vocabulary, 200)
    first = learner.evaluate(x)
    promise(first.shape == (200,), f"evaluate gives shape {first.shape} for 200 tokens")
    promise(np.all(np.isfinite(first)), "a frozen score is not finite")
    promise(same_state(before, learner.state_dict()), "evaluate changed the state")
    promise(np.array_equal(first, learner.evaluate(x)), "evaluate does not repeat itself")


def never_looks_ahead(make: Make, rounding: float) -> None:
    """What comes later does not change an earlier score, learning or frozen."""
    a, b = make(3), make(3)
    x, y = sample(a.vocabulary, 500), sample(a.vocabulary, 500)
    y[300:] = (y[300:] + a.vocabulary // 2) % a.vocabulary
    promise(close(a.learn(x)[:300], b.learn(y)[:300], rounding), "learn looked ahead")
    frozen = make(3)
    frozen.learn(x)
    promise(close(frozen.evaluate(x)[:300], frozen.evaluate(y)[:300], rounding or 1e-6), "evaluate looked ahead")


def continues_from_its_state(make: Make, rounding: float) -> None:
    """A state moves to a new learner, which goes on exactly."""
    first, second = make(3), make(8)
    x = sample(first.vocabulary)
    first.learn(x[:451])
    second.load_state_dict(first.state_dict())
    promise(np.array_equal(first.learn(x[451:]), second.learn(x[451:])), "a loaded learner goes on differently")
    promise(same_state(first.state_dict(), second.state_dict()), "the states differ after going on")


def forgets_where_it_was(make: Make, rounding: float) -> None:
    """`forget` empties what was seen and keeps what was learned: frozen scores are those after a reset."""
    learner, again = make(3), make(8)
    x = sample(learner.vocabulary, 500)
    learner.learn(x[:350])
    wiped = learner.evaluate_with_resets(x[350:], every=1_000) if isinstance(learner, Resettable) else None
    learned = learner.parameters()
    learner.forget()
    promise(learner.parameters() == learned, "forget changed how many parameters there are")
    promise(wiped is None or close(learner.evaluate(x[350:]), wiped, rounding or 1e-12), "forget differs from a reset")
    again.load_state_dict(learner.state_dict())
    promise(np.array_equal(again.learn(x[350:]), learner.learn(x[350:])), "after forget a loaded learner differs")


def foretells_its_size(make: Make, rounding: float) -> None:
    """A full state is no larger than the fresh learner said: a larger checkpoint would be refused as damaged."""
    learner = make(3)
    foretold = learner.growth_bytes + sum(array.nbytes for array in learner.state_dict().values())
    learner.learn(sample(learner.vocabulary, 700))
    size = sum(array.nbytes for array in learner.state_dict().values())
    promise(size <= foretold, f"the state has {size:,} bytes; growth_bytes foretold at most {foretold:,}")


def refuses_a_broken_state(make: Make, rounding: float) -> None:
    """A state with a missing or misshapen array is a RunError."""
    learner = make(3)
    learner.learn(sample(learner.vocabulary, 100))
    state = learner.state_dict()
    largest = max(state, key=lambda key: state[key].size)
    broken = [{name: array for name, array in state.items() if name != missing} for missing in state]
    for given in (*broken, {**state, largest: np.zeros((3, 3, 3, 3))}):
        try:
            learner.load_state_dict(given)
        except RunError:
            continue
        raise AssertionError("a state with a missing or misshapen array was taken")


def refuses_bad_tokens(make: Make, rounding: float) -> None:
    """A token outside the vocabulary is a StreamError that names its place, counted from the start of the stream."""
    learner = make(3)
    learner.learn(sample(learner.vocabulary, 50))
    for bad in (-1, learner.vocabulary, 10**9):
        tokens = sample(learner.vocabulary, 20)
        tokens[7] = bad
        for act, place in ((learner.learn, 57), (learner.evaluate, 7)):
            try:
                act(tokens)
            except StreamError as problem:
                promise(f"tokens[{place}] = {bad}" in str(problem), f"the error does not say where: {problem}")
                continue
            raise AssertionError(f"the token {bad} was taken")


CHECKS = (
    keeps_the_protocol,
    predicts_what_it_scores,
    learns_the_same_in_any_chunks,
    evaluates_frozen,
    never_looks_ahead,
    continues_from_its_state,
    forgets_where_it_was,
    foretells_its_size,
    refuses_a_broken_state,
    refuses_bad_tokens,
)


def check_learner(make: Make, *, rounding: float = 0.0) -> None:
    """Run every check; an AssertionError says which promise a learner breaks.

    `make` gives a fresh learner from a seed. `rounding` is for learners whose arithmetic hangs on chunk sizes.

    >>> from sharpstream import Counts, CountsConfig
    >>> check_learner(lambda seed: Counts(CountsConfig(order=2, table_bits=8), vocabulary=5, seed=seed))
    """
    for check in CHECKS:
        try:
            check(make, rounding)
        except AssertionError as problem:
            raise AssertionError(f"{check.__name__.replace('_', ' ')}: {problem}") from problem
