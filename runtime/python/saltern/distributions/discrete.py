"""Distributions of whole numbers, of choices, and of counts of them. They are given by probabilities or by logits."""
import math

import numpy as np

from .._saltern import Tensor
from .._tensors import no_grad, table, tensor
from .distribution import Distribution, OfRows, _random, broadcast, count, not_negative, probability, real, truth


def _only_one(name, probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError(f"{name}: expected one of 'probs' and 'logits'")


class _OfTruths(Distribution):
    """With a probability for each element; logits are log p - log(1 - p), with p a little inside of 0 and 1."""

    def _given(self, probs, logits, *others):
        _only_one(type(self).__name__, probs, logits)
        given, *others = broadcast(logits if probs is None else probs, *others)
        Distribution.__init__(self, given.shape, like=given)
        if probs is None:
            self._check(logits=(given, real))
            self.logits, self.probs = given, table.sigmoid(given)
        else:
            self._check(probs=(given, probability))
            edge = float(np.finfo(given.dtype).eps)
            inside = given.clamp(edge, 1 - edge)
            self.probs, self.logits = given, inside.log() - (-inside).log1p()
        return others


class Bernoulli(_OfTruths, OfRows):
    kind, parameters, has_rsample, support = 'Bernoulli', ('logits',), False, truth
    rsample = Distribution.rsample

    def __init__(self, probs=None, logits=None):
        self._given(probs, logits)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with no_grad():
            return (self._uniform(sample_shape) < self.probs).to(self._dtype)


class Geometric(_OfTruths):
    """How many failures there are before a success."""
    support = count

    def __init__(self, probs=None, logits=None):
        self._given(probs, logits)

    mean = property(lambda self: 1 / self.probs - 1)
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)

    def sample(self, sample_shape=()):
        with no_grad():
            return (self._uniform(sample_shape).log() / -table.softplus(self.logits)).floor()

    def log_prob(self, value):
        return self._value(value) * -table.softplus(self.logits) - table.softplus(-self.logits)

    def entropy(self):
        return (table.softplus(self.logits) - self.probs * self.logits) / self.probs


class Binomial(_OfTruths):
    """How many of total_count succeed."""
    support = count

    def __init__(self, total_count=1, probs=None, logits=None):
        self.total_count, = self._given(probs, logits, total_count)
        self._check(total_count=(self.total_count, count))

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with no_grad():
            return _random['binomial'](self._spread(self.total_count, sample_shape), self._spread(self.probs, sample_shape))

    def log_prob(self, value):
        value, n = self._value(value), self.total_count
        self._refuse('value', value, 'at most total_count', lambda v: v <= np.asarray(n))
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * self.logits - n * table.softplus(self.logits)


class Poisson(Distribution):
    support = count

    def __init__(self, rate):
        self.rate, = broadcast(rate)
        super().__init__(self.rate.shape, like=self.rate)
        self._check(rate=(self.rate, not_negative))

    mean = property(lambda self: self.rate)
    variance = property(lambda self: self.rate)

    def sample(self, sample_shape=()):
        with no_grad():
            return _random['poisson'](self._spread(self.rate, sample_shape))

    def log_prob(self, value):
        value = self._value(value)
        return table.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()


class _OfChoices(Distribution):
    """With a probability for each class, along the last dimension; they are made to add up to 1."""

    def _given(self, probs, logits):
        _only_one(type(self).__name__, probs, logits)
        given, = broadcast(logits if probs is None else probs)
        if not given.shape:
            raise ValueError(f"{type(self).__name__}: the {'probs' if logits is None else 'logits'} are a number; "
                             'expected at least one dimension')
        Distribution.__init__(self, given.shape[:-1], given.shape[-1:], like=given)
        if probs is None:
            self._check(logits=(given, real))
            self.logits = table.log_softmax(given, -1)
            self.probs = self.logits.exp()
        else:
            self._check(probs=(given, not_negative))
            edge = float(np.finfo(given.dtype).eps)
            self.probs = given / given.sum(-1, True)
            self.logits = self.probs.clamp(edge, 1 - edge).log()
        self._classes = given.shape[-1]

    def _choices(self, sample_shape):
        """The best of each class's logit and a number of Gumbel's."""
        with no_grad():
            u = _random['uniform'](list(sample_shape) + list(self.batch_shape) + [self._classes], self._dtype)
            return (self.probs.log() - (-u.log()).log()).argmax(-1)

    def _share_entropy(self):
        return -(self.probs * self.logits).sum(-1)


class Categorical(_OfChoices, OfRows):
    kind, parameters, has_rsample, support = 'Categorical', ('logits',), False, count
    rsample = Distribution.rsample

    def __init__(self, probs=None, logits=None):
        self._given(probs, logits)
        self.event_shape = ()

    mean = property(lambda self: self.probs.sum(-1) * math.nan)
    variance = property(lambda self: self.probs.sum(-1) * math.nan)

    def sample(self, sample_shape=()):
        return self._choices(sample_shape)

    def log_prob(self, value):
        value = value if isinstance(value, Tensor) else tensor(value)
        self._refuse('value', value, f'0 to {self._classes - 1}', lambda v: (v >= 0) & (v < self._classes))
        return self.formula('log_prob', value)


class OneHotCategorical(_OfChoices):
    support = truth

    def __init__(self, probs=None, logits=None):
        self._given(probs, logits)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        return table.one_hot(self._choices(sample_shape), self._classes).to(self._dtype)

    def log_prob(self, value):
        return (self._value(value) * self.logits).sum(-1)

    def entropy(self):
        return self._share_entropy()


class Multinomial(_OfChoices):
    """How often each class is chosen in total_count choices."""
    support = count

    def __init__(self, total_count=1, probs=None, logits=None):
        if not isinstance(total_count, int) or total_count < 0:
            raise ValueError(f"Multinomial: 'total_count' is {total_count}; expected a whole number of at least 0")
        self.total_count = total_count
        self._given(probs, logits)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.probs * (1 - self.probs) * self.total_count)

    def sample(self, sample_shape=()):
        chosen = self._choices([self.total_count] + list(sample_shape))
        return table.one_hot(chosen, self._classes).sum(0).to(self._dtype)

    def log_prob(self, value):
        value = self._value(value)
        self._refuse('value', value.sum(-1), f'counts of {self.total_count} in all', lambda n: n == self.total_count)
        ways = math.lgamma(self.total_count + 1) - (value + 1).lgamma().sum(-1)
        return ways + (value * self.logits).sum(-1)
