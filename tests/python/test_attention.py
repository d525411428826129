"""Attention in f32, by kernels, beside formulas in f64."""
import numpy as np
import pytest

import saltern
from checks import check_gradients

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


def test_the_function_is_what_the_layer_is():
    x = saltern.tensor(RANDOM.standard_normal((6, 2, 8)))
    for options in ({}, {'add_bias_kv': True, 'add_zero_attn': True}, {'kdim': 8, 'vdim': 5}):
        layer = saltern.nn.MultiheadAttention(8, 2, **options).double().eval()
        value = saltern.tensor(RANDOM.standard_normal((6, 2, options.get('vdim', 8))))
        p = dict(layer.named_parameters())
        given = saltern.nn.functional.multi_head_attention_forward(
            x, x, value, 8, 2, p.get('in_proj_weight'), p['in_proj_bias'], p.get('bias_k'), p.get('bias_v'),
            options.get('add_zero_attn', False), 0.0, p['out_proj.weight'], p['out_proj.bias'],
            use_separate_proj_weight='vdim' in options, **{name: p.get(name) for name in
                                                            ('q_proj_weight', 'k_proj_weight', 'v_proj_weight')})
        for a, b in zip(given, layer(x, x, value)):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        check_gradients(lambda *w: saltern.nn.functional.multi_head_attention_forward(
            x, x, x, 8, 2, w[0], None, None, None, False, 0.0, w[1], None)[0],
            [RANDOM.standard_normal((24, 8)), RANDOM.standard_normal((8, 8))])
