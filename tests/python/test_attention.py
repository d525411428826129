"""Attention in f32, by kernels, beside formulas in f64."""
import numpy as np
import pytest

import saltern

RANDOM = np.random.default_rng(9)


def results(dtype, arrays, scale, order):
    q, k, v = (saltern.tensor(a.astype(dtype), requires_grad=True) for a in arrays)
    y = saltern.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale)
    seed = saltern.tensor(np.cos(np.arange(y.numel())).reshape(y.shape).astype(dtype))
    first = saltern.autograd.grad(y, [q, k, v], [seed], create_graph=order > 1)
    if order == 1:
        return [np.asarray(t) for t in (y, *first)]
    return [np.asarray(t) for t in saltern.autograd.grad(sum((g ** 2).sum() for g in first), [q, k, v])]


@pytest.mark.parametrize('order', [1, 2])
@pytest.mark.parametrize('front, t, s, e, f', [((2, 3), 5, 7, 4, 6), ((1,), 1, 1, 1, 1), ((3,), 17, 33, 8, 8)])
def test_kernels_compute_what_formulas_do(order, front, t, s, e, f):
    arrays = [RANDOM.standard_normal((*front, *shape)) for shape in ((t, e), (s, e), (s, f))]
    for found, expected in zip(*(results(dtype, arrays, 0.3, order) for dtype in (np.float32, np.float64))):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_weights_do_not_change_the_result():
    layer, x = saltern.nn.MultiheadAttention(16, 4), saltern.tensor(RANDOM.standard_normal((6, 2, 16)).astype(np.float32))
    with_weights, without = layer(x, x, x)[0], layer(x, x, x, need_weights=False)[0]
    np.testing.assert_allclose(np.asarray(with_weights), np.asarray(without), rtol=1e-5, atol=1e-6)
