"""The engine against its reference and against the floor, at the text8 recipe; one thread, everything in one run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from sharpstream.bench.floor import floor
from sharpstream.config import SharpConfig
from sharpstream.evaluate.timing import Timed, Work, in_turn, learning, resident_megabytes
from sharpstream.experiments.language.wall_time import RESTS, sleeping
from sharpstream.experiments.language.wall_time_page import SLEEP_EVERY
from sharpstream.experiments.recipes import never_sleeps, on_tick, text8
from sharpstream.learners.sharp import Sharp

VOCABULARY = 27
LEARNS = 0.0  # τ of the first phase: block 1 learns at every step


@dataclass(frozen=True)
class EngineResult:
    """What was measured at one width."""

    width: int
    parameters: int
    active: int
    times: Mapping[str, Timed]
    sleep_seconds: float
    memory_megabytes: float

    def rows(self) -> list[dict[str, Any]]:
        """Every number with its unit, ready for a table or a file."""
        t = self.times
        found: list[tuple[str, float, str]] = [
            ("wake, steady state", t["gated"].seconds * 1e3, "ms/token"),
            ("wake, every step learns", t["ungated"].seconds * 1e3, "ms/token"),
            ("wake, on-tick, steady state", t["on-tick"].seconds * 1e3, "ms/token"),
            ("every-step / on-tick", t["gated"].over(t["on-tick"]), "×"),
            ("floor, buffers placed as ours", t["floor"].seconds * 1e3, "ms"),
            ("floor, plain arrays", t["plain floor"].seconds * 1e3, "ms"),
            ("wake / floor placed as ours", t["gated"].over(t["floor"]), "×"),
            ("wake / floor of plain arrays", t["gated"].over(t["plain floor"]), "×"),
            ("evaluate", 1 / t["evaluate"].seconds, "tokens/s"),
            ("observe", 1 / t["observe"].seconds, "tokens/s"),
            ("sleep", self.sleep_seconds, "s"),
            ("sleep / wake over 20,000 tokens", self.sleep_seconds / (SLEEP_EVERY * t["gated"].seconds), "×"),
            ("memory of the process", self.memory_megabytes, "MB"),
        ]
        if "reference gated" in t:
            found += [
                ("reference, steady state", t["reference gated"].seconds * 1e3, "ms/token"),
                ("reference, every step learns", t["reference ungated"].seconds * 1e3, "ms/token"),
                ("fused against reference, steady state", t["reference gated"].over(t["gated"]), "×"),
                ("fused against reference, every step learns", t["reference ungated"].over(t["ungated"]), "×"),
            ]
        return [
            {"arm": f"H{self.width}", "quantity": name, "value": value, "unit": unit} for name, value, unit in found
        ]


def recipe(width: int) -> SharpConfig:
    """The text8 recipe at this width (E 100 at the paper's 512, E 30 below), without sleep."""
    return never_sleeps(replace(text8().sharp, width=width, embedding=100 if width == 512 else 30))


def measure_engine(width: int, *, rounds: int = 5, with_reference: bool = True) -> EngineResult:
    """Time wake, floor, evaluation and sleep at one width."""
    config = recipe(width)
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 2_000 if width <= 128 else 200)
    gated, ungated = (Sharp(replace(config, tau=tau), VOCABULARY) for tau in (RESTS, LEARNS))
    ticking = Sharp(on_tick(replace(config, tau=RESTS)), VOCABULARY)
    active = gated.parameters(active=True)

    def evaluate() -> int:
        gated.evaluate(tokens)
        return int(tokens.size)

    def observe() -> int:
        for token in tokens[:100]:
            gated.observe(int(token))
        return 100

    works: dict[str, Work] = {
        "gated": learning(gated, tokens),
        "on-tick": learning(ticking, tokens),
        "floor": floor(active, staggered=True, passes=max(20, tokens.size // 10)),
        "plain floor": floor(active, staggered=False, passes=max(20, tokens.size // 10)),
        "ungated": learning(ungated, tokens),
        "evaluate": evaluate,
        "observe": observe,
    }
    if with_reference and find_spec("torch"):
        works |= _reference(config, tokens[: 60 if width <= 128 else 12])
    times = in_turn(works, rounds)
    return EngineResult(width, gated.parameters(), active, times, _sleep_seconds(ungated), resident_megabytes())


def _reference(config: SharpConfig, tokens: Any) -> dict[str, Work]:
    """The PyTorch twin in both phases, on one thread."""
    import torch

    from sharpstream.reference.sharp import ReferenceSharp

    torch.set_num_threads(1)
    return {
        f"reference {phase}": learning(ReferenceSharp(replace(config, tau=tau), VOCABULARY), tokens)
        for phase, tau in (("gated", RESTS), ("ungated", LEARNS))
    }


def _sleep_seconds(learner: Sharp) -> float:
    """One sleep with every tag taken and every window learned from: the dearest it can be."""
    tag, sleep = sleeping(learner, np.arange(100, dtype=np.int64) % VOCABULARY)
    return in_turn({"sleep": sleep}, 1, prepare={"sleep": tag})["sleep"].seconds
