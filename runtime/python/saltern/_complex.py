"""Complex numbers: a ComplexTensor is a tensor of pairs, (..., 2), whose last dimension one does not see. Gradients are those
of the pairs: the gradient of a real number with respect to z is d/dx + i d/dy, as PyTorch has it."""
import numpy as np

from . import _saltern
from ._rows import family, functions
from ._saltern import Tensor
from ._tensors import tensor

_rows = family('complex')


class ComplexTensor:
    """z.real + i z.imag; view_as_real(z) are its pairs."""
    __array_priority__ = 1000

    def __init__(self, pairs):
        if not pairs.shape or pairs.shape[-1] != 2:
            raise ValueError(f'ComplexTensor: pairs are {pairs.shape}; expected (..., 2)')
        self._pairs = pairs

    shape = property(lambda self: self._pairs.shape[:-1])
    ndim = property(lambda self: self._pairs.ndim - 1)
    dtype = property(lambda self: {'float32': 'complex64', 'float64': 'complex128'}[self._pairs.dtype])
    requires_grad = property(lambda self: self._pairs.requires_grad)
    real = property(lambda self: _rows['real'](self._pairs))
    imag = property(lambda self: _rows['imag'](self._pairs))
    grad = property(lambda self: None if self._pairs.grad is None else ComplexTensor(self._pairs.grad))

    def abs(self):
        return _rows['abs'](self._pairs)

    def angle(self):
        return _rows['angle'](self._pairs)

    def conj(self):
        return ComplexTensor(_rows['conj'](self._pairs))

    def exp(self):
        return polar(self.real.exp(), self.imag)

    def sum(self, dim=None, keepdim=False):
        return complex(self.real.sum(dim, keepdim), self.imag.sum(dim, keepdim))

    def mean(self, dim=None, keepdim=False):
        return complex(self.real.mean(dim, keepdim), self.imag.mean(dim, keepdim))

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return ComplexTensor(self._pairs.reshape(*shape, 2) if -1 not in shape else
                             complex(self.real.reshape(*shape), self.imag.reshape(*shape))._pairs)

    def transpose(self, dim0, dim1):
        at = lambda d: d % self.ndim
        return ComplexTensor(self._pairs.transpose(at(dim0), at(dim1)))

    def detach(self):
        return ComplexTensor(self._pairs.detach())

    def numpy(self):
        pairs = np.ascontiguousarray(self._pairs.numpy())
        return pairs.view(self.dtype)[..., 0]

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def tolist(self):
        return self.numpy().tolist()

    def item(self):
        return self.numpy().item()

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"tensor({np.array2string(self.numpy(), separator=', ', prefix='tensor(')}, dtype={self.dtype})"

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if not any(k is Ellipsis for k in keys):
            keys += (Ellipsis,)
        return ComplexTensor(self._pairs[keys + (slice(None),)])

    def __neg__(self):
        return ComplexTensor(-self._pairs)

    def __abs__(self):
        return self.abs()

    def __add__(self, other):
        return ComplexTensor(self._pairs + _pairs_of(other, self))

    def __sub__(self, other):
        return ComplexTensor(self._pairs - _pairs_of(other, self))

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if _is_real(other):
            return ComplexTensor(self._pairs * _beside_pairs(other))
        return ComplexTensor(_rows['mul'](self._pairs, _pairs_of(other, self)))

    def __truediv__(self, other):
        if _is_real(other):
            return ComplexTensor(self._pairs / _beside_pairs(other))
        return ComplexTensor(_rows['div'](self._pairs, _pairs_of(other, self)))

    def __rtruediv__(self, other):
        return ComplexTensor(_rows['div'](_pairs_of(other, self), self._pairs))

    def __matmul__(self, other):
        other = ComplexTensor(_pairs_of(other, self))
        return complex(self.real @ other.real - self.imag @ other.imag, self.real @ other.imag + self.imag @ other.real)

    def __rmatmul__(self, other):
        return ComplexTensor(_pairs_of(other, self)) @ self

    __radd__, __rmul__ = __add__, __mul__


def _left_to_complex(plain):
    """An operator of real tensors, which leaves complex ones to theirs."""
    return lambda self, other: NotImplemented if isinstance(other, ComplexTensor) else plain(self, other)


for _operator in ('add', 'sub', 'mul', 'truediv', 'matmul'):
    setattr(Tensor, f'__{_operator}__', _left_to_complex(getattr(Tensor, f'__{_operator}__')))


def _is_real(x):
    return isinstance(x, (int, float, Tensor)) or (isinstance(x, np.ndarray) and x.dtype.kind != 'c')


def _beside_pairs(x):
    """A real tensor that broadcasts with pairs."""
    return functions['unsqueeze'](x if isinstance(x, Tensor) else tensor(x), -1) if hasattr(x, 'shape') else x


def _pairs_of(x, like=None):
    """The pairs of what may be real."""
    if isinstance(x, ComplexTensor):
        return x._pairs
    if isinstance(x, Tensor):
        return _rows['pairs'](x, tensor(np.zeros(x.shape, x.dtype)))
    kind = like._pairs.dtype if like is not None and not isinstance(x, np.ndarray) else None
    return complex_tensor(x, kind)._pairs


def complex_tensor(data, kind=None, requires_grad=False):
    """A ComplexTensor with a copy of the data, in pairs of `kind`."""
    array = np.asarray(data)
    array = array.astype(np.complex64 if array.dtype == np.complex64 else np.complex128)
    pairs = np.stack([array.real, array.imag], -1)
    return ComplexTensor(_saltern.leaf(_saltern.shared(pairs.astype(kind or pairs.dtype), "tensor"), requires_grad))


def complex(real, imag):
    real, imag = functions['broadcast_tensors']([real, imag])
    return ComplexTensor(_rows['pairs'](real, imag))


def polar(abs, angle):
    return ComplexTensor(_rows['polar'](abs, angle))


def view_as_real(z):
    """The pairs of a ComplexTensor: (..., 2)."""
    if not isinstance(z, ComplexTensor):
        raise TypeError(f'view_as_real: the argument is a {type(z).__name__}; expected a ComplexTensor')
    return z._pairs


def view_as_complex(pairs):
    return ComplexTensor(pairs)


def is_complex(x):
    return isinstance(x, ComplexTensor)


def _of_both(name, of_real):
    """A function of complex numbers, and of real ones."""
    def function(input):
        if isinstance(input, ComplexTensor):
            found = getattr(input, name)
            return found() if callable(found) else found
        return of_real(input)

    function.__name__ = function.__qualname__ = name
    return function


real = _of_both('real', lambda x: x)
conj = _of_both('conj', lambda x: x)
angle = _of_both('angle', lambda x: _rows['angle'](_pairs_of(x)))
abs = _of_both('abs', functions['abs'])


def imag(input):
    if not isinstance(input, ComplexTensor):
        raise TypeError('imag: the argument is real; expected a ComplexTensor')
    return input.imag
