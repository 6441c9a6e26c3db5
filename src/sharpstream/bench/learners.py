"""Every learner in one table: tokens/s, seconds per 1000 tokens, parameters; fused against its eager twin."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from sharpstream.config import RunConfig
from sharpstream.evaluate.timing import Work, in_turn, learning
from sharpstream.experiments.language.arms import PUBLISHED_TRANSFORMERS, Size, run_of
from sharpstream.factory import LEARNERS, make_learner

VOCABULARY = 27
TWIN = " (torch)"
ARMS = {name: name for name in ("sharp", "rnn", "lstm", "gru", "clockwork", "unigram", "uniform")} | {
    "counts": "counts-5"
}


def configs(width: int) -> dict[str, RunConfig]:
    """The text8 comparison at one width: five levels, layers or modules each, T = 4."""
    size = Size(5, width, 100 if width == 512 else 30, PUBLISHED_TRANSFORMERS)
    return {
        name: run_of(arm, size, "fair") for name, arm in (ARMS | {name: name for name in size.transformers}).items()
    }


def measure_learners(width: int, *, rounds: int = 3, with_torch: bool = True) -> list[dict[str, Any]]:
    """Rows of the table: one learner each, and its eager twin where it has one."""
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 20_000)
    works: dict[str, Work] = {}
    counts: dict[str, tuple[int, int]] = {}
    torch_too = with_torch and find_spec("torch") is not None
    for name, config in configs(width).items():
        if config.learner == "transformer":
            if torch_too:
                _add(works, counts, name, config, tokens[: config.transformer.chunk])
            continue
        budget = 20_000 if name in ("counts", "unigram", "uniform") else (2_000 if width <= 128 else 200)
        _add(works, counts, name, config, tokens[:budget])
        if torch_too and LEARNERS[name].twin:
            _add(works, counts, name + TWIN, config.replace(engine="reference"), tokens[: 40 if width <= 128 else 10])
    times = in_turn(works, rounds)
    rows = []
    for name, timed in times.items():
        twin = times.get(name + TWIN)
        rows.append(
            {
                "learner": name,
                "tokens_per_second": 1 / timed.seconds,
                "seconds_per_1000": 1000 * timed.seconds,
                "parameters": counts[name][0],
                "active_parameters": counts[name][1],
                "faster_than_twin": twin.over(timed) if twin else None,
            }
        )
    return rows


def _add(works: dict[str, Work], counts: dict[str, tuple[int, int]], name: str, config: RunConfig, tokens: Any) -> None:
    if config.engine == "reference" or config.learner == "transformer":
        import torch

        torch.set_num_threads(1)
    learner = make_learner(config, VOCABULARY)
    works[name] = learning(learner, tokens)
    counts[name] = (learner.parameters(), learner.parameters(active=True))
