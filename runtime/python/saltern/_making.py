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
    return tensor(np.arange(start, end, step, dtype=dtype or (np.int64 if whole else np.float32)), requires_grad=requires_grad)


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
meshgrid ones_like rand rand_like randn randn_like scalar_tensor zeros_like'''.split()
