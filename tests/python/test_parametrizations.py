"""Weights that are made of others."""
import numpy as np
import pytest

import saltern
from saltern import nn
from saltern.nn.utils import parametrize, spectral_norm, weight_norm


def test_weight_norm_keeps_the_weight_at_first():
    layer = nn.Linear(3, 4)
    before, x = layer.weight.numpy().copy(), saltern.tensor(np.ones((2, 3), np.float32))
    y = layer(x).numpy().copy()
    weight_norm(layer)
    assert [n for n, _ in layer.named_parameters()] == [
        'bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    assert list(layer.state_dict()) == [n for n, _ in layer.named_parameters()]
    np.testing.assert_allclose(layer(x).numpy(), y, rtol=1e-6)
    length = dict(layer.named_parameters())['parametrizations.weight.original0']
    length.copy_(saltern.tensor(2 * length.numpy()))
    layer(x).backward(saltern.tensor(np.ones((2, 4), np.float32)))
    np.testing.assert_allclose(layer.weight.numpy(), 2 * before, rtol=1e-5)
    assert length.grad.shape == (4, 1)
    assert parametrize.is_parametrized(layer, 'weight')
    parametrize.remove_parametrizations(layer, 'weight')
    assert [n for n, _ in layer.named_parameters()] == ['weight', 'bias'] and not parametrize.is_parametrized(layer)
    np.testing.assert_allclose(layer.weight.numpy(), 2 * before, rtol=1e-5)


def test_spectral_norm_is_that_of_the_matrix():
    layer = spectral_norm(nn.Linear(5, 4), n_power_iterations=20)
    x = saltern.tensor(np.zeros((1, 5), np.float32))
    for _ in range(5):
        layer(x)
    assert abs(np.linalg.norm(layer.weight.numpy(), 2) - 1) < 1e-3
    assert {'parametrizations.weight.original', 'parametrizations.weight.0._u', 'parametrizations.weight.0._v'} < set(
        layer.state_dict())
    u = layer.state_dict()['parametrizations.weight.0._u']
    kept = u.numpy().copy()
    layer.eval()(x)
    np.testing.assert_array_equal(u.numpy(), kept)


def test_a_parameter_that_is_not_there():
    with pytest.raises((KeyError, ValueError), match='gain'):
        weight_norm(nn.Linear(2, 2), 'gain')
