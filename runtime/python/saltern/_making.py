"""Tensors that are made of numbers, and functions that take several tensors where the table has a list of them."""
import numpy as np

from ._rows import family, functions
from ._saltern import Tensor
from ._tensors import _shape, tensor


def _like(value):
    def made(input, dtype=None, requires_grad=False):
        return tensor(np.full(input.shape, value, dtype or input.dtype), requires_grad=requires_grad)

    return made


zeros_like, ones_like, empty_like = _like(0), _like(1), _like(0)


def full_like(input, fill_value, dtype=None, requires_grad=False):
    return tensor(np.full(input.shape, fill_value, dtype or input.dtype), requires_grad=requires_grad)


def empty(*size, dtype=np.float32, requires_grad=False):
    return tensor(np.zeros(_shape(size), dtype), requires_grad=requires_grad)


def eye(n, m=None, dtype=np.float32, requires_grad=False):
    return tensor(np.eye(n, m, dtype=dtype), requires_grad=requires_grad)


def scalar_tensor(s, dtype=np.float32, requires_grad=False):
    return tensor(np.array(s, dtype), requires_grad=requires_grad)


def arange(start, end=None, step=1, dtype=None, requires_grad=False):
    """Numbers from 0, or from start, to below end."""
    start, end = (0, start) if end is None else (start, end)
    whole = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
    return tensor(np.arange(start, end, step).astype(dtype or (np.int64 if whole else np.float32)), requires_grad=requires_grad)


def linspace(start, end, steps, dtype=np.float32, requires_grad=False):
    return tensor(np.linspace(float(start), float(end), steps).astype(dtype), requires_grad=requires_grad)


def logspace(start, end, steps, base=10.0, dtype=np.float32, requires_grad=False):
    return tensor((float(base) ** np.linspace(float(start), float(end), steps)).astype(dtype), requires_grad=requires_grad)


def rand(*size, dtype=np.float32, requires_grad=False):
    """Uniform numbers in [0, 1)."""
    return family('init')['uniform_'](empty(*size, dtype=dtype, requires_grad=requires_grad))


def randn(*size, dtype=np.float32, requires_grad=False):
    """Normal numbers."""
    return family('init')['normal_'](empty(*size, dtype=dtype, requires_grad=requires_grad))


def rand_like(input):
    return rand(*input.shape, dtype=input.dtype)


def randn_like(input):
    return randn(*input.shape, dtype=input.dtype)


def randint(low, high=None, size=None, dtype=np.int64):
    """Whole numbers from low, or 0, to below high: randint(10, (2, 3)), randint(5, 10, (2, 3))."""
    if high is None or isinstance(high, (tuple, list)):
        low, high, size = 0, low, size if high is None else high
    return tensor((low + np.floor(rand(*size, dtype=np.float64).numpy() * (high - low))).astype(dtype))


def randint_like(input, low, high=None):
    return randint(low, high, input.shape, input.dtype)


def bernoulli(input):
    """1 with the probability that each element says, else 0."""
    if not ((input.numpy() >= 0) & (input.numpy() <= 1)).all():
        raise ValueError('bernoulli: probabilities are from 0 to 1')
    drawn = (rand(*input.shape, dtype=np.float64).numpy() < input.numpy()).astype(input.dtype)
    return functions['mul'](input, 0) + tensor(drawn)  # whose gradient is 0


def normal(mean, std, size=None):
    """Normal numbers, of means and deviations that are numbers or tensors."""
    mean, std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
    drawn = randn(*(np.broadcast_shapes(mean.shape, std.shape) if size is None else size)).numpy()
    return tensor(mean + std * drawn)


def multinomial(input, num_samples, replacement=False):
    """Places drawn by the weights of each row."""
    weights = np.asarray(input, np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all() or not (weights.sum(-1) > 0).all():
        raise ValueError('multinomial: weights are finite, at least 0, and not all 0')
    if replacement:
        shares = np.cumsum(weights, -1) / weights.sum(-1, keepdims=True)
        drawn = rand(*weights.shape[:-1], num_samples, dtype=np.float64).numpy()
        return tensor((drawn[..., :, None] >= shares[..., None, :]).sum(-1).astype(np.int64))
    if ((weights > 0).sum(-1) < num_samples).any():
        raise ValueError(f'multinomial: fewer places have a weight than {num_samples}, which are drawn without replacement')
    with np.errstate(divide='ignore'):  # the first of exponential times comes by weight
        times = -np.log(1 - rand(*weights.shape, dtype=np.float64).numpy()) / weights
    return tensor(np.argsort(times, -1)[..., :num_samples].astype(np.int64))


def broadcast_shapes(*shapes):
    return np.broadcast_shapes(*shapes)


def _of_several(name):
    """A function of a list of tensors that may be given as several."""
    def function(*tensors, **options):
        listed = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
        return functions[name](list(tensors[0] if listed else tensors), **options)

    function.__name__ = name
    function.__doc__ = functions[name].__doc__
    return function


meshgrid, broadcast_tensors, cartesian_prod, block_diag = (
    _of_several(name) for name in ('meshgrid', 'broadcast_tensors', 'cartesian_prod', 'block_diag'))


def _new(value):
    return lambda self, *size, dtype=None: tensor(np.full(_shape(size), value, dtype or self.dtype))


Tensor.new_zeros, Tensor.new_ones, Tensor.new_empty = _new(0), _new(1), _new(0)
Tensor.new_full = lambda self, size, fill_value, dtype=None: tensor(np.full(size, fill_value, dtype or self.dtype))
Tensor.unfold = functions['windows_along']  # that of nn.functional is of images
for _name, _type in {'half': np.float16, 'int': np.int32, 'short': np.int16, 'char': np.int8, 'byte': np.uint8}.items():
    setattr(Tensor, _name, lambda self, dtype=_type: self.to(dtype))

__all__ = '''arange block_diag broadcast_shapes broadcast_tensors cartesian_prod empty empty_like eye full_like linspace logspace
bernoulli meshgrid multinomial normal ones_like rand rand_like randint randint_like randn randn_like scalar_tensor zeros_like'''.split()
