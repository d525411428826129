"""Distributions of positive numbers, of shares, and of what is made of them."""
import math

import numpy as np

from .._tensors import table
from .distribution import Distribution, OfRows, _random, broadcast, not_negative, positive, probability, real
from .locations import _euler


def _gamma(concentration, like):
    """Samples of Gamma(concentration, 1), none of which is 0."""
    return _random['gamma'](concentration).clamp(float(np.finfo(like).tiny))


class Exponential(OfRows):
    kind, parameters = 'Exponential', ('rate',)
    support = not_negative

    def __init__(self, rate):
        self.rate, = broadcast(rate)
        super().__init__(self.rate.shape, like=self.rate)
        self._check(rate=(self.rate, positive))

    mean = property(lambda self: 1 / self.rate)
    variance = property(lambda self: self.rate**-2.0)

    def cdf(self, value):
        return -(-self.rate * self._value(value)).expm1()

    def icdf(self, value):
        return -(-value).log1p() / self.rate


class Gamma(OfRows):
    kind, parameters = 'Gamma', ('concentration', 'rate')
    support = not_negative

    def __init__(self, concentration, rate):
        self.concentration, self.rate = broadcast(concentration, rate)
        super().__init__(self.rate.shape, like=self.rate)
        self._check(concentration=(self.concentration, positive), rate=(self.rate, positive))

    mean = property(lambda self: self.concentration / self.rate)
    variance = property(lambda self: self.concentration / self.rate**2)

    def cdf(self, value):
        return table.gammainc(self.concentration, self.rate * self._value(value))


class Chi2(Gamma):
    def __init__(self, df):
        self.df, = broadcast(df)
        super().__init__(self.df * 0.5, 0.5)


class StudentT(Distribution):
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0):
        self.df, self.loc, self.scale = broadcast(df, loc, scale)
        super().__init__(self.df.shape, like=self.df)
        self._check(df=(self.df, positive), loc=(self.loc, real), scale=(self.scale, positive))

    @property
    def mean(self):
        return table.where(self.df > 1, self.loc, math.nan)

    @property
    def variance(self):
        finite = self.scale**2 * self.df / table.where(self.df > 2, self.df - 2, 1.0)
        return table.where(self.df > 2, finite, table.where(self.df > 1, self.df * 0 + math.inf, math.nan))

    def rsample(self, sample_shape=()):
        half = self._spread(self.df * 0.5, sample_shape)
        return self.loc + self.scale * self._normal(sample_shape) * (half / _gamma(half, self._dtype)).sqrt()

    def _log_normaliser(self):
        return self.scale.log() + self.df.log() * 0.5 + 0.5 * math.log(math.pi) \
            + (self.df * 0.5).lgamma() - ((self.df + 1) * 0.5).lgamma()

    def log_prob(self, value):
        z = (self._value(value) - self.loc) / self.scale
        return (self.df + 1) * -0.5 * (z**2 / self.df).log1p() - self._log_normaliser()

    def entropy(self):
        half, more = self.df * 0.5, (self.df + 1) * 0.5
        beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + self.df.log() * 0.5 + beta


class Dirichlet(OfRows):
    """Shares that add up to 1, along the last dimension."""
    kind, parameters = 'Dirichlet', ('concentration',)
    support = probability

    def __init__(self, concentration):
        self.concentration, = broadcast(concentration)
        if not self.concentration.shape:
            raise ValueError("Dirichlet: 'concentration' is a number; expected at least one dimension")
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:], like=self.concentration)
        self._check(concentration=(self.concentration, positive))

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))


class Beta(OfRows):
    """The first of two shares: concentration1 is its own, concentration0 the other's."""
    kind, parameters = 'Beta', ('concentration1', 'concentration0')
    support = probability

    def __init__(self, concentration1, concentration0):
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        super().__init__(self.concentration1.shape, like=self.concentration1)
        self._check(concentration1=(self.concentration1, positive), concentration0=(self.concentration0, positive))
        self._shares = Dirichlet(table.stack([self.concentration1, self.concentration0], -1))

    mean = property(lambda self: self._shares.mean[..., 0])
    variance = property(lambda self: self._shares.variance[..., 0])


class Weibull(Distribution):
    has_rsample = True
    support = positive

    def __init__(self, scale, concentration):
        self.scale, self.concentration = broadcast(scale, concentration)
        super().__init__(self.scale.shape, like=self.scale)
        self._check(scale=(self.scale, positive), concentration=(self.concentration, positive))

    def _moment(self, n):
        return (n / self.concentration + 1).lgamma().exp()

    mean = property(lambda self: self.scale * self._moment(1))
    variance = property(lambda self: self.scale**2 * (self._moment(2) - self._moment(1)**2))

    def rsample(self, sample_shape=()):
        return self.scale * (-self._uniform(sample_shape).log())**(1 / self.concentration)

    def log_prob(self, value):
        log = (self._value(value) / self.scale).log()
        return self.concentration.log() - self.scale.log() + (self.concentration - 1) * log - (self.concentration * log).exp()

    def cdf(self, value):
        return -(-(self._value(value) / self.scale)**self.concentration).expm1()

    def icdf(self, value):
        return self.scale * (-(-value).log1p())**(1 / self.concentration)

    def entropy(self):
        return (1 - 1 / self.concentration) * _euler + (self.scale / self.concentration).log() + 1


class Pareto(Distribution):
    """Of numbers from scale on."""
    has_rsample = True
    support = positive

    def __init__(self, scale, alpha):
        self.scale, self.alpha = broadcast(scale, alpha)
        super().__init__(self.scale.shape, like=self.scale)
        self._check(scale=(self.scale, positive), alpha=(self.alpha, positive))

    @property
    def mean(self):
        return table.where(self.alpha > 1, self.alpha * self.scale / table.where(self.alpha > 1, self.alpha - 1, 1.0), math.inf)

    @property
    def variance(self):
        a = self.alpha
        below = table.where(a > 2, (a - 1)**2 * (a - 2), 1.0)
        return table.where(a > 2, self.scale**2 * a / below, math.inf)

    def rsample(self, sample_shape=()):
        return self.scale * (-self._uniform(sample_shape).log() / self.alpha).exp()

    def log_prob(self, value):
        value = self._value(value)
        inside = self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()
        return table.where(value >= self.scale, inside, -math.inf)

    def cdf(self, value):
        return (1 - (self.scale / self._value(value))**self.alpha).clamp(0.0)

    def icdf(self, value):
        return self.scale * (1 - value)**(-1 / self.alpha)

    def entropy(self):
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha
