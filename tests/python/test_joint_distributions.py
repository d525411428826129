"""Distributions of several numbers at once, and those that are made of others, beside NumPy and integrals."""
import itertools
import math

import numpy as np

import saltern
from checks import check_gradients
from saltern import distributions as D


def t(*values):
    return saltern.tensor(np.array(values, np.float64))


LOC, ROOT = np.array([0.5, -1.0, 2.0]), np.array([[1.0, 0, 0], [0.5, 1.5, 0], [-0.3, 0.2, 0.8]])


def test_multivariate_normal():
    covariance = ROOT @ ROOT.T
    x = np.random.default_rng(1).standard_normal((4, 3))
    away = x - LOC
    wanted = -0.5 * (np.einsum('ni,ij,nj->n', away, np.linalg.inv(covariance), away) + np.linalg.slogdet(covariance)[1] + 3 * math.log(2 * math.pi))
    for given in ({'covariance_matrix': covariance}, {'scale_tril': ROOT}, {'precision_matrix': np.linalg.inv(covariance)}):
        (key, matrix), = given.items()
        d = D.MultivariateNormal(saltern.tensor(LOC), **{key: saltern.tensor(matrix)})
        np.testing.assert_allclose(np.asarray(d.log_prob(saltern.tensor(x))), wanted, rtol=1e-9)
        np.testing.assert_allclose(np.asarray(d.covariance_matrix), covariance, rtol=1e-9)
        np.testing.assert_allclose(np.asarray(d.variance), np.diag(covariance), rtol=1e-9)
        np.testing.assert_allclose(d.entropy().item(), 0.5 * np.linalg.slogdet(2 * math.pi * math.e * covariance)[1], rtol=1e-9)
    saltern.manual_seed(1)
    draws = np.asarray(d.sample((20000,)))
    np.testing.assert_allclose(draws.mean(0), LOC, atol=0.06)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.12)
    batch = D.MultivariateNormal(saltern.tensor(np.stack([LOC, -LOC])), scale_tril=saltern.tensor(ROOT))
    assert batch.sample((5,)).shape == (5, 2, 3) and batch.log_prob(saltern.tensor(x[:, None])).shape == (4, 2)
    q = D.MultivariateNormal(saltern.tensor(np.zeros(3)), saltern.tensor(np.eye(3) * 2))
    kl = 0.5 * (np.trace(covariance) / 2 + LOC @ LOC / 2 - 3 + 3 * math.log(2) - np.linalg.slogdet(covariance)[1])
    np.testing.assert_allclose(D.kl_divergence(d, q).item(), kl, rtol=1e-9)
    check_gradients(lambda loc, root: D.MultivariateNormal(loc, root @ root.mT).log_prob(saltern.tensor(x)), [LOC, ROOT])


def test_shares_and_counts():
    c = np.array([0.6, 1.5, 3.0])
    d = D.Dirichlet(saltern.tensor(c))
    x = np.array([0.2, 0.3, 0.5])
    wanted = math.lgamma(c.sum()) - sum(map(math.lgamma, c)) + ((c - 1) * np.log(x)).sum()
    np.testing.assert_allclose(d.log_prob(saltern.tensor(x)).item(), wanted, rtol=1e-12)
    saltern.manual_seed(5)
    draws = np.asarray(d.sample((20000,)))
    np.testing.assert_allclose(draws.sum(-1), 1)
    np.testing.assert_allclose(draws.mean(0), np.asarray(d.mean), atol=0.01)
    np.testing.assert_allclose(draws.var(0), np.asarray(d.variance), rtol=0.05)
    entropy = -np.asarray(d.log_prob(saltern.tensor(draws))).mean()
    np.testing.assert_allclose(d.entropy().item(), entropy, atol=0.05)
    check_gradients(lambda c: [D.Dirichlet(c).log_prob(saltern.tensor(x)), D.Dirichlet(c).entropy()], [c])
    p = np.array([0.2, 0.5, 0.3])
    m = D.Multinomial(5, saltern.tensor(p))
    total = 0
    for counts in itertools.product(range(6), repeat=3):
        if sum(counts) == 5:
            found = math.exp(m.log_prob(t(*counts)).item())
            ways = math.factorial(5) / np.prod([math.factorial(k) for k in counts])
            np.testing.assert_allclose(found, ways * np.prod(p**np.array(counts)), rtol=1e-9)
            total += found
    np.testing.assert_allclose(total, 1, rtol=1e-9)
    counts = np.asarray(m.sample((5000,)))
    assert (counts.sum(-1) == 5).all()
    np.testing.assert_allclose(counts.mean(0), 5 * p, atol=0.08)
    one = D.OneHotCategorical(logits=saltern.tensor(np.log(p) + 3))
    np.testing.assert_allclose(np.asarray(one.sample((5000,))).mean(0), p, atol=0.03)
    np.testing.assert_allclose(np.asarray(one.log_prob(t(0, 1, 0))), math.log(0.5), rtol=1e-9)
    np.testing.assert_allclose(D.Categorical(logits=saltern.tensor(np.log(p))).entropy().item(), -(p * np.log(p)).sum(), rtol=1e-9)


def test_compositions():
    normal = D.Normal(t(0.1, 0.7, -0.2), t(1.0, 2.0, 0.5))
    whole = D.Independent(normal, 1)
    x = t(0.3, 0.1, -0.4)
    assert whole.event_shape == (3,) and whole.batch_shape == () and whole.sample((2,)).shape == (2, 3)
    np.testing.assert_allclose(whole.log_prob(x).item(), np.asarray(normal.log_prob(x)).sum())
    np.testing.assert_allclose(D.kl_divergence(whole, D.Independent(D.Normal(t(0, 0, 0), 1.0), 1)).item(),
                               np.asarray(D.kl_divergence(normal, D.Normal(t(0, 0, 0), 1.0))).sum())
    log_normal = D.LogNormal(0.2, 0.4)
    made = D.TransformedDistribution(D.Normal(0.2, 0.4), D.ExpTransform())
    y = t(0.5, 1.0, 2.0)
    np.testing.assert_allclose(np.asarray(made.log_prob(y)), np.asarray(log_normal.log_prob(y)), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(made.cdf(y)), np.asarray(log_normal.cdf(y)), rtol=1e-5)
    for transforms in ([D.AffineTransform(0.5, -2.0)], [D.SigmoidTransform()], [D.TanhTransform()],
                       [D.AffineTransform(0.2, 0.5), D.TanhTransform()]):
        d = D.TransformedDistribution(D.Normal(t(0.1), t(0.6)), transforms)
        at = np.linspace(-12, 12, 60001)
        if len(transforms) > 1 or not isinstance(transforms[0], D.AffineTransform):
            edge = 1e-9
            at = np.linspace(edge if isinstance(transforms[0], D.SigmoidTransform) else -1 + edge, 1 - edge, 60001)
        p = np.exp(np.asarray(d.log_prob(saltern.tensor(at)))) * (at[1] - at[0])
        assert abs(p.sum() - 1) < 1e-3
        np.testing.assert_allclose(np.asarray(d.cdf(saltern.tensor(at[::5000]))), (np.cumsum(p) - p / 2)[::5000], atol=1e-3)
