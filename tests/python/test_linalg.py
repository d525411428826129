"""saltern.linalg beside numpy.linalg, its gradients of first and second order beside differences, and what it refuses."""
import numpy as np
import pytest

import saltern
from checks import check_gradients

linalg = saltern.linalg
RANDOM = np.random.default_rng(3)
SQUARE = [(1, 1), (3, 3), (5, 5), (2, 3, 3), (2, 2, 2, 2)]
ANY = SQUARE + [(4, 3), (3, 4), (2, 5, 2), (2, 1, 3)]
EMPTY = [(0, 0), (2, 0, 0), (0, 3, 3)]


def drawn(shape):
    """Regular matrices whose singular values lie apart."""
    return RANDOM.standard_normal(shape) + 2 * np.eye(*shape[-2:])


def symmetric(x):
    return (x + x.mT) * 0.5


def positive(x):
    return x @ x.mT + saltern.tensor(np.eye(x.shape[-1]))


def transposed(x):
    return np.swapaxes(x, -1, -2)


# Each with what NumPy makes of the same matrices; those of symmetric matrices are given symmetric ones.
OF_SQUARE = {
    'inv': (linalg.inv, np.linalg.inv),
    'det': (linalg.det, np.linalg.det),
    'slogdet': (linalg.slogdet, np.linalg.slogdet),
    'power': (lambda x: linalg.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5)),
    'no power': (lambda x: linalg.matrix_power(x, 0), lambda x: np.linalg.matrix_power(x, 0)),
    'negative power': (lambda x: linalg.matrix_power(x, -3), lambda x: np.linalg.matrix_power(x, -3)),
    'cholesky': (lambda x: linalg.cholesky(positive(x)), lambda x: np.linalg.cholesky(x @ transposed(x) + np.eye(x.shape[-1]))),
    'upper cholesky': (lambda x: linalg.cholesky(positive(x), upper=True),
                       lambda x: transposed(np.linalg.cholesky(x @ transposed(x) + np.eye(x.shape[-1])))),
    'eigvalsh': (lambda x: linalg.eigvalsh(symmetric(x)), lambda x: np.linalg.eigvalsh((x + transposed(x)) / 2)),
    'cond': (lambda x: linalg.cond(x, 1), lambda x: np.linalg.cond(x, 1)),
}
OF_ANY = {
    'svdvals': (linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False)),
    'pinv': (linalg.pinv, np.linalg.pinv),
    'norm': (linalg.norm, lambda x: np.sqrt((x * x).sum())),
    'cond': (linalg.cond, np.linalg.cond),
    'rank': (linalg.matrix_rank, np.linalg.matrix_rank),
}
for order in ('fro', 'nuc', np.inf, -np.inf, 1, -1, 2, -2):
    OF_ANY[f'norm {order}'] = (lambda x, p=order: linalg.matrix_norm(x, p),
                               lambda x, p=order: np.linalg.norm(x, p, axis=(-2, -1)))


def beside_numpy(ours, theirs, x, rtol=1e-9):
    found, wanted = ours(saltern.tensor(x)), theirs(x)
    for f, w in zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(np.asarray(f), w, rtol=rtol, atol=rtol)


CASES = [(name, s) for name in OF_SQUARE for s in SQUARE] + [(name, s) for name in OF_ANY for s in ANY]


@pytest.mark.parametrize('name, shape', CASES, ids=str)
def test_beside_numpy(name, shape):
    ours, theirs = OF_ANY[name] if (name, shape) in [(n, s) for n in OF_ANY for s in ANY] else OF_SQUARE[name]
    x = drawn(shape)
    beside_numpy(ours, theirs, x)
    beside_numpy(ours, theirs, x.astype(np.float32), 2e-4)
    check_gradients(ours, [x])


@pytest.mark.parametrize('shape', SQUARE, ids=str)
def test_eigenvectors(shape):
    a = drawn(shape) + np.diag(np.arange(shape[-1]))
    a = a + transposed(a)
    w, v = linalg.eigh(saltern.tensor(a))
    np.testing.assert_allclose(np.asarray(w), np.linalg.eigvalsh(a), rtol=1e-9)
    np.testing.assert_allclose(a @ np.asarray(v), np.asarray(v) * np.asarray(w)[..., None, :], atol=1e-9)
    np.testing.assert_array_equal(np.asarray(linalg.eigh(saltern.tensor(np.tril(a))).eigenvalues), np.asarray(w))
    np.testing.assert_array_equal(np.asarray(linalg.eigh(saltern.tensor(np.triu(a)), UPLO='U').eigenvalues), np.asarray(w))
    check_gradients(lambda x: linalg.eigh(symmetric(x)), [a])


@pytest.mark.parametrize('shape', ANY, ids=str)
@pytest.mark.parametrize('whole', [False, True])
def test_singular_vectors(shape, whole):
    a = drawn(shape) * np.linspace(1, 2, shape[-1])
    k = min(shape[-2:])
    u, s, v = (np.asarray(t) for t in linalg.svd(saltern.tensor(a), full_matrices=whole))
    assert u.shape[-1] == (shape[-2] if whole else k) and v.shape[-2] == (shape[-1] if whole else k)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ v[..., :k, :], a, atol=1e-12)
    np.testing.assert_allclose(transposed(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), transposed(u).shape[:-1] + u.shape[-1:]),
                               atol=1e-12)
    check_gradients(lambda x: linalg.svd(x, False), [a])


@pytest.mark.parametrize('shape', ANY, ids=str)
@pytest.mark.parametrize('mode', ['reduced', 'complete', 'r'])
def test_qr(shape, mode):
    a = drawn(shape)
    q, r = (np.asarray(t) for t in linalg.qr(saltern.tensor(a), mode))
    wanted = np.linalg.qr(a, mode)
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1) * np.diagonal(wanted if mode == 'r' else wanted[1], axis1=-2, axis2=-1))
    k = signs.shape[-1]
    np.testing.assert_allclose(r[..., :k, :] * signs[..., None], (wanted if mode == 'r' else wanted[1])[..., :k, :], atol=1e-9)
    if mode != 'r':
        np.testing.assert_allclose(q @ r, a, atol=1e-12)
        assert q.shape == wanted[0].shape and r.shape == wanted[1].shape
    if mode != 'complete' or shape[-2] <= shape[-1]:
        check_gradients(lambda x: linalg.qr(x, mode)[1 if mode == 'r' else 0:], [a])
    else:
        with pytest.raises(ValueError, match="the mode 'reduced' has"):
            linalg.qr(saltern.tensor(a, requires_grad=True), mode).Q.sum().backward()


@pytest.mark.parametrize('a, b, left', [
    ((3, 3), (3, 2), True), ((3, 3), (3,), True), ((2, 3, 3), (3, 2), True), ((3, 3), (2, 3, 1), True), ((2, 3, 3), (2, 3), True),
    ((1, 1), (1, 1), True), ((3, 3), (2, 3), False), ((2, 1, 3, 3), (4, 3, 2), True),
], ids=str)
def test_solve(a, b, left):
    x, y = drawn(a), RANDOM.standard_normal(b)
    right = y[..., None] if y.ndim == 1 or b == a[:-1] else y
    wanted = np.linalg.solve(x, right) if left else transposed(np.linalg.solve(transposed(x), transposed(right)))
    found = np.asarray(linalg.solve(saltern.tensor(x), saltern.tensor(y), left=left))
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-9)
    check_gradients(lambda x, y: linalg.solve(x, y, left=left), [x, y])


@pytest.mark.parametrize('upper', [False, True])
@pytest.mark.parametrize('left', [False, True])
@pytest.mark.parametrize('unit', [False, True])
def test_solve_triangular(upper, left, unit):
    x, y = drawn((2, 3, 3)), RANDOM.standard_normal((3, 3))
    part = np.triu(x) if upper else np.tril(x)
    if unit:
        part = part - part * np.eye(3) + np.eye(3)
    wanted = np.linalg.solve(part, y) if left else transposed(np.linalg.solve(transposed(part), y.T))
    solve = lambda x, y: linalg.solve_triangular(x, y, upper=upper, left=left, unitriangular=unit)
    np.testing.assert_allclose(np.asarray(solve(saltern.tensor(x), saltern.tensor(y))), wanted, rtol=1e-9)
    check_gradients(solve, [x, y])


@pytest.mark.parametrize('a, b', [((5, 3), (5, 2)), ((5, 3), (5,)), ((3, 5), (3, 2)), ((3, 3), (3, 1))], ids=str)
def test_least_squares(a, b):
    x, y = drawn(a), RANDOM.standard_normal(b)
    wanted, residuals, rank, values = np.linalg.lstsq(x, y, rcond=None)
    found = linalg.lstsq(saltern.tensor(x), saltern.tensor(y))
    np.testing.assert_allclose(np.asarray(found.solution), wanted, rtol=1e-9)
    np.testing.assert_allclose(np.asarray(found.residuals), residuals, rtol=1e-9)
    np.testing.assert_allclose(np.asarray(found.singular_values), values, rtol=1e-9)
    assert found.rank.item() == rank
    check_gradients(lambda x, y: linalg.lstsq(x, y)[:2], [x, y])


def test_pinv_of_dependent_rows():
    thin = RANDOM.standard_normal((5, 2))
    of = lambda t: linalg.pinv(t @ t.mT, rtol=1e-10)
    np.testing.assert_allclose(np.asarray(of(saltern.tensor(thin))), np.linalg.pinv(thin @ thin.T, rcond=1e-10), rtol=1e-6)
    assert linalg.matrix_rank(saltern.tensor(thin @ thin.T)).item() == 2
    check_gradients(of, [thin])


@pytest.mark.parametrize('shape', [(1, 1), (3, 3), (2, 2, 2)], ids=str)
def test_matrix_exp(shape):
    a, term, wanted = drawn(shape), np.eye(shape[-1]), np.eye(shape[-1])
    for n in range(1, 60):
        term = term @ a / n
        wanted = wanted + term
    np.testing.assert_allclose(np.asarray(linalg.matrix_exp(saltern.tensor(a))), wanted, rtol=1e-9)
    check_gradients(linalg.matrix_exp, [a])


@pytest.mark.parametrize('order', [0, 1, 2, 3, 0.5, np.inf, -np.inf])
@pytest.mark.parametrize('dim, keep', [(None, False), (1, True), (-1, False)])
def test_vector_norms(order, dim, keep):
    x = RANDOM.standard_normal((3, 4))
    wanted = np.linalg.norm(x.ravel() if dim is None else x, order, axis=None if dim is None else dim, keepdims=keep)
    for function in (linalg.vector_norm, linalg.norm)[:2 if dim is not None else 1]:
        np.testing.assert_allclose(np.asarray(function(saltern.tensor(x), order, dim, keep)), wanted, rtol=1e-9)
    check_gradients(lambda x: linalg.vector_norm(x, order, dim, keep), [x])


def test_norms_of_other_dimensions():
    x = RANDOM.standard_normal((2, 3, 4))
    for p in ('fro', 1, 2):
        np.testing.assert_allclose(np.asarray(linalg.matrix_norm(saltern.tensor(x), p, dim=(2, 0), keepdim=True)),
                                   np.linalg.norm(x, p, axis=(2, 0), keepdims=True), rtol=1e-9)


def test_products():
    a, b, c, d = (RANDOM.standard_normal(s) for s in [(7, 2), (2, 9), (9, 3), (3,)])
    product = lambda *xs: linalg.multi_dot(xs)
    for factors in ([a, b], [a, b, c], [a, b, c, d], [a[0], b, c, d]):
        np.testing.assert_allclose(np.asarray(product(*map(saltern.tensor, factors))), np.linalg.multi_dot(factors), rtol=1e-9)
        check_gradients(product, factors)
    x, y = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((2, 1, 3))
    np.testing.assert_allclose(np.asarray(linalg.cross(saltern.tensor(x), saltern.tensor(y))), np.cross(x, y), rtol=1e-9)
    check_gradients(linalg.cross, [x, y])


@pytest.mark.parametrize('shape', EMPTY, ids=str)
def test_empty(shape):
    x = np.zeros(shape)
    for name in ('inv', 'det', 'slogdet', 'cholesky', 'eigvalsh'):
        beside_numpy(OF_SQUARE[name][0], OF_SQUARE[name][1], x)
        check_gradients(OF_SQUARE[name][0], [x])
    for function in (linalg.svd, linalg.qr, linalg.eigh):
        assert [t.shape for t in function(saltern.tensor(x))] == [t.shape for t in getattr(np.linalg, function.__name__)(x)]


def test_empty_sides():
    for shape in ((3, 0), (0, 3), (2, 3, 0)):
        x = np.zeros(shape)
        for whole in (False, True):
            u, s, v = np.linalg.svd(x, full_matrices=whole)
            found = linalg.svd(saltern.tensor(x), whole)
            assert [t.shape for t in found] == [u.shape, s.shape, v.shape]
            np.testing.assert_array_equal(np.asarray(found.U), u)
        assert linalg.pinv(saltern.tensor(x)).shape == np.linalg.pinv(x).shape
        assert linalg.solve(saltern.tensor(np.eye(3)), saltern.tensor(np.zeros((3, 0)))).shape == (3, 0)
        check_gradients(lambda x: linalg.svdvals(x), [x])


def test_singular_determinants():
    """Of rank n - 1, the gradient of the determinant is not 0; NumPy's cofactors by hand."""
    a = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
    x = saltern.tensor(a, requires_grad=True)
    linalg.det(x).backward()
    minors = [[(-1)**(i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(np.asarray(x.grad), minors, atol=1e-12)
    sign, log = linalg.slogdet(saltern.tensor(np.zeros((2, 2))))
    assert sign.item() == 0 and log.item() == -np.inf


SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])


@pytest.mark.parametrize('call, says', [
    (lambda: linalg.inv(saltern.tensor(SINGULAR)), r'linalg.inv: matrix 1 of the batch of .*2, 2, 2.* is singular'),
    (lambda: linalg.inv(saltern.tensor(SINGULAR[1])), 'linalg.inv: the matrix is singular'),
    (lambda: linalg.solve(saltern.tensor(SINGULAR), saltern.tensor(np.ones(2))), 'linalg.solve: matrix 1 of the batch'),
    (lambda: linalg.cholesky(saltern.tensor(SINGULAR * -1.0)), 'linalg.cholesky: matrix 0 of the batch .* not positive definite'),
    (lambda: linalg.cholesky(saltern.tensor(np.full((2, 2), np.nan))), 'not positive definite'),
    (lambda: linalg.solve_triangular(saltern.tensor(np.zeros((2, 2))), saltern.tensor(np.ones((2, 1))), upper=True), 'diagonal has a 0'),
    (lambda: linalg.svd(saltern.tensor(np.full((2, 2), np.inf))), 'linalg.svd: the matrix has elements that are infinite'),
    (lambda: linalg.eigh(saltern.tensor(np.full((2, 2), np.nan))), 'linalg.eigh: the matrix has elements that are infinite'),
    (lambda: linalg.inv(saltern.tensor(np.ones((2, 3)))), r"linalg.inv: 'A' is .*; expected square matrices"),
    (lambda: linalg.inv(saltern.tensor(np.ones(3))), r"linalg.inv: 'A' is .*; expected matrices"),
    (lambda: linalg.inv(saltern.tensor(np.eye(3, dtype=np.int64))), "expected f32 or f64"),
    (lambda: linalg.solve(saltern.tensor(np.eye(3)), saltern.tensor(np.ones((2, 2)))), "linalg.solve: 'A' is .* and 'B'"),
    (lambda: linalg.solve(saltern.tensor(np.eye(3)), saltern.tensor(np.ones((3, 2), np.float32))), "linalg.solve: 'B' is f32"),
    (lambda: linalg.qr(saltern.tensor(np.eye(3)), 'full'), "'mode' is 'full'; expected one of"),
    (lambda: linalg.matrix_norm(saltern.tensor(np.eye(3)), 'max'), "'ord' is 'max'"),
    (lambda: linalg.matrix_norm(saltern.tensor(np.eye(3)), 3), "'ord' is 3"),
    (lambda: linalg.cross(saltern.tensor(np.ones(4)), saltern.tensor(np.ones(4))), 'a dimension of extent 3'),
    (lambda: linalg.multi_dot([saltern.tensor(np.eye(3))]), 'at least two'),
    (lambda: linalg.lstsq(saltern.tensor(np.eye(3)), saltern.tensor(np.ones((2, 1)))), "'B' is .*; expected as many rows"),
], ids=lambda x: x if isinstance(x, str) else '')
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()
