"""Special functions beside Python's math and known values, and their gradients beside differences."""
import math

import numpy as np
import pytest

import saltern
from checks import check_gradients


def t(*values):
    return saltern.tensor(np.array(values, np.float64))


@pytest.mark.parametrize('dtype, error', [(np.float64, 3e-15), (np.float32, 3e-7)])
def test_log_gamma(dtype, error):
    x = np.concatenate([np.logspace(-6, 8, 400), np.linspace(0.9, 2.1, 50), -np.linspace(0.05, 9.95, 100)]).astype(dtype)
    wanted = np.array([math.lgamma(v) for v in x.astype(np.float64)])
    found = np.asarray(saltern.lgamma(saltern.tensor(x)))
    assert found.dtype == dtype and (np.abs(found - wanted) <= error * np.maximum(1, np.abs(wanted)) * 4).all()
    assert np.isposinf(np.asarray(saltern.lgamma(t(0, -1, -2)))).all()


def test_derivatives_of_log_gamma():
    x = np.array([0.05, 0.4, 0.6, 1.0, 2.5, 7.0, 30.0, -0.3, -1.6])
    check_gradients(saltern.lgamma, [x])
    check_gradients(lambda x: saltern.polygamma(2, x), [np.abs(x)])
    euler = 0.57721566490153286
    np.testing.assert_allclose(np.asarray(saltern.digamma(t(1, 0.5, 2))), [-euler, -euler - 2 * math.log(2), 1 - euler], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(saltern.polygamma(1, t(1, 0.5))), [math.pi**2 / 6, math.pi**2 / 2], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(saltern.polygamma(2, t(1))), -2 * 1.2020569031595943, rtol=1e-13)
    with pytest.raises(ValueError, match="'n' is -1"):
        saltern.polygamma(-1, t(1))


def test_inverse_of_erf():
    x = np.concatenate([np.linspace(-0.9999, 0.9999, 401), [1e-9, -1e-30, 1 - 1e-12, -1 + 1e-14]])
    y = np.asarray(saltern.erfinv(saltern.tensor(x)))
    np.testing.assert_allclose([math.erf(v) for v in y], x, rtol=1e-13)
    assert np.asarray(saltern.erfinv(t(1, -1))).tolist() == [math.inf, -math.inf] and np.isnan(saltern.erfinv(t(1.1)).item())
    check_gradients(saltern.erfinv, [np.array([-0.7, 0.1, 0.95])])


def test_incomplete_gamma():
    x = np.array([1e-8, 0.1, 0.9, 1.5, 4.0, 30.0])
    one = lambda a: np.asarray(saltern.gammainc(saltern.tensor(np.full(6, a)), saltern.tensor(x)))
    np.testing.assert_allclose(one(1.0), -np.expm1(-x), rtol=1e-12)
    np.testing.assert_allclose(one(0.5), [math.erf(math.sqrt(v)) for v in x], rtol=1e-12)
    above = np.asarray(saltern.gammaincc(saltern.tensor(np.full(6, 3.0)), saltern.tensor(x)))
    np.testing.assert_allclose(above, np.exp(-x) * (1 + x + x * x / 2), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(saltern.gammaincc(t(2.0), t(1.5))), 1 - np.asarray(saltern.gammainc(t(2.0), t(1.5))))
    assert np.isnan(saltern.gammainc(t(-1), t(1)).item())
    check_gradients(saltern.gammaincc, [np.array([0.3, 2.0, 9.0]), np.array([0.4, 1.0, 12.0])], orders=1)
    check_gradients(saltern.gammainc, [np.array([0.3, 2.0, 9.0]), np.array([0.4, 1.0, 12.0])], orders=1)
    check_gradients(lambda x: saltern.gammainc(t(0.3, 2.0, 9.0), x), [np.array([0.4, 1.0, 12.0])])


def test_angles():
    y, x = np.meshgrid([-2.0, -0.5, 0, 0.5, 2.0], [-1.5, -0.1, 0, 0.1, 3.0])
    np.testing.assert_allclose(np.asarray(saltern.atan2(saltern.tensor(y), saltern.tensor(x))), np.arctan2(y, x), rtol=1e-14)
    keep = (x != 0) | (y != 0)
    check_gradients(saltern.atan2, [y[keep & (y != 0)], x[keep & (y != 0)]])
