"""How weights begin: drawn in NumPy by name, so that both engines and every arm of a comparison start alike.

Each array has its own generator, seeded by (seed, name): adding a level or changing a decoder moves no other draw.
"""

import zlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], Array]


def generator(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one named array."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def normal(rng: np.random.Generator, shape: Shape) -> Array:
    """N(0, 1): an embedding table."""
    return rng.standard_normal(shape)


def zeros(rng: np.random.Generator, shape: Shape) -> Array:
    """Biases of the recurrent cells, shifts of LayerNorm."""
    return np.zeros(shape)


def ones(rng: np.random.Generator, shape: Shape) -> Array:
    """Scales of LayerNorm; also the dead encoders of the `dead_upper_levels` control."""
    return np.ones(shape)


def uniform(bound: float) -> Draw:
    """Uniform in ±bound."""
    return lambda rng, shape: rng.uniform(-bound, bound, shape)


def fan_in(inputs: int) -> Draw:
    """A linear layer's weight and bias: uniform in ±1/√fan_in."""
    return uniform(1.0 / np.sqrt(inputs))


def xavier(rng: np.random.Generator, shape: Shape) -> Array:
    """Xavier-uniform: variance 2 / (fan_in + fan_out)."""
    bound = np.sqrt(6.0 / (shape[0] + shape[1]))
    return rng.uniform(-bound, bound, shape)


def orthogonal(rng: np.random.Generator, shape: Shape) -> Array:
    """A square orthogonal matrix, uniform over rotations and reflections (QR of a Gaussian, signs fixed)."""
    q, r = np.linalg.qr(rng.standard_normal(shape))
    return np.asarray(q * np.sign(np.diag(r)))


def gate_by_gate(draw: Draw, gates: int) -> Draw:
    """A cell of several gates, whose weights stand one upon the other: each drawn as a cell of its own."""

    def stacked(rng: np.random.Generator, shape: Shape) -> Array:
        return np.concatenate([draw(rng, (shape[0] // gates, *shape[1:])) for _ in range(gates)])

    return stacked if gates > 1 else draw
