"""Kullback-Leibler divergences of pairs of distributions: the mean of log p(x) - log q(x) under p."""
import math

from .. import linalg
from .._tensors import table
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Independent, summed
from .locations import Cauchy, Gumbel, HalfNormal, Laplace, LogNormal, MultivariateNormal, Normal, Uniform, _euler
from .positive import Beta, Dirichlet, Exponential, Gamma, Pareto

_rows = {}


def register_kl(p, q):
    """A decorator for the function of a pair of classes."""
    def register(function):
        _rows[p, q] = function
        return function
    return register


def kl_divergence(p, q):
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _rows:
                return _rows[a, b](p, q)
    raise NotImplementedError(f'kl_divergence: {type(p).__name__} and {type(q).__name__}; register_kl() adds a pair')


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio, away = (p.scale / q.scale)**2, ((p.loc - q.loc) / q.scale)**2
    return (ratio + away - 1 - ratio.log()) * 0.5


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _normal(p, q)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    ratio = (p.scale / q.scale)**2
    return (ratio - 1 - ratio.log()) * 0.5


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    away = abs(p.loc - q.loc)
    return (q.scale / p.scale).log() + (p.scale * (-away / p.scale).exp() + away) / q.scale - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    return (((p.scale + q.scale)**2 + (p.loc - q.loc)**2) / (p.scale * q.scale * 4)).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (ratio - 1) * _euler - 1 - ratio.log() + away + ((ratio + 1).lgamma() - away).exp()


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    inside = (q.low <= p.low) & (p.high <= q.high)
    return table.where(inside, ((q.high - q.low) / (p.high - p.low)).log(), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (p.concentration - q.concentration) * p.concentration.digamma() + q.concentration.lgamma() \
        - p.concentration.lgamma() + q.concentration * (p.rate / q.rate).log() + p.concentration * (q.rate / p.rate - 1)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return table.where(p.scale >= q.scale, inside, math.inf)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    means = a.digamma() - a.sum(-1, True).digamma()
    return q._log_normaliser() - p._log_normaliser() + ((a - b) * means).sum(-1)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._shares, q._shares)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(f'kl_divergence: events of {p.event_shape} and {q.event_shape}')
    spread = linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False)
    away = linalg.solve_triangular(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False)
    squares = (spread**2).sum([-2, -1]) + (away**2).sum([-2, -1])
    return q._half_log_determinant() - p._half_log_determinant() + (squares - p.event_shape[0]) * 0.5


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    return p.probs * (p.logits - q.logits) - table.softplus(p.logits) + table.softplus(q.logits)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count != q.total_count).any():
        raise NotImplementedError('kl_divergence: Binomials of different total_count')
    return p.total_count * _bernoulli(p, q)


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(p, q):
    return (p.probs * (p.logits - q.logits)).sum(-1)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate / q.rate).log() - p.rate + q.rate


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() + table.softplus(-q.logits) + p.mean * table.softplus(q.logits)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError('kl_divergence: Independents of different dimensions')
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
