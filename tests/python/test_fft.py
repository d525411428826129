"""saltern.fft beside numpy.fft, complex numbers beside NumPy's, and gradients of first and second order beside differences."""
import numpy as np
import pytest

import saltern
from checks import check_gradients

fft = saltern.fft
RANDOM = np.random.default_rng(5)


def real(*shape):
    return RANDOM.standard_normal(shape)


def complex(*shape):
    return real(*shape) + 1j * real(*shape)


def pairs(z):
    return np.stack([z.real, z.imag], -1)


def of_pairs(function):
    """The function of complex numbers as one of pairs to pairs."""
    def of(*all):
        y = function(*map(saltern.view_as_complex, all))
        return saltern.view_as_real(y) if saltern.is_complex(y) else y
    return of


ONE = [dict(), dict(n=4), dict(n=9), dict(dim=0), dict(norm='ortho'), dict(norm='forward', n=5), dict(n=1)]
MANY = [dict(), dict(s=(3, 4)), dict(s=(2, 6), dim=(0, 2)), dict(dim=(2, 0)), dict(norm='ortho'), dict(norm='forward', dim=(0, 1))]
COMPLEX = [(name, o) for name in ('fft', 'ifft', 'irfft', 'hfft') for o in ONE] + \
          [(name, o) for name in ('fft2', 'ifft2', 'fftn', 'ifftn', 'irfft2', 'irfftn') for o in MANY]
REAL = [(name, o) for name in ('rfft', 'ihfft', 'fft') for o in ONE] + [(name, o) for name in ('rfft2', 'rfftn', 'fftn') for o in MANY]


def in_numpy(name, x, options):
    many = name.endswith(('2', 'n'))
    options = {('axes' if many else 'axis') if key == 'dim' else key: value for key, value in options.items()}
    if many and 's' in options:
        options.setdefault('axes', (-2, -1))
    return getattr(np.fft, name)(x, **options)


@pytest.mark.parametrize('name, options', COMPLEX, ids=str)
def test_complex_beside_numpy(name, options):
    z = complex(3, 5, 4)
    np.testing.assert_allclose(np.asarray(getattr(fft, name)(saltern.tensor(z), **options)), in_numpy(name, z, options), atol=1e-12)
    check_gradients(of_pairs(lambda z: getattr(fft, name)(z, **options)), [pairs(complex(2, 3, 3))])


@pytest.mark.parametrize('name, options', REAL, ids=str)
def test_real_beside_numpy(name, options):
    x = real(3, 5, 4)
    np.testing.assert_allclose(np.asarray(getattr(fft, name)(saltern.tensor(x), **options)), in_numpy(name, x, options), atol=1e-12)
    check_gradients(lambda x: saltern.view_as_real(getattr(fft, name)(x, **options)), [real(2, 3, 3)])


@pytest.mark.parametrize('n', [1, 2, 3, 7, 8, 13, 60, 64, 67, 97, 127, 128, 1009, 1021 * 2, 4096, 44100, 10007])
def test_lengths(n):
    z = complex(n)
    for dtype, error in ((np.complex128, 1e-13), (np.complex64, 1e-6)):
        found = np.asarray(fft.fft(saltern.tensor(z.astype(dtype))))
        assert found.dtype == dtype
        wanted = np.fft.fft(z)
        assert np.abs(found - wanted).max() <= error * np.abs(wanted).max() * 4
        back = np.asarray(fft.ifft(fft.fft(saltern.tensor(z.astype(dtype)))))
        assert np.abs(back - z).max() <= error * 20


@pytest.mark.parametrize('n', [1, 2, 5, 8])
def test_frequencies_and_shifts(n):
    np.testing.assert_allclose(np.asarray(fft.fftfreq(n, 0.5)), np.fft.fftfreq(n, 0.5), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(fft.rfftfreq(n, 0.5)), np.fft.rfftfreq(n, 0.5), rtol=1e-6)
    x, z = real(n, 3), complex(n, 3)
    for function in ('fftshift', 'ifftshift'):
        for dim in (None, 0, (0, 1), -1):
            for a in (x, z):
                np.testing.assert_array_equal(np.asarray(getattr(fft, function)(saltern.tensor(a), dim)), getattr(np.fft, function)(a, dim))
    check_gradients(fft.fftshift, [x])


A, B = complex(3, 4), complex(3, 4)


@pytest.mark.parametrize('name, function', [
    ('add', lambda a, b: a + b), ('add real', lambda a, b: a + 2.0), ('from', lambda a, b: 1 - a), ('mul', lambda a, b: a * b),
    ('mul number', lambda a, b: a * (2 - 1j)), ('scaled', lambda a, b: 3 * a), ('div', lambda a, b: a / b), ('under', lambda a, b: 1 / a),
    ('matmul', lambda a, b: a @ (b.T if isinstance(b, np.ndarray) else b.transpose(0, 1))), ('neg', lambda a, b: -a),
    ('conj', lambda a, b: a.conj()), ('part', lambda a, b: a[1:, 2]), ('sum', lambda a, b: a.sum(1)), ('mean', lambda a, b: a.mean(0)),
    ('real', lambda a, b: a.real), ('imag', lambda a, b: a.imag), ('abs', lambda a, b: abs(a)),
    ('angle', lambda a, b: np.angle(a) if isinstance(a, np.ndarray) else a.angle()), ('reshape', lambda a, b: a.reshape(2, -1)),
    ('exp', lambda a, b: np.exp(a) if isinstance(a, np.ndarray) else a.exp()),
])
def test_arithmetic_beside_numpy(name, function):
    np.testing.assert_allclose(np.asarray(function(saltern.tensor(A), saltern.tensor(B))), function(A, B), rtol=1e-12)
    check_gradients(of_pairs(function), [pairs(A), pairs(B)])


def test_real_and_complex_mix():
    x = real(3, 4)
    for name, function in {'add': lambda x, z: x + z, 'sub': lambda x, z: x - z, 'mul': lambda x, z: x * z, 'div': lambda x, z: x / z,
                           'over': lambda x, z: z / x, 'matmul': lambda x, z: x @ z.reshape(4, 3)}.items():
        np.testing.assert_allclose(np.asarray(function(saltern.tensor(x), saltern.tensor(A))), function(x, A), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(np.asarray(function(x, saltern.tensor(A))), function(x, A), rtol=1e-12, err_msg=name)


def test_making_complex_numbers():
    x, y = real(3), real(3)
    np.testing.assert_array_equal(np.asarray(saltern.complex(saltern.tensor(x), saltern.tensor(y))), x + 1j * y)
    np.testing.assert_allclose(np.asarray(saltern.polar(saltern.tensor(x), saltern.tensor(y))), x * np.exp(1j * y))
    z = saltern.tensor([1 + 2j, 3])
    assert z.dtype == 'complex64' and saltern.tensor(np.array([1j])).dtype == 'complex128' and z.shape == (2,)
    assert z.tolist() == [1 + 2j, 3] and saltern.real(z).tolist() == [1, 3] and saltern.imag(z).tolist() == [2, 0]
    np.testing.assert_allclose(np.asarray(saltern.angle(saltern.tensor([-1.0, 2.0]))), [np.pi, 0], rtol=1e-6)


def test_gradients_are_those_of_pairs():
    """d/dx + i d/dy: of |z|^2 that is 2 z; and 0 for |z| at 0."""
    z = saltern.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    g, = saltern.autograd.grad((z.abs()**2).sum(), z)
    np.testing.assert_allclose(np.asarray(g), [2 + 4j, 6 - 2j], rtol=1e-6)
    zero = saltern.tensor([0j], requires_grad=True)
    zero.abs().sum().backward()
    assert zero.grad.tolist() == [0]


@pytest.mark.parametrize('call, error, says', [
    (lambda x: fft.rfft(saltern.tensor([1j])), TypeError, "fft.rfft: 'input' is complex"),
    (lambda x: fft.fft(x, n=0), ValueError, "'n' is 0"),
    (lambda x: fft.fft(x, dim=3), IndexError, 'dimension 3'),
    (lambda x: fft.fft(x, norm='best'), ValueError, "'norm' is 'best'"),
    (lambda x: fft.fftn(x, s=(1, 2, 3)), ValueError, "'s' is"),
    (lambda x: fft.fftn(x, s=(1, 2), dim=(0,)), ValueError, 'a size for each dimension'),
    (lambda x: fft.fftn(x, dim=(0, 0)), ValueError, 'each dimension once'),
    (lambda x: fft.irfft(x[:, :1]), ValueError, 'at least 1 element'),
    (lambda x: saltern.view_as_complex(saltern.tensor([1.0, 2.0, 3.0])), ValueError, r'expected \(..., 2\)'),
    (lambda x: saltern.view_as_real(x), TypeError, 'expected a ComplexTensor'),
])
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call(saltern.tensor(real(2, 3)))
