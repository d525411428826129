"""Fourier transforms, with the names and arguments of torch.fft: the rows `fft.*` of the table, of complex numbers."""
import functools

from ._complex import ComplexTensor, _pairs_of
from ._rows import family

_takes_real = ('rfft', 'ihfft')
_gives_real = ('irfft', 'hfft')


def _transform(name, function):
    @functools.wraps(function)
    def transform(input, *args, **kwargs):
        if name.startswith(_takes_real):
            if isinstance(input, ComplexTensor):
                raise TypeError(f"fft.{name}: 'input' is complex; expected real numbers")
        else:
            input = _pairs_of(input)
        y = function(input, *args, **kwargs)
        return y if name.startswith(_gives_real) else ComplexTensor(y)

    return transform


def _shift(function):
    @functools.wraps(function)
    def shift(input, dim=None):
        if not isinstance(input, ComplexTensor):
            return function(input, dim)
        dims = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
        return ComplexTensor(function(input._pairs, [d % input.ndim for d in dims]))

    return shift


def _wrapped(name, function):
    if name.endswith('freq'):
        return function
    return _shift(function) if name.endswith('shift') else _transform(name, function)


_functions = {name: _wrapped(name, f) for name, f in family('fft').items()}
globals().update(_functions)
__all__ = list(_functions)
