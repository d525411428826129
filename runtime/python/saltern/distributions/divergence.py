"""Kullback-Leibler divergences of pairs of distributions: the mean of log p(x) - log q(x) under p."""
import math

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


def _by_rows(p, q):
    """Of two of one kind, by the row that C++ has."""
    if p.event_shape != q.event_shape:
        raise ValueError(f'kl_divergence: events of {p.event_shape} and {q.event_shape}')
    return p.formula('kl_divergence', *(getattr(q, name) for name in q.parameters))


for _kind in (Bernoulli, Beta, Categorical, Dirichlet, Exponential, Gamma, Laplace, MultivariateNormal, Normal, Uniform):
    register_kl(_kind, _kind)(_by_rows)


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _by_rows(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    ratio = (p.scale / q.scale)**2
    return (ratio - 1 - ratio.log()) * 0.5


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    return (((p.scale + q.scale)**2 + (p.loc - q.loc)**2) / (p.scale * q.scale * 4)).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (ratio - 1) * _euler - 1 - ratio.log() + away + ((ratio + 1).lgamma() - away).exp()


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return table.where(p.scale >= q.scale, inside, math.inf)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count != q.total_count).any():
        raise NotImplementedError('kl_divergence: Binomials of different total_count')
    return p.total_count * _by_rows(Bernoulli(logits=p.logits), Bernoulli(logits=q.logits))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _by_rows(Categorical(logits=p.logits), Categorical(logits=q.logits))


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
