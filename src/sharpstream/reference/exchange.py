"""A SHARP from one engine to the other, whole: parameters, moments, memories, tags and clocks."""

from sharpstream.learners.sharp import Sharp
from sharpstream.reference.sharp import ReferenceSharp


def to_reference(learner: Sharp, *, device: str = "cpu") -> ReferenceSharp:
    """The PyTorch twin of a fused learner, at the same point of the stream."""
    vectors = learner.model.vectors if learner.config.input_size else None
    twin = ReferenceSharp(learner.config, learner.vocabulary, seed=learner.seed, vectors=vectors, device=device)
    twin.load_state_dict(learner.state_dict())
    return twin


def from_reference(learner: ReferenceSharp) -> Sharp:
    """The fused twin of a reference made of the paper's own blocks."""
    vectors = None if learner.vectors is None else learner.vectors.cpu().numpy()
    twin = Sharp(learner.config, learner.vocabulary, seed=learner.seed, vectors=vectors)
    twin.load_state_dict(learner.state_dict())
    return twin
