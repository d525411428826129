"""Functions of the elements where a mask is true, with the names of torch.masked. Without a mask: of all. Whole numbers stay
whole where PyTorch's do."""
import math

import numpy as np

from ._tensors import table, tensor


def _whole(input):
    return np.dtype(input.dtype).kind in 'biu'


def _among(input, mask, otherwise, dtype=None):
    """The tensor with a number in place of what is masked; whole numbers have their own for an infinite one."""
    x = input if dtype is None else input.to(dtype)
    if mask is None:
        return x
    if _whole(x):
        if x.dtype == 'bool':
            x = x.long()
        bounds = np.iinfo(x.dtype)
        otherwise = tensor(np.array(min(max(otherwise, bounds.min), bounds.max), x.dtype))
    return table.where(mask, x, otherwise)


def _dims(input, dim):
    return tuple(range(input.ndim)) if dim is None or dim == () else dim


def _count(input, dim, keepdim, mask):
    real = np.float32 if _whole(input) else input.dtype
    return table.sum(_among(tensor(np.ones(input.shape, real)), mask, 0.0), _dims(input, dim), keepdim)


def _reduction(name, neutral):
    function = getattr(table, name)

    def reduced(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        return function(_among(input, mask, neutral, dtype), _dims(input, dim), keepdim)

    reduced.__name__ = name
    reduced.__doc__ = f'{name} of what a mask lets through.'
    return reduced


sum = _reduction('sum', 0)
amax, amin = _reduction('amax', -math.inf), _reduction('amin', math.inf)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _among(input, mask, 1, dtype)
    dims = _dims(input, dim)
    for d in sorted([d % max(input.ndim, 1) for d in (dims if isinstance(dims, (tuple, list)) else (dims,))], reverse=True):
        x = table.prod(x, d, keepdim)
    return x


def _real(input):
    return input.float() if _whole(input) else input


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return table.logsumexp(_among(_real(input), mask, -math.inf, dtype), _dims(input, dim), keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    if dtype is None and _whole(input):
        raise ValueError(f'masked.mean: the input is {input._outline()}; expected real numbers, or a dtype')
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


def var(input, dim=None, unbiased=True, *, correction=None, keepdim=False, dtype=None, mask=None):
    input = _real(input)
    gaps = input - mean(input, dim, keepdim=True, mask=mask)
    count, less = _count(input, dim, keepdim, mask), int(unbiased) if correction is None else correction
    return sum(gaps * gaps, dim, keepdim=keepdim, dtype=dtype, mask=mask) / table.clamp(count - less, 0)


def std(input, dim=None, unbiased=True, *, correction=None, keepdim=False, dtype=None, mask=None):
    return table.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


def _along(name, neutral, before=_real):
    function = getattr(table, name)
    return lambda input, dim, *, dtype=None, mask=None: function(_among(before(input), mask, neutral, dtype), dim)


softmax, log_softmax, softmin = _along('softmax', -math.inf), _along('log_softmax', -math.inf), _along('softmin', math.inf)
cumsum, cumprod = (_along(name, neutral, before=lambda x: x) for name, neutral in (('cumsum', 0), ('cumprod', 1)))


def argmax(input, dim=None, *, keepdim=False, mask=None):
    return table.argmax(_among(input, mask, -math.inf), dim, keepdim)


def argmin(input, dim=None, *, keepdim=False, mask=None):
    return table.argmin(_among(input, mask, math.inf), dim, keepdim)


__all__ = '''amax amin argmax argmin cumprod cumsum log_softmax logsumexp mean prod softmax softmin std sum var'''.split()
