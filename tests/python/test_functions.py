"""Functions of tensors beside NumPy's, and their gradients of first and second order beside differences."""
import math

import numpy as np
import pytest

import saltern
from checks import check_function, check_gradients

random = np.random.default_rng(5)
X, Y, V = random.uniform(-2, 2, (3, 4)), random.uniform(-2, 2, (3, 4)), random.uniform(-2, 2, 5)
POSITIVE, CUBE = random.uniform(0.2, 2, (3, 4)), random.uniform(-2, 2, (2, 3, 4))
INDEX = np.array([[2, 0, 1, 0], [1, 1, 0, 2]])
ROWS = np.array([2, 0, 2])
MASK = X > 0
functional = saltern.nn.functional


def running(extreme, x, d):
    """What was the extreme so far, and where; x has no equal ones."""
    so_far = extreme.accumulate(x, d)
    places = np.where(so_far == x, np.indices(x.shape)[d], 0)
    return so_far, np.maximum.accumulate(places, d)


def diagonal_written(x, values):
    x = x.copy()
    np.fill_diagonal(x, values)
    return x


def at(x, index, values, accumulate=False):
    x = x.copy()
    if accumulate:
        np.add.at(x, index, values)
    else:
        x[index] = values
    return x


def reduced_rows(x, rows, source, function):
    x = x.copy()
    function.at(x, rows, source)
    return x


# name, what it is called with (arrays that are real are differentiated), what NumPy says.
FUNCTIONS = [
    ('hypot', (X, Y), np.hypot),
    ('copysign', (X, Y), np.copysign),
    ('logaddexp', (X, Y), np.logaddexp),
    ('logaddexp2', (X, Y), np.logaddexp2),
    ('fmax', (X, Y), np.fmax),
    ('fmin', (X, 0.5), np.fmin),
    ('heaviside', (X, Y), np.heaviside),
    ('rsub', (X, Y), lambda x, y: y - x),
    ('addcmul', (X, Y, POSITIVE), lambda x, y, z: x + y * z),
    ('addcdiv', (X, Y, POSITIVE), lambda x, y, z: x + y / z),
    ('clamp_min', (X, 0.3), np.maximum),
    ('clamp_max', (X, 0.3), np.minimum),
    ('deg2rad', (X,), np.deg2rad),
    ('signbit', (X,), np.signbit),
    ('isfinite', (X,), np.isfinite),
    ('nan_to_num', (np.array([1, np.nan, np.inf, -np.inf]), 7.0, 8.0, 9.0), lambda *_: np.array([1, 7.0, 8, 9])),
    ('kthvalue', (X, 2, 1), lambda x, k, d: (np.sort(x, d)[:, k - 1], np.argsort(x, d)[:, k - 1])),
    ('median', (X, 1), lambda x, d: (np.sort(x, d)[:, 1], np.argsort(x, d)[:, 1])),
    ('quantile', (X, 0.3, 1), lambda x, q, d: np.quantile(x, q, axis=d)),
    ('quantile', (X, np.array([0.1, 0.75]), 0), lambda x, q, d: np.quantile(x, q, axis=d)),
    ('nanquantile', (np.where(MASK, X, np.nan), 0.4, 1), lambda x, q, d: np.nanquantile(x, q, axis=d)),
    ('cummax', (X, 1), lambda x, d: running(np.maximum, x, d)),
    ('cummin', (X, 0), lambda x, d: running(np.minimum, x, d)),
    ('logcumsumexp', (X, 1), lambda x, d: np.logaddexp.accumulate(x, d)),
    ('diff', (X, 2, 1), lambda x, n, d: np.diff(x, n, d)),
    ('nanmedian', (np.array([3.0, np.nan, 1, 2, 8], np.float32),), lambda x: np.float32(2)),
    ('trapezoid', (X,), np.trapezoid),
    ('nansum', (np.where(MASK, X, np.nan), 1), lambda x, d: np.nansum(x, d)),
    ('nanmean', (np.where(MASK, X, np.nan),), np.nanmean),
    ('count_nonzero', (np.eye(3), 1), np.count_nonzero),
    ('var_mean', (X, 1), lambda x, d: (x.var(d, ddof=1), x.mean(d))),
    ('movedim', (CUBE, 0, 2), np.moveaxis),
    ('rot90', (X, 3), np.rot90),
    ('fliplr', (X,), np.fliplr),
    ('tile', (X, [2, 1]), np.tile),
    ('repeat_interleave', (X, 2, 1), np.repeat),
    ('diagonal', (CUBE, 1, 1, 2), np.diagonal),
    ('diag_embed', (V, -1), np.diag),
    ('diag', (X, 1), np.diag),
    ('trace', (X,), np.trace),
    ('kron', (X, Y), np.kron),
    ('tensordot', (X, CUBE, [[0, 1], [1, 2]]), np.tensordot),
    ('inner', (X, Y), np.inner),
    ('cross', (CUBE, CUBE[::-1].copy(), 1), lambda x, y, d: np.cross(x, y, axis=d)),
    ('dist', (X, Y), lambda x, y: np.linalg.norm(x - y)),
    ('take', (X, INDEX), np.take),
    ('take_along_dim', (X, INDEX, 0), np.take_along_axis),
    ('masked_select', (X, MASK), lambda x, m: x[m]),
    ('masked_scatter', (X, MASK, Y), lambda x, m, y: at(x, m, y.ravel()[:m.sum()])),
    ('index_add', (X, 0, ROWS, Y), lambda x, d, i, y: at(x, i, y, True)),
    ('index_copy', (X, 0, ROWS[1:], Y[:2]), lambda x, d, i, y: at(x, i, y)),
    ('index_fill', (X, 0, ROWS, 1.5), lambda x, d, i, v: at(x, i, v)),
    ('index_put', (X, [ROWS, ROWS], V[:3], True), lambda x, i, v, _: at(x, tuple(i), v, True)),
    ('put', (X, np.array([5, 0]), V[:2]), lambda x, i, v: at(x.ravel(), i, v).reshape(x.shape)),
    ('scatter', (X, 0, INDEX, Y), lambda x, d, i, y: at(x, (i, np.arange(4)[None]), y[:2])),
    ('scatter_reduce', (X, 0, INDEX, Y, 'prod'), lambda x, d, i, y, _: reduced_rows(x, (i, np.arange(4)[None]), y[:2],
                                                                                  np.multiply)),
    ('scatter_reduce', (X, 0, INDEX, Y, 'amax'), lambda x, d, i, y, _: reduced_rows(x, (i, np.arange(4)[None]), y[:2],
                                                                                  np.maximum)),
    ('select_scatter', (X, V[:3], 1, 2), lambda x, v, d, i: at(x, (slice(None), 2), v)),
    ('slice_scatter', (X, Y[:, :2], 1, 0, 4, 2), lambda x, y, *_: at(x, (slice(None), slice(0, 4, 2)), y)),
    ('diagonal_scatter', (X, V[:3]), diagonal_written),
    ('windows_along', (X, 1, 2, 1), lambda x, d, n, s: np.lib.stride_tricks.sliding_window_view(x, n, d)),
    ('searchsorted', (np.sort(V), X), np.searchsorted),
    ('bucketize', (X, np.sort(V)), lambda x, b: np.searchsorted(b, x)),
    ('isin', (INDEX, np.array([0, 2])), np.isin),
    ('nonzero', (np.eye(3, 4, 1),), lambda x: np.argwhere(x)),
    ('unique', (INDEX, True, True, True), lambda x, *_: np.unique(x, return_inverse=True, return_counts=True)),
    ('bincount', (INDEX.ravel(),), np.bincount),
    ('histc', (X, 5, -2, 2), lambda x, b, low, high: np.histogram(x, b, (low, high))[0]),
    ('mode', (INDEX, 1), lambda x, d: (np.array([0, 1]), np.array([3, 1]))),
    ('cov', (X,), np.cov),
    ('corrcoef', (X,), np.corrcoef),
    ('combinations', (V,), lambda v: np.array([[v[i], v[j]] for i in range(5) for j in range(i + 1, 5)])),
    ('tensor_split', (X, 3, 1), lambda x, n, d: np.array_split(x, n, d)),
    ('addbmm', (X[:, :3].copy(), CUBE, CUBE.transpose(0, 2, 1).copy()), lambda x, a, b: x + (a @ b).sum(0)),
    ('logit', (np.linspace(0.05, 0.86, 6), 0.1), lambda x, e: np.log(x.clip(e, 1 - e) / (1 - x.clip(e, 1 - e)))),
    ('flip', (X, []), lambda x, _: x),
    ('norm', (np.eye(3), 0), lambda x, p: np.float64(3)),
    ('hstack', ([X, Y],), np.hstack),
    ('dstack', ([X, Y],), np.dstack),
]


@pytest.mark.parametrize('name, args, expected', FUNCTIONS, ids=lambda v: v if isinstance(v, str) else '')
def test_function(name, args, expected):
    check_function(getattr(saltern, name), args, expected, orders=1 if name in ('heaviside',) else 2)


def test_functions_of_numbers():
    """A tensor without dimensions has a dimension 0."""
    x = saltern.tensor(2.5)
    for name in ('sum', 'mean', 'amax', 'logsumexp', 'prod', 'cumsum', 'cumprod'):
        assert getattr(saltern, name)(x, 0).item() == 2.5
    assert saltern.all(x, 0).item() is True or saltern.all(x, 0).item() == 1
    values, places = saltern.sort(x, -1)
    assert values.item() == 2.5 and places.item() == 0
    with pytest.raises(IndexError, match='sum: dimension 1'):
        saltern.sum(x, 1)


def test_beta_zero_ignores_the_input():
    nan = saltern.tensor(np.full((3, 3), np.nan))
    assert np.isfinite(np.asarray(saltern.addmm(nan, saltern.tensor(X), saltern.tensor(X.T.copy()), beta=0))).all()


def test_what_is_made():
    assert saltern.arange(2, 8, 3).tolist() == [2, 5] and saltern.arange(3.0).dtype == 'float32'
    assert saltern.linspace(0, 1, 3).tolist() == [0, 0.5, 1] and saltern.eye(2).tolist() == [[1, 0], [0, 1]]
    a, b = saltern.meshgrid(saltern.tensor([1, 2]), saltern.tensor([3, 4, 5]), indexing='xy')
    assert a.tolist() == [[1, 2]] * 3 and b.tolist() == [[3, 3], [4, 4], [5, 5]]
    assert saltern.rand(3, 2).shape == (3, 2) and saltern.zeros_like(a).dtype == a.dtype


def test_mistakes():
    with pytest.raises(ValueError, match="scatter: 'src'"):
        saltern.scatter(saltern.tensor(X), 0, saltern.tensor(INDEX), saltern.tensor(V))
    with pytest.raises(ValueError, match="quantile: 'q'.*between 0 and 1"):
        saltern.quantile(saltern.tensor(X), 1.5)


@pytest.mark.parametrize('name, options', [('relu_', ()), ('elu_', (0.7,)), ('celu_', (0.7,)), ('selu_', ()), ('leaky_relu_', (0.2,)),
                                           ('rrelu_', ()), ('hardtanh_', (-1.0, 0.8)), ('threshold_', (0.1, 0.3))])
def test_what_writes_over_its_input(name, options):
    """The memory has the result, unless that is recorded; then all goes on with gradients of first and second order."""
    functional = saltern.nn.functional
    array = X.copy()
    x = saltern.from_numpy(array)
    expected = np.asarray(getattr(functional, name[:-1])(saltern.tensor(X), *options))
    assert getattr(functional, name)(x, *options) is x
    np.testing.assert_array_equal(array, expected)

    def function(x):
        y = x * x * 0.5 + x
        z = y * 3  # knows y before
        getattr(functional, name)(y, *options)
        return y.sin() + z

    check_gradients(function, [X])
    leaf = saltern.tensor(X, requires_grad=True)
    with pytest.raises(ValueError, match=f"{name}: 'input'.*a tensor that was computed"):
        getattr(functional, name)(leaf, *options)
    with saltern.no_grad():
        getattr(functional, name)(leaf, *options)
    np.testing.assert_array_equal(np.asarray(leaf), expected)


def test_products_of_groups():
    a, b = random.uniform(-1, 1, (5, 3)), random.uniform(-1, 1, (2, 3, 4))
    ends = saltern.tensor(np.array([2, 5]))
    grouped = saltern.nn.functional.grouped_mm
    columns, left, right = (random.uniform(-1, 1, shape) for shape in ((4, 5), (3, 5), (5, 4)))
    for arrays, wanted in [((a, b), np.concatenate([a[:2] @ b[0], a[2:] @ b[1]])),
                           ((b, columns), np.concatenate([b[0] @ columns[:, :2], b[1] @ columns[:, 2:]], 1)),
                           ((left, right), np.stack([left[:, :2] @ right[:2], left[:, 2:] @ right[2:]]))]:
        np.testing.assert_allclose(np.asarray(grouped(*map(saltern.tensor, arrays), offs=ends)), wanted, atol=1e-12)
        check_gradients(lambda *tensors: grouped(*tensors, offs=ends), list(arrays))
    np.testing.assert_allclose(np.asarray(grouped(saltern.tensor(b), saltern.tensor(b.transpose(0, 2, 1).copy()))),
                               b @ b.transpose(0, 2, 1))
    with pytest.raises(ValueError, match="grouped_mm: 'offs'"):
        grouped(saltern.tensor(a), saltern.tensor(b))


def test_infinite_numbers_do_not_spread():
    """0 times infinity is no number, and whoever writes a zero so gives that: values, or gradients, beside infinite ones."""
    inf = math.inf
    row = saltern.tensor([[1.0, -inf, 3.0], [-inf, -inf, 2.0]], requires_grad=True)
    slopes, = saltern.autograd.grad(saltern.amax(row, 1).sum(), row)
    np.testing.assert_array_equal(np.asarray(slopes), [[0, 0, 1], [0, 0, 1]])
    x = saltern.tensor([-inf, -2.0, 2.0, inf])
    np.testing.assert_array_equal(np.asarray(saltern.heaviside(x, saltern.tensor([inf] * 4))), [0, 0, 1, 1])
    np.testing.assert_array_equal(np.asarray(saltern.nanquantile(x, 0.0)), -inf)
    np.testing.assert_array_equal(np.asarray(saltern.nn.Masking()(saltern.tensor([[[inf, 1.0], [0.0, 0.0]]]))),
                                  [[[inf, 1], [0, 0]]])
    np.testing.assert_array_equal(np.asarray(saltern.keras.sparse_plus(x)), [0, 0, 2, inf])


SMALL = np.array([-100, -30, -17.5, -5, -0.7, -1e-3, -1e-9, 0, 1e-9, 1e-3, 0.7, 5, 17.5, 30, 100])
softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
negative = lambda x: np.minimum(x, 0)
WITHOUT_LOSS = {
    'softplus': (functional.softplus, softplus),
    'softplus of beta': (lambda x: functional.softplus(x, 2.0), lambda x: np.where(2 * x > 20, x, softplus(2 * x) / 2)),
    'logsigmoid': (functional.logsigmoid, lambda x: -softplus(-x)),
    'logaddexp': (lambda x: saltern.logaddexp(x * 0, x), softplus),
    'logaddexp2': (lambda x: saltern.logaddexp2(x * 0, x), lambda x: softplus(x * np.log(2)) / np.log(2)),
    'mish': (functional.mish, lambda x: x * np.tanh(softplus(x))),
    'logits': (lambda x: functional.binary_cross_entropy_with_logits(x, x * 0 + 1, reduction='none'), lambda x: softplus(-x)),
    'soft margin': (lambda x: functional.soft_margin_loss(x, x * 0 + 1, reduction='none'), lambda x: softplus(-x)),
    'elu': (functional.elu, lambda x: np.where(x > 0, x, np.expm1(negative(x)))),
    'celu': (lambda x: functional.celu(x, 0.5), lambda x: np.where(x > 0, x, np.expm1(negative(x) / 0.5) * 0.5)),
    'selu': (functional.selu, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(negative(x)))),
    'expm1': (lambda x: saltern.expm1(x * 0.5), lambda x: np.expm1(x * 0.5)),
    'log1p': (lambda x: saltern.log1p(x * x - 0.5), lambda x: np.log1p(x * x - 0.5)),
}


@pytest.mark.parametrize('name', WITHOUT_LOSS)
@pytest.mark.parametrize('kind, tolerance', [(np.float32, 4e-6), (np.float64, 4e-15)])
def test_small_results_have_their_digits(name, kind, tolerance):
    """1 + e^x is 1 where e^x is small, and e^x - 1 is 0 where x is: relative errors, with none that is absolute."""
    f, wanted = WITHOUT_LOSS[name]
    x = SMALL.astype(kind)
    np.testing.assert_allclose(np.asarray(f(saltern.tensor(x))), wanted(x.astype(np.float64)), rtol=tolerance, atol=1e-38)


sigmoid = lambda x: np.where(x < 0, np.exp(negative(x)), 1) / (1 + np.exp(-np.abs(x)))
SLOPES = {'softplus': sigmoid, 'logsigmoid': lambda x: sigmoid(-x), 'logaddexp': sigmoid,
          'elu': lambda x: np.exp(negative(x)), 'expm1': lambda x: 0.5 * np.exp(x * 0.5), 'logits': lambda x: -sigmoid(-x)}


@pytest.mark.parametrize('name', SLOPES)
@pytest.mark.parametrize('kind, tolerance', [(np.float32, 4e-6), (np.float64, 1e-12)])
def test_slopes_of_small_results_have_their_digits(name, kind, tolerance):
    leaf = saltern.tensor(SMALL.astype(kind), requires_grad=True)
    slopes, = saltern.autograd.grad(WITHOUT_LOSS[name][0](leaf).sum(), leaf)
    np.testing.assert_allclose(np.asarray(slopes), SLOPES[name](np.asarray(leaf, np.float64)), rtol=tolerance, atol=1e-38)
