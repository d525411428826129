"""Quantised numbers and layers of signs beside NumPy."""
import numpy as np
import pytest

import saltern
from saltern import nn

random = np.random.default_rng(4)


def test_fake_quantisation_and_its_straight_gradient():
    x = random.uniform(-3, 3, (4, 5))
    t = saltern.tensor(x, requires_grad=True)
    y = saltern.fake_quantize_per_tensor_affine(t, 0.1, 3, -10, 20)
    q = np.round(x / 0.1) + 3
    np.testing.assert_allclose(np.asarray(y), (q.clip(-10, 20) - 3) * 0.1)
    y.sum().backward()
    np.testing.assert_array_equal(np.asarray(t.grad), (q >= -10) & (q <= 20))


def test_quantisation_by_channel_there_and_back():
    x, scale, zero = random.uniform(-3, 3, (4, 3)), np.array([0.1, 0.02, 0.5]), np.array([0, 10, -4])
    tensors = [saltern.tensor(a) for a in (x, scale, zero)]
    expected = (np.round(x / scale) + zero).clip(-128, 127)
    q = saltern.quantize_per_channel(*tensors, 1, 'int8')
    assert q.dtype == 'int8'
    np.testing.assert_array_equal(np.asarray(q), expected)
    back = saltern.dequantize(q, *tensors[1:], axis=1)
    np.testing.assert_allclose(np.asarray(back), (expected - zero) * scale)
    np.testing.assert_allclose(np.asarray(saltern.fake_quantize_per_channel_affine(*tensors, 1, -128, 127)), np.asarray(back))
    assert saltern.quantize_per_tensor(saltern.tensor([-1.0, 300.0]), 1.0, 5, 'uint8').tolist() == [4, 255]
    with pytest.raises(ValueError, match="quantize_per_channel: 'scales'.*one for each of 4 channels"):
        saltern.quantize_per_channel(*tensors, 0, 'int8')


def signs(x):
    return np.where(x < 0, -1.0, 1.0)


@pytest.mark.parametrize('width', [1, 31, 32, 33, 70])
def test_binary_linear_by_bits_is_the_product_of_signs(width):
    layer = nn.BinaryLinear(width, 6, bias=True)
    x = random.uniform(-2, 2, (3, 2, width)).astype(np.float32)
    expected = signs(x) @ signs(np.asarray(layer.weight)).T
    for mode in (layer.train(), layer.eval()):
        np.testing.assert_array_equal(np.asarray(mode(saltern.tensor(x))), expected)


@pytest.mark.parametrize('channels, options', [(3, {}), (33, {'padding': 1, 'stride': 2}), (2, {'padding': 2, 'dilation': 2})])
def test_binary_convolution_by_bits_is_that_of_signs(channels, options):
    layer = nn.BinaryConv2d(channels, 4, (3, 2), **options)
    x = random.uniform(-2, 2, (2, channels, 6, 7)).astype(np.float32)
    expected = nn.functional.conv2d(saltern.tensor(signs(x)), saltern.tensor(signs(np.asarray(layer.weight))), **options)
    for mode in (layer.train(), layer.eval()):
        np.testing.assert_array_equal(np.asarray(mode(saltern.tensor(x))), np.asarray(expected))


@pytest.mark.parametrize('layer, shape', [(nn.BinaryLinear(5, 3), (4, 5)), (nn.BinaryConv2d(2, 3, 2, padding=1), (2, 2, 4, 3))])
def test_gradients_go_straight_through(layer, shape):
    """In both modes: that of signs as numbers, where numbers are between -1 and 1."""
    layer.double()
    x, w = random.uniform(-2, 2, shape), random.uniform(-2, 2, layer.weight.shape)
    weights = None
    for mode in (True, False):
        layer.train(mode)
        t, v = saltern.tensor(x, requires_grad=True), saltern.tensor(w, requires_grad=True)
        layer._set_parameters({'weight': v})
        y = layer(t)
        weights = random.uniform(-1, 1, y.shape) if weights is None else weights
        dx, dw = saltern.autograd.grad(y, [t, v], saltern.tensor(weights))
        s, u = saltern.tensor(signs(x), requires_grad=True), saltern.tensor(signs(w), requires_grad=True)
        plain = nn.functional.linear(s, u) if len(shape) == 2 else nn.functional.conv2d(s, u, padding=1)
        ds, du = saltern.autograd.grad(plain, [s, u], saltern.tensor(weights))
        np.testing.assert_allclose(np.asarray(dx), np.asarray(ds) * (np.abs(x) <= 1), atol=1e-12)
        np.testing.assert_allclose(np.asarray(dw), np.asarray(du) * (np.abs(w) <= 1), atol=1e-12)


def test_an_axis_counts_from_the_end_too():
    x, scale, zero = saltern.tensor(np.array([[1, 2], [3, 4]], np.int8)), saltern.tensor([0.5, 2.0]), saltern.tensor([0, 1])
    there, back = (saltern.dequantized(x, scale, zero, axis) for axis in (1, -1))
    assert there.tolist() == back.tolist() == [[0.5, 2.0], [1.5, 6.0]]
