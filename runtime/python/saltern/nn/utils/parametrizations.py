"""Parametrizations with PyTorch's names."""
from ..._rows import functions, layers
from ..module import class_of
from .parametrize import register_parametrization


class _WeightNorm(class_of(layers['_WeightNorm'])):
    def right_inverse(self, weight):
        return functions['norm_except_dim'](weight, 2, self.dim), weight


def weight_norm(module, name='weight', dim=0):
    """The parameter as a length, original0, times a direction, original1."""
    return register_parametrization(module, name, _WeightNorm(-1 if dim is None else dim))


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    """The parameter over its greatest singular value."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith('ConvTranspose') else 0
    weight = dict(module.named_parameters())[name]
    return register_parametrization(module, name, class_of(layers['_SpectralNorm'])(weight, n_power_iterations, dim, eps))
