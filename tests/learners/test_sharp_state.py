"""The one table of SHARP's state: nothing of a mind is forgotten, and both engines hold what the table says."""

from dataclasses import replace

import numpy as np
import pytest

from sharpstream.config import AdamConfig, SharpConfig, SleepConfig
from sharpstream.errors import RunError
from sharpstream.learners import sharp_fields
from sharpstream.learners.sharp import Sharp
from sharpstream.learners.sharp_fields import Field, fields
from sharpstream.learners.sharp_state import tags_in_order

SMALL = SharpConfig(
    levels=3, width=6, embedding=4, depth=1, tau=0.0, adam=AdamConfig(lr=1e-3), sleep=SleepConfig(every=90, tags=5)
)
KINDS = {
    "every-step": SMALL,
    "on-tick": replace(SMALL, credit="on-tick"),
    "upper awake": replace(SMALL, train_upper_awake=True),
    "vectors": replace(SMALL, input_size=3),
    "lstm, delay above": replace(SMALL, memory="lstm", upper_memory="delay"),
    "tagged by prediction": replace(SMALL, tag_by="prediction"),
    "nothing learns": replace(SMALL, memory="legendre"),
}
RING = ("tags_state", "tags_context", "tag_next")  # where the oldest tag lies in its ring is no part of the state


def learner_of(kind: str) -> Sharp:
    config = KINDS[kind]
    vectors = np.random.default_rng(3).normal(size=(5, config.input_size)) if config.input_size else None
    return Sharp(config, vocabulary=5, seed=1, vectors=vectors)


@pytest.mark.parametrize("kind", KINDS)
def test_every_array_of_a_mind_comes_back_from_its_state(kind: str) -> None:
    learner, other = learner_of(kind), learner_of(kind)
    learner.learn(np.random.default_rng(0).integers(0, 5, 137))
    other.load_state_dict(learner.state_dict())
    for name in learner.mind._fields:
        if name not in RING:
            np.testing.assert_array_equal(getattr(other.mind, name), getattr(learner.mind, name), err_msg=name)
    for mine, theirs in zip(tags_in_order(learner.mind), tags_in_order(other.mind), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_holds_the_same_fields(kind: str) -> None:
    reference = pytest.importorskip("sharpstream.reference.sharp")
    learner = learner_of(kind)
    vectors = learner.model.vectors if KINDS[kind].input_size else None
    twin = reference.ReferenceSharp(KINDS[kind], 5, seed=1, vectors=vectors)
    twin.learn(np.arange(20) % 5)
    for name, field in fields(KINDS[kind]).items():
        assert field.fits(twin.state_dict()[name]), name
        assert field.fits(learner.state_dict()[name]), name


def test_a_field_that_an_engine_forgets_is_an_error_at_the_first_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    known = fields(SMALL)
    monkeypatch.setattr(sharp_fields, "fields", lambda config: {**known, "mood": Field("f")})
    with pytest.raises(RunError, match="disagree about mood"):
        learner_of("every-step").state_dict()
