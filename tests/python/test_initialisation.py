"""saltern.nn.init: every function's distribution or structure."""
import math

import numpy as np
import pytest

import saltern
from saltern.nn import init


@pytest.fixture(autouse=True)
def seeded():
    saltern.manual_seed(11)


def filled(name, shape, *args, **kwargs):
    t = saltern.zeros(*shape, requires_grad=True)
    given = getattr(init, name)(t, *args, **kwargs)
    np.testing.assert_array_equal(np.asarray(given), np.asarray(t))
    return np.asarray(t).astype(np.float64)


@pytest.mark.parametrize('name, args, mean, deviation', [
    ('uniform_', (-1, 3), 1, 4 / math.sqrt(12)),
    ('normal_', (2, 0.5), 2, 0.5),
    ('trunc_normal_', (0, 1, -0.5, 0.5), 0, 0.2847),
    ('trunc_normal_', (0, 1, 3, 9), 3.2831, 0.2660),
    ('trunc_normal_', (0, 1, -9, -3), -3.2831, 0.2660),
    ('xavier_uniform_', (2.0,), 0, 2 * math.sqrt(2 / 500)),
    ('xavier_normal_', (), 0, math.sqrt(2 / 500)),
    ('kaiming_uniform_', (math.sqrt(5),), 0, math.sqrt(2 / 6 / 300)),
    ('kaiming_normal_', (0, 'fan_out', 'relu'), 0, math.sqrt(2 / 200)),
    ('variance_scaling_', (2.0,), 0, math.sqrt(2 / 300)),
    ('variance_scaling_', (1.0, 'fan_avg', 'uniform'), 0, math.sqrt(1 / 250)),
    ('variance_scaling_', (1.5, 'fan_out', 'untruncated_normal'), 0, math.sqrt(1.5 / 200)),
    ('lecun_normal_', (), 0, math.sqrt(1 / 300)),
    ('lecun_uniform_', (), 0, math.sqrt(1 / 300)),
])
def test_moments(name, args, mean, deviation):
    values = filled(name, (200, 300), *args)
    assert abs(values.mean() - mean) < 0.02 * deviation + 1e-4
    assert abs(values.std() - deviation) < 0.02 * deviation
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.02


def test_bounds():
    assert np.abs(filled('trunc_normal_', (50, 50), 0, 1, -0.5, 0.5)).max() <= 0.5
    assert np.abs(filled('xavier_uniform_', (20, 30, 3))).max() <= math.sqrt(6 / 150) + 1e-6


def test_structure():
    assert (filled('constant_', (2, 3), 1.5) == 1.5).all() and (filled('ones_', (2,)) == 1).all()
    np.testing.assert_array_equal(filled('eye_', (3, 4)), np.eye(3, 4))
    for shape in ((5, 3, 2), (4, 9), (6, 6)):
        rows = filled('orthogonal_', shape, 2.0).reshape(shape[0], -1)
        rows = rows if rows.shape[0] <= rows.shape[1] else rows.T
        np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(len(rows)), atol=1e-5)
    assert ((filled('sparse_', (10, 6), 0.25) == 0).sum(0) == 3).all()


def test_truncated_numbers_end():
    assert np.abs(filled('lecun_normal_', (50, 100))).max() <= 2 * math.sqrt(1 / 100) / 0.8796


def test_stft_is_a_fourier_transform():
    x, window = np.random.default_rng(0).uniform(-1, 1, 8), np.hanning(8)
    spectrum = np.fft.rfft(x * window)
    for side in ('real', 'imag'):
        kernel = filled('stft_', (8, 1, 5), side, scaling='spectrum')[:, 0]
        np.testing.assert_allclose(x @ kernel, getattr(spectrum, side) / window.sum(), atol=1e-6)
    assert np.isclose((filled('stft_', (8, 1, 5), window=list(range(8)))[:, 0, 0] ** 2).sum(), 1)


def test_dirac_keeps_images():
    x = saltern.tensor(np.random.default_rng(0).uniform(-1, 1, (1, 4, 5, 5)))
    conv = saltern.nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False).double()
    init.dirac_(conv.weight, 2)
    np.testing.assert_array_equal(np.asarray(conv(x)), np.asarray(x))


def test_gain():
    assert init.calculate_gain('tanh') == 5 / 3
    assert init.calculate_gain('leaky_relu', 0.2) == math.sqrt(2 / 1.04)
    with pytest.raises(ValueError, match="calculate_gain: 'nonlinearity' is 'relux'"):
        init.calculate_gain('relux')


def test_mistakes():
    with pytest.raises(ValueError, match="xavier_uniform_: 'tensor'.*at least 2 dimensions"):
        init.xavier_uniform_(saltern.zeros(3))
    with pytest.raises(ValueError, match="trunc_normal_: 'a' is 2.*less than b"):
        init.trunc_normal_(saltern.zeros(3), 0, 1, 2, 1)
