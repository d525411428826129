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
    for n in (1, 2, 3, 6):  # by the sum that they are, whose rest is an integral
        for at in (-8.478374, -0.3, 0.2, 3.0):
            k = np.arange(20000) + at
            wanted = (-1) ** (n + 1) * math.factorial(n) * ((1 / k ** (n + 1)).sum() + (k[-1] + 0.5) ** -n / n)
            np.testing.assert_allclose(saltern.polygamma(n, t(at)).item(), wanted, rtol=1e-8)
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


def test_bessel_functions_and_the_normal_distribution():
    """Known values, and identities: I0' = I1, and what probabilities add up to."""
    special = saltern.special
    np.testing.assert_allclose(np.asarray(special.i0(t(0.5, 3, 20, -20))),
                               [1.0634833707413236, 4.880792585865024, 43558282.559553534, 43558282.559553534], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(special.i1e(t(0.5, -3, 40))),
                               [0.1564208032, -0.1968267133, 0.0624822291], rtol=1e-8)
    x = np.array([-30.0, -8, -3, -1.2, -0.5, 0.1, 0.5, 1.9, 2.1, 6, 14.9, 15.1, 30])
    for f in (special.i0e, special.i1e, special.erfcx, special.ndtr, special.log_ndtr):
        check_gradients(f, [np.clip(x, -5, 40)])
    slope, = saltern.autograd.grad(special.i0(leaf := saltern.tensor(x, requires_grad=True)).sum(), leaf)
    np.testing.assert_allclose(np.asarray(slope), np.asarray(special.i1(saltern.tensor(x))), rtol=1e-11)
    np.testing.assert_allclose(np.asarray(special.erfcx(t(-1, 0, 1, 10))),
                               [math.exp(1) * math.erfc(-1), 1, math.exp(1) * math.erfc(1), 0.05614099274382259], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(special.log_ndtr(t(-20, 0, 3))), [-203.91715537109727, -math.log(2),
                                                                            math.log(math.erfc(-3 / math.sqrt(2)) / 2)], rtol=1e-12)
    x = [-3.0, 0.1, 1.9, 2.1, 5, 8, 20]
    for dtype, precision in ((np.float64, 1e-13), (np.float32, 2e-7)):  # tails have digits: 1 - erf(5) has four
        few = [v for v in x if dtype == np.float64 or v < 9]
        np.testing.assert_allclose(np.asarray(saltern.erfc(saltern.tensor(np.array(few, dtype)))),
                                   [math.erfc(dtype(v)) for v in few], rtol=precision * 20)
    np.testing.assert_allclose(np.asarray(special.ndtr(t(*[-v for v in x]))),
                               [math.erfc(v / math.sqrt(2)) / 2 for v in x], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(special.log_ndtr(t(10))), [-math.erfc(10 / math.sqrt(2)) / 2], rtol=1e-12)
    x, y = (a.ravel() for a in np.meshgrid([-np.inf, -2, -0.5, 0, 1, np.inf], [-np.inf, -1, 0, 3, np.inf]))
    np.testing.assert_allclose(np.asarray(saltern.atan2(saltern.tensor(y), saltern.tensor(x))), np.arctan2(y, x))
    assert np.asarray(saltern.mvlgamma(t(np.inf), 2)) == np.inf
    p = np.array([1e-300, 1e-20, 1e-6, 0.0099, 0.0101, 0.3, 0.5, 0.999])
    np.testing.assert_allclose(np.asarray(special.ndtri(t(1e-20, 0, 1))), [-9.262340089798408, -math.inf, math.inf])
    assert np.isnan(np.asarray(special.ndtri(t(-0.1, 1.1, math.nan)))).all()
    check_gradients(special.ndtri, [np.array([0.004, 0.3, 0.95])])
    check_gradients(saltern.erfc, [np.array([-2.0, 0.3, 2.5])])
    np.testing.assert_allclose(np.asarray(special.ndtr(special.ndtri(saltern.tensor(p)))), p, rtol=1e-9)
    np.testing.assert_allclose(np.asarray(special.entr(t(0, 0.5, -1))), [0, 0.5 * math.log(2), -math.inf])
    np.testing.assert_allclose(np.asarray(special.xlog1py(t(0, 2), t(-1, 1e-9))), [0, 2e-9], rtol=1e-9)
    check_gradients(special.xlog1py, [np.array([0.5, -2.0]), np.array([0.3, 4.0])])
    np.testing.assert_allclose(np.asarray(saltern.mvlgamma(t(3.0), 2)),
                               [math.log(math.pi) / 2 + math.lgamma(3) + math.lgamma(2.5)], rtol=1e-13)


def test_orthogonal_polynomials():
    special, x, n = saltern.special, np.array([-0.9, 0.2, 0.7]), 5
    polynomial = np.polynomial
    for name, family in (('chebyshev_polynomial_t', polynomial.Chebyshev), ('legendre_polynomial_p', polynomial.Legendre),
                         ('hermite_polynomial_h', polynomial.Hermite), ('hermite_polynomial_he', polynomial.HermiteE),
                         ('laguerre_polynomial_l', polynomial.Laguerre)):
        for degree in range(n):
            np.testing.assert_allclose(np.asarray(getattr(special, name)(saltern.tensor(x), degree)),
                                       family.basis(degree)(x), rtol=1e-12, atol=1e-12, err_msg=name)
    u = lambda k, x: np.sin((k + 1) * np.arccos(x)) / np.sin(np.arccos(x))
    of = lambda name: np.asarray(getattr(special, name)(saltern.tensor(x), saltern.tensor(np.array([4.0, 3, 2]))))
    k = np.array([4, 3, 2])
    np.testing.assert_allclose(of('chebyshev_polynomial_u'), u(k, x), rtol=1e-12)
    np.testing.assert_allclose(of('chebyshev_polynomial_v'), u(k, x) - u(k - 1, x), rtol=1e-12)
    np.testing.assert_allclose(of('chebyshev_polynomial_w'), u(k, x) + u(k - 1, x), rtol=1e-12)
