"""Functions of the elements where a mask is true, with the names of torch.masked. Without a mask: of all."""
import math

from ._tensors import table


def _among(input, mask, otherwise, dtype=None):
    """The tensor with a number in place of what is masked."""
    x = input if dtype is None else input.to(dtype)
    return x if mask is None else table.where(mask, x, otherwise)


def _dims(input, dim):
    return tuple(range(input.ndim)) if dim is None or dim == () else dim


def _count(input, dim, keepdim, mask):
    ones = table.mul(input.detach(), 0) + 1
    return table.sum(_among(table.nan_to_num(ones, nan=1.0), mask, 0.0), _dims(input, dim), keepdim)


def _reduction(name, neutral):
    function = getattr(table, name)

    def reduced(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        return function(_among(input, mask, neutral, dtype), _dims(input, dim), keepdim)

    reduced.__name__ = name
    reduced.__doc__ = f'{name} of what a mask lets through.'
    return reduced


sum, logsumexp = _reduction('sum', 0.0), _reduction('logsumexp', -math.inf)
amax, amin = _reduction('amax', -math.inf), _reduction('amin', math.inf)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _among(input, mask, 1.0, dtype)
    dims = _dims(input, dim)
    for d in sorted([d % max(input.ndim, 1) for d in (dims if isinstance(dims, (tuple, list)) else (dims,))], reverse=True):
        x = table.prod(x, d, keepdim)
    return x


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


def var(input, dim=None, unbiased=True, *, correction=None, keepdim=False, dtype=None, mask=None):
    gaps = input - mean(input, dim, keepdim=True, mask=mask)
    count, less = _count(input, dim, keepdim, mask), int(unbiased) if correction is None else correction
    return sum(gaps * gaps, dim, keepdim=keepdim, dtype=dtype, mask=mask) / table.clamp(count - less, 0)


def std(input, dim=None, unbiased=True, *, correction=None, keepdim=False, dtype=None, mask=None):
    return table.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


def _along(name, neutral):
    function = getattr(table, name)
    return lambda input, dim, *, dtype=None, mask=None: function(_among(input, mask, neutral, dtype), dim)


softmax, log_softmax, softmin = _along('softmax', -math.inf), _along('log_softmax', -math.inf), _along('softmin', math.inf)
cumsum, cumprod = _along('cumsum', 0.0), _along('cumprod', 1.0)


def argmax(input, dim=None, *, keepdim=False, mask=None):
    return table.argmax(_among(input, mask, -math.inf), dim, keepdim)


def argmin(input, dim=None, *, keepdim=False, mask=None):
    return table.argmin(_among(input, mask, math.inf), dim, keepdim)


__all__ = '''amax amin argmax argmin cumprod cumsum log_softmax logsumexp mean prod softmax softmin std sum var'''.split()
