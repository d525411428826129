"""Functions of one number to one, with their inverse and their slope: what a TransformedDistribution is made with."""
import math

import numpy as np

from .._tensors import table


class Transform:
    falls = False  # whether larger numbers become smaller

    def inv(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of |dy/dx|."""
        raise NotImplementedError


class ExpTransform(Transform):
    def __call__(self, x):
        return x.exp()

    def inv(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class AffineTransform(Transform):
    """loc + scale x, with a scale of one sign."""

    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale
        signs = np.sign(np.asarray(scale))
        if signs.size and (signs.min() != signs.max() or signs.min() == 0):
            raise ValueError("AffineTransform: 'scale' has different signs, or a 0; expected numbers of one sign")
        self.falls = bool(signs.size and signs.min() < 0)

    def __call__(self, x):
        return x * self.scale + self.loc

    def inv(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        return x * 0 + (abs(self.scale).log() if hasattr(self.scale, 'log') else math.log(abs(self.scale)))


class SigmoidTransform(Transform):
    def __call__(self, x):
        return table.sigmoid(x)

    def inv(self, y):
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -table.softplus(-x) - table.softplus(x)


class TanhTransform(Transform):
    def __call__(self, x):
        return table.tanh(x)

    def inv(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        return (math.log(2) - x - table.softplus(x * -2)) * 2
