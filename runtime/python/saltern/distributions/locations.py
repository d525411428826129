"""Distributions with a location: most of them of any real number."""
import math

import numpy as np

from .. import linalg
from .._tensors import table, tensor
from .distribution import Distribution, OfRows, broadcast, not_negative, positive, real

_euler = 0.5772156649015329


class _Located(OfRows):
    parameters = 'loc', 'scale'

    def __init__(self, loc, scale):
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape, like=self.loc)
        self._check(loc=(self.loc, real), scale=(self.scale, positive))

    def _standard(self, value):
        return (self._value(value) - self.loc) / self.scale

    mean = property(lambda self: self.loc)


class Normal(_Located):
    kind = 'Normal'
    variance = property(lambda self: self.scale**2)

    def cdf(self, value):
        return ((self._standard(value) * math.sqrt(0.5)).erf() + 1) * 0.5

    def icdf(self, value):
        return self.loc + self.scale * table.erfinv(value * 2 - 1) * math.sqrt(2)


class LogNormal(Distribution):
    """The exponential of Normal(loc, scale)."""
    has_rsample = True
    support = positive

    def __init__(self, loc, scale):
        self.base_dist = Normal(loc, scale)
        self.loc, self.scale = self.base_dist.loc, self.base_dist.scale
        super().__init__(self.loc.shape, like=self.loc)

    mean = property(lambda self: (self.loc + self.scale**2 * 0.5).exp())
    variance = property(lambda self: (self.scale**2).expm1() * (self.loc * 2 + self.scale**2).exp())

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value):
        value = self._value(value)
        return self.base_dist.log_prob(value.log()) - value.log()

    def cdf(self, value):
        return self.base_dist.cdf(self._value(value).log())

    def icdf(self, value):
        return self.base_dist.icdf(value).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class HalfNormal(Distribution):
    """The absolute value of Normal(0, scale)."""
    has_rsample = True
    support = not_negative

    def __init__(self, scale):
        self.scale, = broadcast(scale)
        super().__init__(self.scale.shape, like=self.scale)
        self._check(scale=(self.scale, positive))

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale**2 * (1 - 2 / math.pi))

    def rsample(self, sample_shape=()):
        return abs(self._normal(sample_shape)) * self.scale

    def log_prob(self, value):
        return (self._value(value) / self.scale)**2 * -0.5 - self.scale.log() + 0.5 * math.log(2 / math.pi)

    def cdf(self, value):
        return (self._value(value) / self.scale * math.sqrt(0.5)).erf()

    def icdf(self, value):
        return self.scale * table.erfinv(value) * math.sqrt(2)

    def entropy(self):
        return self.scale.log() + 0.5 * (1 + math.log(math.pi / 2))


class Laplace(_Located):
    kind = 'Laplace'
    variance = property(lambda self: self.scale**2 * 2)

    def cdf(self, value):
        z = self._standard(value)
        return 0.5 - z.sign() * (-abs(z)).expm1() * 0.5

    def icdf(self, value):
        u = value - 0.5
        return self.loc - self.scale * u.sign() * (abs(u) * -2).log1p()


class Gumbel(_Located):
    mean = property(lambda self: self.loc + self.scale * _euler)
    variance = property(lambda self: self.scale**2 * (math.pi**2 / 6))

    def rsample(self, sample_shape=()):
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value):
        z = self._standard(value)
        return -(z + (-z).exp()) - self.scale.log()

    def cdf(self, value):
        return (-(-self._standard(value)).exp()).exp()

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self):
        return self.scale.log() + (1 + _euler)


class Cauchy(_Located):
    """Without mean and variance."""
    mean = property(lambda self: self.loc * math.nan)
    variance = property(lambda self: self.scale * math.inf)

    def rsample(self, sample_shape=()):
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value):
        return -(self._standard(value)**2).log1p() - (self.scale * math.pi).log()

    def cdf(self, value):
        return self._standard(value).atan() / math.pi + 0.5

    def icdf(self, value):
        return self.loc + self.scale * ((value - 0.5) * math.pi).tan()

    def entropy(self):
        return (self.scale * (4 * math.pi)).log()


class Uniform(OfRows):
    """From low to high, without high. Outside, the logarithm of the density is -infinity."""
    kind, parameters = 'Uniform', ('low', 'high')

    def __init__(self, low, high):
        self.low, self.high = broadcast(low, high)
        super().__init__(self.low.shape, like=self.low)
        self._check(high=(self.high, ('more than low', lambda high: high > np.asarray(self.low))))

    mean = property(lambda self: (self.low + self.high) * 0.5)
    variance = property(lambda self: (self.high - self.low)**2 / 12)

    def cdf(self, value):
        return ((self._value(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)

    def icdf(self, value):
        return self.low + (self.high - self.low) * value


class MultivariateNormal(OfRows):
    """With one of a covariance, its inverse, and its lower triangle by Cholesky."""
    kind, parameters = 'MultivariateNormal', ('loc', 'scale_tril')

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError('MultivariateNormal: expected one of covariance_matrix, precision_matrix and scale_tril; '
                             f'{len(given)} were given')
        loc = loc if hasattr(loc, 'requires_grad') else tensor(loc)
        matrix = given[0] if hasattr(given[0], 'requires_grad') else tensor(given[0], dtype=loc.dtype)
        if matrix.ndim < 2 or not loc.shape or matrix.shape[-2:] != (loc.shape[-1],) * 2:
            raise ValueError(f'MultivariateNormal: the matrix is {tuple(matrix.shape)} beside a loc of {tuple(loc.shape)}')
        tril = matrix if scale_tril is not None else \
            linalg.cholesky(matrix if precision_matrix is None else linalg.inv(matrix))
        batch = list(np.broadcast_shapes(loc.shape[:-1], tril.shape[:-2]))
        size = loc.shape[-1]
        self.loc, self.scale_tril = loc.expand(batch + [size]), tril.expand(batch + [size, size])
        super().__init__(batch, (size,), like=self.loc)

    mean = property(lambda self: self.loc)
    variance = property(lambda self: (self.scale_tril**2).sum(-1))
    covariance_matrix = property(lambda self: self.scale_tril @ self.scale_tril.mT)
    precision_matrix = property(lambda self: linalg.inv(self.covariance_matrix))