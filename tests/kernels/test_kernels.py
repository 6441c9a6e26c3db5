"""Primitives against NumPy, the C library and torch: right in both precisions, and no NaN swallowed."""

import math
import os
import tomllib
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch
from packaging.requirements import Requirement

from sharpstream.kernels import jit
from sharpstream.kernels.adam import adam_outer, adam_outer_backward, adam_outers, adam_step, adam_vector
from sharpstream.kernels.elementary import exp_shifted, gelu, gelu_backward, tanh_inplace
from sharpstream.kernels.jit import kernel
from sharpstream.kernels.layout import PAGE, STAGGER, Layout
from sharpstream.kernels.linear import add_product, add_transposed, affine
from sharpstream.kernels.norm import layer_norm, layer_norm_backward, softmax

TOLERANCE = {"float32": 5e-7, "float64": 1e-14}
HYPER = np.array([0.9, 0.999, 1e-8, 0.01])


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


def spread(dtype: str, limit: float = 9.0) -> np.ndarray:
    return np.concatenate([np.linspace(-limit, limit, 2_001), [0.0, 1e-30, -1e-4, 1e-4]]).astype(dtype)


def test_tanh_exp_and_gelu_are_those_of_the_c_library(dtype):
    x = spread(dtype)
    exact = x.astype(np.float64)
    y = x.copy()
    tanh_inplace(y)
    np.testing.assert_allclose(y, np.tanh(exact), atol=TOLERANCE[dtype])
    exp_shifted(x, x.dtype.type(1.0), y)
    np.testing.assert_allclose(y, np.exp(exact - 1.0), rtol=4 * TOLERANCE[dtype])
    gelu(x, y)
    expected = torch.nn.functional.gelu(torch.tensor(exact))
    np.testing.assert_allclose(y, expected, atol=2 * TOLERANCE[dtype])
    grad = np.ones_like(x)
    gelu_backward(x, grad)
    v = torch.tensor(exact, requires_grad=True)
    torch.nn.functional.gelu(v).sum().backward()
    np.testing.assert_allclose(grad, v.grad, atol=4 * TOLERANCE[dtype])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_stays_visible(dtype, bad):
    x = np.array([0.5, bad, -0.5] * 20, dtype=dtype)
    p = np.empty_like(x)
    assert not math.isfinite(softmax(x, p)) or bad == -math.inf
    if math.isnan(bad):
        tanh_inplace(x)
        assert np.isnan(x[1::3]).all()
        assert np.isfinite(x[0::3]).all()


def test_products_are_those_of_numpy(dtype):
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (7, 3), (130, 67)):
        w, x, b = (rng.normal(size=shape).astype(dtype) for shape in ((rows, columns), columns, rows))
        out, back = np.empty(rows, dtype), np.ones(columns, dtype)
        affine(w, b, x, out)
        np.testing.assert_allclose(out, w.astype(float) @ x + b, atol=40 * TOLERANCE[dtype])
        add_product(w, x, out)
        np.testing.assert_allclose(out, 2 * (w.astype(float) @ x) + b, atol=80 * TOLERANCE[dtype])
        add_transposed(w, b, back)
        np.testing.assert_allclose(back, w.T.astype(float) @ b + 1, atol=80 * TOLERANCE[dtype])


def test_layer_norm_and_softmax_are_those_of_torch():
    rng = np.random.default_rng(0)
    x, w, b, delta = (rng.normal(size=37) for _ in range(4))
    hat, out, back = np.empty(37), np.empty(37), np.empty(37)
    scale = layer_norm(x, w, b, hat, out)
    v = torch.tensor(x, requires_grad=True)
    expected = torch.nn.functional.layer_norm(v, (37,), torch.tensor(w), torch.tensor(b))
    np.testing.assert_allclose(out, expected.detach(), rtol=1e-12)
    expected.backward(torch.tensor(delta))
    layer_norm_backward(hat, scale, w, delta, back)
    np.testing.assert_allclose(back, v.grad, rtol=1e-10, atol=1e-12)
    assert softmax(x, out) == pytest.approx(float(torch.logsumexp(torch.tensor(x), 0)), rel=1e-13)
    np.testing.assert_allclose(out, torch.softmax(torch.tensor(x), 0), rtol=1e-12)


@kernel
def _steps(p, m, v, deltas, xs, row, back, kind, hyper, n):
    for t in range(n):
        s = adam_step(p, hyper, 1e-2, t + 1)
        if kind == 0:
            adam_outer(p, m, v, deltas[0], xs[0], s)
        elif kind == 1:
            adam_outer_backward(p, m, v, deltas[0], xs[0], back, s)
        elif kind == 2:
            adam_outers(p, m, v, deltas, 0, xs, 0, s)
        else:
            for i in range(p.shape[0]):
                for j in range(p.shape[1]):
                    row[j] = deltas[0, i] * xs[0, j]
                adam_vector(p[i], m[i], v[i], row, s)


@pytest.mark.parametrize("columns", [19, 32])
@pytest.mark.parametrize(("kind", "window"), [(0, 1), (1, 1), (2, 4), (2, 3), (3, 1)])
def test_every_fused_adam_is_torchs_adam_with_coupled_decay(kind, window, columns):
    rng = np.random.default_rng(1)
    rows = 45
    p, deltas, xs = (
        rng.normal(size=(rows, columns)),
        rng.normal(size=(window, rows)),
        rng.normal(size=(window, columns)),
    )
    twin = torch.nn.Parameter(torch.tensor(p))
    optimizer = torch.optim.Adam([twin], lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    before_last = None
    for _ in range(5):
        before_last = twin.detach().clone()
        twin.grad = torch.tensor(deltas.T @ xs)
        optimizer.step()
    m, v, back = np.zeros_like(p), np.zeros_like(p), np.zeros(columns)
    _steps(p, m, v, deltas, xs, np.zeros(columns), back, kind, HYPER, 5)
    np.testing.assert_allclose(p, twin.detach(), rtol=1e-12)
    np.testing.assert_allclose(m, optimizer.state[twin]["exp_avg"], rtol=1e-12)
    np.testing.assert_allclose(v, optimizer.state[twin]["exp_avg_sq"], rtol=1e-12)
    if kind == 1:  # the product back uses the weights from before the step
        np.testing.assert_allclose(back, before_last.T.numpy() @ deltas[0], rtol=1e-10)


def test_a_layout_gives_views_that_do_not_overlap():
    layout = Layout({"a": (3, 5), "b": (7,), "absent": (0, 4), "c": (2, 3, 4)})
    buffer = layout.zeros("float32")
    for value, name in enumerate(layout.names, start=1):
        layout.view(buffer, name)[...] = value
    assert layout.names == ("a", "b", "c")
    assert [layout.view(buffer, name).sum() for name in layout.names] == [15, 14, 72]
    assert layout.count() == 15 + 7 + 24


def test_buffers_walked_together_begin_at_different_places_of_their_pages():
    layout = Layout({"w": (1_000, 1_000)})
    starts = [layout.zeros("float32", place).ctypes.data % PAGE for place in range(3)]
    assert starts == [0, STAGGER, 2 * STAGGER]


# ---- what exact resume rests on --------------------------------------------------------------------------------------


def test_a_numba_with_other_inner_parts_is_told_once_and_marks_its_runs():
    class Stranger:
        """A code library of a Numba to come."""

    exact = jit.Exactness()
    with pytest.warns(UserWarning, match="Stranger has no _finalize_final_module.*not exactly resumable"):
        jit._keep_callees_private(Stranger, exact)
    assert not exact.holds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact.lose("again")  # once is enough
    assert jit.EXACT.holds, "the Numba that the tests run with is one we know"


def test_inner_parts_that_changed_behind_their_names_are_found_out_when_something_is_compiled():
    class Changed:
        def _finalize_final_module(self):
            self.finished = True

        def _get_module_for_linking(self):
            pass

    exact = jit.Exactness()
    jit._keep_callees_private(Changed, exact)
    assert exact.holds
    library = Changed()  # has no _shared_module
    with pytest.warns(UserWarning, match="_shared_module.*not exactly resumable"):
        library._finalize_final_module()
    assert library.finished, "the kernel is compiled all the same"
    assert not exact.holds


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy"])
def test_the_bounds_of_what_bits_hang_on_are_stated_and_kept(name):
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["dependencies"]
    (bound,) = [Requirement(one) for one in declared if Requirement(one).name == name]
    assert {one.operator for one in bound.specifier} == {">=", "<"}
    assert version(name) in bound.specifier, f"these tests run with {name} {version(name)}, which {bound} leaves out"


def test_caches_of_old_sources_are_removed_and_those_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path))
    root, now = tmp_path / "numba", 1e9
    for name, age in (("old", 40), ("recent", 20)):
        (root / name).mkdir(parents=True)
        os.utime(root / name, (now - age * 86_400, now - age * 86_400))
    jit.prune_caches(now)
    assert {path.name for path in root.iterdir()} == {"recent", jit.source_digest()}
