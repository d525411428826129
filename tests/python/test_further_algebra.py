"""Old names of linear algebra, equations by factors, tensors as matrices: beside NumPy."""
import numpy as np
import saltern
from checks import check_gradients

random = np.random.default_rng(3)
A = random.standard_normal((4, 4)) + 4 * np.eye(4)
S = A @ A.T
B = random.standard_normal((4, 2))
t = saltern.tensor


def test_values():
    low = np.linalg.cholesky(S)
    for found, wanted in (
            (saltern.cholesky_solve(t(B), t(low)), np.linalg.solve(S, B)),
            (saltern.cholesky_solve(t(B), t(low.T.copy()), upper=True), np.linalg.solve(S, B)),
            (saltern.cholesky_inverse(t(low)), np.linalg.inv(S)),
            (saltern.triangular_solve(t(B), t(low), upper=False)[0], np.linalg.solve(low, B)),
            (saltern.triangular_solve(t(B), t(low), upper=False, transpose=True)[0], np.linalg.solve(low.T, B)),
            (saltern.logdet(t(S)), np.linalg.slogdet(S)[1]),
            (saltern.pinverse(t(B)), np.linalg.pinv(B)),
            (saltern.linalg.inv_ex(t(A))[0], np.linalg.inv(A)),
            (saltern.linalg.vecdot(t(A), t(S), dim=0), (A * S).sum(0)),
            (saltern.linalg.vander(t(B[:, 0].copy()), N=3), np.vander(B[:, 0], 3, increasing=True)),
            (saltern.linalg.tensorinv(t(A.reshape(4, 2, 2)), 1), np.linalg.tensorinv(A.reshape(4, 2, 2), 1)),
            (saltern.linalg.tensorsolve(t(A.reshape(2, 2, 4)), t(B[:, 0].reshape(2, 2).copy())),
             np.linalg.tensorsolve(A.reshape(2, 2, 4), B[:, 0].reshape(2, 2)))):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-10, atol=1e-12)
    assert np.isnan(saltern.logdet(t(np.diag([1.0, -1.0]))).item())
    u, s, v = saltern.svd(t(B))
    np.testing.assert_allclose(np.asarray(u) * np.asarray(s) @ np.asarray(v).T, B, rtol=1e-10)
    short = np.asarray(saltern.renorm(t(B), 2, 0, 0.5))
    np.testing.assert_allclose(np.linalg.norm(short, axis=1), np.minimum(np.linalg.norm(B, axis=1), 0.5), rtol=1e-6)


def test_gradients():
    low = np.linalg.cholesky(S)
    check_gradients(lambda b, l: saltern.cholesky_solve(b, saltern.tril(l)), [B, low])
    check_gradients(saltern.logdet, [S])
    check_gradients(lambda x: saltern.renorm(x, 2, 0, 0.5), [B])
