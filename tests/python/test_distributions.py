"""saltern.distributions beside integrals of their densities, samples beside moments and distribution functions, gradients
beside differences."""
import math

import numpy as np
import pytest

import saltern
from checks import check_gradients
from saltern import distributions as D

GRID = 200001


def t(*values):
    return saltern.tensor(np.array(values, np.float64))


def of(name, parameters):
    return getattr(D, name)(*map(saltern.tensor, parameters))


# Each with parameters, and where all but nothing of it lies.
CONTINUOUS = {
    'Normal': ([0.3, 1.7], (-20, 20)),
    'LogNormal': ([0.2, 0.4], (1e-6, 30)),
    'HalfNormal': ([1.3], (0, 20)),
    'Laplace': ([-0.4, 0.8], (-30, 30)),
    'Gumbel': ([0.5, 1.2], (-15, 50)),
    'Cauchy': ([0.5, 0.7], (-1e6, 1e6)),
    'Uniform': ([-1.0, 2.5], (-1, 2.5 - 1e-12)),
    'Exponential': ([1.6], (0, 30)),
    'Gamma': ([2.5, 1.4], (1e-9, 40)),
    'Chi2': ([5.0], (1e-9, 120)),
    'Beta': ([2.5, 1.7], (1e-9, 1 - 1e-9)),
    'StudentT': ([6.0, 0.4, 1.3], (-600, 600)),
    'Weibull': ([1.5, 2.2], (1e-9, 12)),
    'Pareto': ([0.7, 6.0], (0.7, 40)),
}
DISCRETE = {
    'Bernoulli': ([0.3], 2), 'Geometric': ([0.35], 150), 'Poisson': ([3.7], 60), 'Binomial': ([7.0, 0.35], 8), 'Categorical': ([[0.2, 0.5, 0.3]], 3),
}
arrays = {name: [np.array(p) for p in ps] for name, (ps, _) in {**CONTINUOUS, **DISCRETE}.items()}


def points(name):
    """Where the density is seen, and the weight of each point."""
    if name in DISCRETE:
        return np.arange(DISCRETE[name][1], dtype=np.float64), 1
    low, high = CONTINUOUS[name][1]
    if name == 'Cauchy':  # evenly along the angle
        a = np.linspace(-math.pi / 2 + 1e-6, math.pi / 2 - 1e-6, GRID)
        return np.tan(a), np.gradient(a) / np.cos(a)**2
    x = np.linspace(low, high, GRID)
    w = np.full(GRID, x[1] - x[0])
    w[[0, -1]] *= 0.5
    return x, w


def density(d, name):
    x, w = points(name)
    return x, np.exp(np.asarray(d.log_prob(saltern.tensor(x)))) * w


@pytest.mark.parametrize('name', arrays)
def test_densities_and_moments(name):
    d = of(name, arrays[name])
    x, p = density(d, name)
    assert abs(p.sum() - 1) < 1e-5
    if name not in ('Cauchy', 'Categorical'):
        mean = (p * x).sum()
        np.testing.assert_allclose(np.asarray(d.mean), mean, rtol=1e-4)
        np.testing.assert_allclose(np.asarray(d.variance), (p * (x - mean)**2).sum(), rtol=2e-4)
        np.testing.assert_allclose(np.asarray(d.stddev)**2, np.asarray(d.variance))
    if type(d).entropy is not D.Distribution.entropy:
        entropy = -(p * np.asarray(d.log_prob(saltern.tensor(x))))[p > 0].sum()
        np.testing.assert_allclose(np.asarray(d.entropy()), entropy, rtol=1e-3, atol=1e-4)


WITH_CDF = [n for n in CONTINUOUS if getattr(D, n).cdf is not D.Distribution.cdf]
WITH_ICDF = [n for n in CONTINUOUS if getattr(D, n).icdf is not D.Distribution.icdf]


@pytest.mark.parametrize('name', WITH_CDF)
def test_distribution_functions(name):
    d = of(name, arrays[name])
    x, p = density(d, name)
    total = np.cumsum(p) - p / 2
    np.testing.assert_allclose(np.asarray(d.cdf(saltern.tensor(x[997::997]))), total[997::997], atol=5e-5)


@pytest.mark.parametrize('name', WITH_ICDF)
def test_quantiles(name):
    d, p = of(name, arrays[name]), t(0.01, 0.2, 0.5, 0.77, 0.999)
    np.testing.assert_allclose(np.asarray(d.cdf(d.icdf(p))), np.asarray(p), rtol=1e-9)


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
@pytest.mark.parametrize('name', arrays)
def test_samples(name, dtype):
    """Mean and variance within five deviations of theirs; where there is a distribution function, the largest distance from it."""
    saltern.manual_seed(11)
    n = 20000
    d = of(name, [a.astype(dtype) for a in arrays[name]])
    drawn = d.sample((n,))
    assert drawn.dtype == ('int64' if name == 'Categorical' else np.dtype(dtype).name) and drawn.shape == (n,) and not drawn.requires_grad
    x = np.asarray(drawn).astype(np.float64)
    assert np.isfinite(x).all()
    if name in DISCRETE:
        _, p = density(of(name, arrays[name]), name)
        found = np.bincount(x.astype(int), minlength=len(p))[:len(p)] / n
        assert np.abs(found - p).max() < 5 * np.sqrt(0.25 / n)
        return
    if name in WITH_CDF:
        below = np.sort(np.asarray(of(name, arrays[name]).cdf(saltern.tensor(x))))
        assert np.abs(below - (np.arange(n) + 0.5) / n).max() < 2.2 / np.sqrt(n)
    if name != 'Cauchy':
        mean, variance = np.asarray(d.mean), np.asarray(d.variance)
        assert abs(x.mean() - mean) < 5 * np.sqrt(variance / n)
        assert abs(x.var() - variance) < 0.1 * variance + 5 * np.sqrt(((x - mean)**2).var() / n)


def test_seeds_decide():
    for name, ps in arrays.items():
        draws = []
        for seed in (1, 1, 2):
            saltern.manual_seed(seed)
            draws.append(np.asarray(of(name, ps).sample((50,))).tolist())
        assert draws[0] == draws[1] != draws[2], name


@pytest.mark.parametrize('name', [n for n in CONTINUOUS if getattr(D, n).has_rsample])
def test_samples_have_gradients(name):
    """Of samples with a seed, beside differences of the same samples; those that are drawn by rejection are tested below."""
    if name in ('Gamma', 'Chi2', 'Beta', 'StudentT'):
        return

    def drawn(*parameters):
        saltern.manual_seed(4)
        return getattr(D, name)(*parameters).rsample((5,))

    check_gradients(drawn, arrays[name])


@pytest.mark.parametrize('a', [0.02, 0.3, 1.0, 2.5, 40.0, 3000.0])
def test_gamma_samples_keep_their_probability(a):
    """dx/da of a sample is what keeps P(a, x)."""
    saltern.manual_seed(3)
    shape = saltern.tensor(np.full(40, a), requires_grad=True)
    x = D.Gamma(shape, 1.0).rsample()
    slope, = saltern.autograd.grad(x.sum(), shape)
    h = 1e-5 * a
    value = np.asarray(x)
    probability = lambda a, x: np.asarray(saltern.gammainc(saltern.tensor(a), saltern.tensor(x)))
    by_a = (probability(np.full(40, a + h), value) - probability(np.full(40, a - h), value)) / (2 * h)
    log_density = (a - 1) * np.log(value) - value - math.lgamma(a)
    seen = (value > 1e-12) & (log_density > -12)
    np.testing.assert_allclose(np.asarray(slope)[seen], (-by_a / np.exp(log_density))[seen], rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize('name', ['Gamma', 'Beta', 'Dirichlet', 'StudentT', 'Chi2'])
def test_mean_of_gradients_is_gradient_of_mean(name):
    saltern.manual_seed(7)
    parameters = [np.array(p) for p in {'Dirichlet': [[0.6, 1.5, 3.0]], 'StudentT': [9.0, 0.4, 1.3]}.get(name) or arrays[name]]
    leaves = [saltern.tensor(p, requires_grad=True) for p in parameters]
    d = getattr(D, name)(*leaves)
    square = lambda x: (x if name != 'Dirichlet' else x[..., 0])**2
    found = saltern.autograd.grad(square(d.rsample((40000,))).mean(), leaves)
    first = lambda m: m if name != 'Dirichlet' else m[..., 0]
    d = getattr(D, name)(*leaves)
    wanted = saltern.autograd.grad((first(d.variance) + first(d.mean)**2).sum(), leaves)
    for f, w in zip(found, wanted):
        np.testing.assert_allclose(np.asarray(f), np.asarray(w), rtol=0.06, atol=0.03)


@pytest.mark.parametrize('name', arrays)
def test_gradients_of_logarithms(name):
    """And of what else is a formula of the parameters."""
    saltern.manual_seed(2)
    values = saltern.tensor(np.asarray(of(name, arrays[name]).sample((4,))))
    fixed = {'Binomial': 1}.get(name, 0)

    def results(*parameters):
        d = getattr(D, name)(*[saltern.tensor(a) for a in arrays[name][:fixed]], *parameters)
        found = [d.log_prob(values)]
        if name not in ('Cauchy', 'Categorical'):
            found += [d.mean, d.variance]
        return found + ([d.entropy()] if type(d).entropy is not D.Distribution.entropy else [])

    if name == 'Uniform':
        return  # flat but for its edges, which check_gradients may move over a value
    check_gradients(results, arrays[name][fixed:])


PAIRS = {
    'Normal': [0.9, 1.1], 'LogNormal': [0.1, 0.5], 'HalfNormal': [1.0], 'Laplace': [0.3, 1.4], 'Gumbel': [0.2, 1.5], 'Cauchy': [0.9, 1.1], 'Uniform': [-1.5, 3.0],
    'Exponential': [0.9], 'Gamma': [1.8, 0.9], 'Chi2': [4.0], 'Beta': [1.4, 2.2], 'Pareto': [0.6, 5.0], 'Bernoulli': [0.6], 'Geometric': [0.5],
    'Poisson': [2.5], 'Binomial': [7.0, 0.6], 'Categorical': [[0.3, 0.3, 0.4]],
}


@pytest.mark.parametrize('name', PAIRS)
def test_divergences(name):
    p, q = of(name, arrays[name]), of(name, [np.array(a) for a in PAIRS[name]])
    x, weight = density(p, name)
    keep = weight > 0
    logs = [np.asarray(d.log_prob(saltern.tensor(x)))[keep] for d in (p, q)]
    np.testing.assert_allclose(np.asarray(D.kl_divergence(p, q)), (weight[keep] * (logs[0] - logs[1])).sum(), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(np.asarray(D.kl_divergence(p, p)), 0, atol=1e-12)
    check_gradients(lambda *ps: D.kl_divergence(getattr(D, name)(*[saltern.tensor(a) for a in arrays[name][:name == 'Binomial']], *ps), q),
                    arrays[name][name == 'Binomial':])


@pytest.mark.parametrize('rate, count, p', [(0.0, 0, 0.5), (900.0, 1000, 0.3), (16.5, 17, 0.9), (1e5, 100000, 1e-3)])
def test_large_counts(rate, count, p):
    saltern.manual_seed(1)
    x = np.asarray(D.Poisson(t(rate)).sample((4000,)))
    assert abs(x.mean() - rate) <= 5 * math.sqrt(rate / 4000) and abs(x.var() - rate) <= 0.12 * rate
    y = np.asarray(D.Binomial(t(count), t(p)).sample((4000,)))
    variance = count * p * (1 - p)
    assert abs(y.mean() - count * p) <= 5 * math.sqrt(variance / 4000) and abs(y.var() - variance) <= 0.12 * variance
    assert y.size == 0 or (y.max() <= count and y.min() >= 0)


@pytest.mark.parametrize('call, error, says', [
    (lambda: D.Normal(0.0, -1.0), ValueError, "Normal: 'scale' has -1.0; expected positive numbers"),
    (lambda: D.Normal(t(0, math.nan), 1.0), ValueError, "Normal: 'loc' has nan"),
    (lambda: D.Uniform(2.0, 1.0), ValueError, "Uniform: 'high' has 1.0; expected more than low"),
    (lambda: D.Bernoulli(1.5), ValueError, "Bernoulli: 'probs' has 1.5; expected numbers from 0 to 1"),
    (lambda: D.Bernoulli(), ValueError, "expected one of 'probs' and 'logits'"),
    (lambda: D.Exponential(1.0).log_prob(t(-1)), ValueError, "Exponential: 'value' has -1.0"),
    (lambda: D.Poisson(1.0).log_prob(t(0.5)), ValueError, "Poisson: 'value' has 0.5; expected whole numbers"),
    (lambda: D.Categorical(t(0.5, 0.5)).log_prob(saltern.tensor([2])), ValueError, "Categorical: 'value' has 2; expected 0 to 1"),
    (lambda: D.Binomial(3, t(0.5)).log_prob(t(4)), ValueError, 'at most total_count'),
    (lambda: D.Multinomial(3, t(0.5, 0.5)).log_prob(t(1, 1)), ValueError, 'counts of 3 in all'),
    (lambda: D.MultivariateNormal(t(0, 0)), ValueError, 'expected one of covariance_matrix'),
    (lambda: D.MultivariateNormal(t(0, 0), saltern.tensor(np.eye(3))), ValueError, 'the matrix is'),
    (lambda: D.MultivariateNormal(t(0, 0), saltern.tensor(-np.eye(2))), ValueError, 'not positive definite'),
    (lambda: D.Poisson(1.0).rsample(), NotImplementedError, 'Poisson has no rsample'),
    (lambda: D.kl_divergence(D.Poisson(1.0), D.Normal(0.0, 1.0)), NotImplementedError, 'Poisson and Normal'),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError, 'reinterpreted_batch_ndims'),
    (lambda: D.AffineTransform(0.0, t(1, -1)), ValueError, 'of one sign'),
], ids=lambda x: x if isinstance(x, str) else '')
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_the_likelihood_of_one_number_under_several():
    assert D.Binomial(5, saltern.tensor([0.3, 0.5])).log_prob(saltern.tensor(1.0)).shape == (2,)


@pytest.mark.parametrize('made', [lambda a: D.Gamma(a, 1.0), lambda a: D.Beta(a, 1.0), lambda a: D.StudentT(a)])


def test_samples_of_infinite_parameters_end(made):
    made(saltern.tensor(float('inf'))).sample()
