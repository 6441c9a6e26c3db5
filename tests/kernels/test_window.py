"""Products and steps of a whole window against NumPy and torch, where columns are whole lanes and where not."""

import numpy as np
import pytest
import torch

from sharpstream.kernels.adam import adam_step
from sharpstream.kernels.jit import kernel
from sharpstream.kernels.lanes import LANES, larger, load, root, spread, store, sum_lanes
from sharpstream.kernels.window import window_affine, window_step

HYPER = np.array([0.9, 0.999, 1e-8, 0.01])
SHAPES = [(6, 32), (7, 32), (70, 16), (40, 64), (5, 19), (3, 4)]
TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


@kernel
def _affine(weight, bias, xs, outs, count):
    window_affine(weight, bias, xs, outs, count)


@kernel
def _step(p, m, v, deltas, first_row, xs, first_column, backs, hyper):
    window_step(p, m, v, deltas, first_row, xs, first_column, backs, adam_step(p, hyper, 1e-2, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 3, 4, 5])
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_every_position_is_an_affine_map(rows, columns, count, dtype):
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(rows, columns)).astype(dtype), rng.normal(size=rows).astype(dtype)
    xs, outs = rng.normal(size=(5, columns)).astype(dtype), np.full((5, rows), 9.0, dtype)
    _affine(weight, bias, xs, outs, count)
    scale = TOLERANCE[dtype]
    np.testing.assert_allclose(outs[:count], xs[:count].astype(float) @ weight.T + bias, rtol=scale, atol=10 * scale)
    assert (outs[count:] == 9.0).all()


@pytest.mark.parametrize("window", [1, 3, 4, 6])
@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_a_windows_step_is_torchs_and_hands_back_with_the_weights_before_it(rows, columns, offset, window):
    rng = np.random.default_rng(1)
    p = rng.normal(size=(rows, columns))
    deltas, xs = rng.normal(size=(window, rows + offset)), rng.normal(size=(window, columns + offset))
    earlier = rng.normal(size=(window, columns))
    backs = earlier.copy()
    weight = torch.nn.Parameter(torch.tensor(p))
    weight.grad = torch.tensor(deltas[:, offset:].T @ xs[:, offset:])
    optimizer = torch.optim.Adam([weight], lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    expected = earlier + deltas[:, offset:] @ p
    optimizer.step()
    m, v, untouched = np.zeros_like(p), np.zeros_like(p), p.copy()
    _step(p, m, v, deltas, offset, xs, offset, backs, HYPER)
    np.testing.assert_allclose(p, weight.detach(), rtol=1e-12)
    np.testing.assert_allclose(v, optimizer.state[weight]["exp_avg_sq"], rtol=1e-12)
    np.testing.assert_allclose(backs, expected, rtol=1e-11, atol=1e-12)
    _step(untouched, np.zeros_like(p), np.zeros_like(p), deltas, offset, xs, offset, np.zeros((0, 0)), HYPER)
    assert np.array_equal(untouched, p)  # whether anything is handed back changes no weight


@kernel
def _arithmetic(a, b, scale, out):
    one, other = load(a, 0), load(b, 0)
    value = (one + other) * scale - one / other
    value -= spread(scale)
    value = larger(value, root(one * one))
    store(out, 0, value)
    return sum_lanes(value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lanes_are_sixteen_numbers(dtype):
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, LANES)).astype(dtype) + np.array(3.0, dtype)
    out, scale = np.zeros(LANES, dtype), np.array([0.5], dtype)[0]
    total = _arithmetic(a, b, scale, out)
    expected = np.maximum((a + b) * scale - a / b - scale, np.abs(a))
    np.testing.assert_allclose(out, expected, rtol=TOLERANCE[dtype])
    assert total == pytest.approx(float(expected.sum()), rel=TOLERANCE[dtype])


def test_lanes_are_not_read_across_columns():
    @kernel
    def column(matrix):
        return sum_lanes(load(matrix[:, 0], 0))

    with pytest.raises(TypeError, match="contiguous"):
        column(np.zeros((LANES, 2)))
