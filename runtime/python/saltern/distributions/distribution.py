"""What distributions have in common: shapes of batches and events, parameters that broadcast, and what is refused."""
import numpy as np

from .._rows import family
from .._saltern import Tensor
from .._tensors import no_grad, tensor

_random, _formulas = family('random'), family('distributions')
positive = ('positive numbers', lambda x: x > 0)
not_negative = ('numbers of at least 0', lambda x: x >= 0)
probability = ('numbers from 0 to 1', lambda x: (x >= 0) & (x <= 1))
truth = ('0 or 1', lambda x: (x == 0) | (x == 1))
count = ('whole numbers of at least 0', lambda x: (x >= 0) & (x == np.floor(x)))
real = ('real numbers', lambda x: x == x)


def broadcast(*values):
    """Tensors of one shape and one real type; numbers take the type of the tensors."""
    kinds = [v.dtype for v in values if isinstance(v, Tensor)]
    kind = max(kinds or ['float32'], key=lambda k: np.dtype(k).itemsize if k.startswith('float') else 0)
    kind = kind if kind.startswith('float') else 'float32'
    tensors = [v.to(kind) if isinstance(v, Tensor) else tensor(v, dtype=kind) for v in values]
    shape = np.broadcast_shapes(*(t.shape for t in tensors))
    return [t if tuple(t.shape) == shape else t.expand(shape) for t in tensors]


def summed(x, count):
    """The sum over the last dimensions."""
    return x.sum(list(range(-count, 0))) if count else x


class Distribution:
    """Samples have the shape sample_shape + batch_shape + event_shape; a logarithm of a density, sample_shape + batch_shape."""
    has_rsample = False
    support = real

    def __init__(self, batch_shape=(), event_shape=(), like=None):
        self.batch_shape, self.event_shape = tuple(batch_shape), tuple(event_shape)
        self._dtype = like.dtype if like is not None else 'float32'

    def _check(self, **parameters):
        """Each parameter with what it has to be: name=(tensor, rule)."""
        for name, (value, (expected, holds)) in parameters.items():
            self._refuse(name, value, expected, holds)

    def _refuse(self, name, value, expected, holds):
        array = np.asarray(value)
        array, fits = np.broadcast_arrays(array, np.asarray(holds(array), bool))
        bad = array[~fits]
        if bad.size:
            raise ValueError(f"{type(self).__name__}: '{name}' has {bad.flat[0]}; expected {expected}")

    def _value(self, value):
        """What log_prob() and cdf() are asked of, in the type of the parameters."""
        value = value.to(self._dtype) if isinstance(value, Tensor) else tensor(value, dtype=self._dtype)
        self._refuse('value', value, *self.support)
        return value

    def _shape(self, sample_shape):
        return list(sample_shape) + list(self.batch_shape) + list(self.event_shape)

    def _uniform(self, sample_shape):
        return _random['uniform'](self._shape(sample_shape), self._dtype)

    def _normal(self, sample_shape):
        return _random['normal'](self._shape(sample_shape), self._dtype)

    def _spread(self, parameter, sample_shape):
        return parameter.expand(list(sample_shape) + list(parameter.shape))

    def rsample(self, sample_shape=()):
        raise NotImplementedError(f'{type(self).__name__} has no rsample(): its samples have no gradients')

    def sample(self, sample_shape=()):
        with no_grad():
            return self.rsample(sample_shape).detach()

    def log_prob(self, value):
        raise NotImplementedError(f'{type(self).__name__} has no log_prob()')

    def cdf(self, value):
        raise NotImplementedError(f'{type(self).__name__} has no cdf()')

    def icdf(self, value):
        raise NotImplementedError(f'{type(self).__name__} has no icdf()')

    def entropy(self):
        raise NotImplementedError(f'{type(self).__name__} has no entropy()')

    @property
    def stddev(self):
        return self.variance.sqrt()

    def __repr__(self):
        return f'{type(self).__name__}(batch_shape={self.batch_shape}, event_shape={self.event_shape})'


class OfRows(Distribution):
    """One whose formulas are rows of the table that C++ has: distributions.Normal.log_prob and its like."""
    has_rsample = True
    kind, parameters = '', ()

    def formula(self, what, *more):
        return _formulas[f'{self.kind}.{what}'](*(getattr(self, name) for name in self.parameters), *more)

    def rsample(self, sample_shape=()):
        return self.formula('rsample', list(sample_shape))

    def log_prob(self, value):
        return self.formula('log_prob', self._value(value))

    def entropy(self):
        return self.formula('entropy')


class Independent(Distribution):
    """The last dimensions of a batch are of one event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims):
        base, count = base_distribution, reinterpreted_batch_ndims
        if not 0 <= count <= len(base.batch_shape):
            raise ValueError(f"Independent: 'reinterpreted_batch_ndims' is {count}; expected at most {len(base.batch_shape)}")
        cut = len(base.batch_shape) - count
        super().__init__(base.batch_shape[:cut], base.batch_shape[cut:] + base.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base, count
        self.has_rsample, self._dtype = base.has_rsample, base._dtype

    mean = property(lambda self: self.base_dist.mean)
    variance = property(lambda self: self.base_dist.variance)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value):
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class TransformedDistribution(Distribution):
    """What elementwise transforms make of samples, one after the other."""

    def __init__(self, base_distribution, transforms):
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape)
        self.base_dist = base_distribution
        self.transforms = list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        self.has_rsample, self._dtype = base_distribution.has_rsample, base_distribution._dtype

    def _forward(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def sample(self, sample_shape=()):
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def log_prob(self, value):
        y, stretch = self._value(value), 0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            stretch = stretch + summed(transform.log_abs_det_jacobian(x, y), len(self.event_shape))
            y = x
        return self.base_dist.log_prob(y) - stretch

    def cdf(self, value):
        y, falls = self._value(value), False
        for transform in reversed(self.transforms):
            falls ^= transform.falls
            y = transform.inv(y)
        below = self.base_dist.cdf(y)
        return 1 - below if falls else below
