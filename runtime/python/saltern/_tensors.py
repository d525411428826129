"""Tensors: made from arrays, and computed with. Functions of the table whose first argument is
`input` are their methods."""
import contextlib
import types

import numpy as np

from . import _saltern
from ._rows import functions
from ._saltern import Tensor

table = types.SimpleNamespace(**functions)  # by name, beside Python's own sum, abs, ...


def tensor(data, dtype=None, requires_grad=False):
    """A tensor with a copy of the data: an array, numbers, or lists of them. Plain floats are float32."""
    if isinstance(data, Tensor):
        data = data.numpy()
    array = np.array(data, dtype=dtype)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder('='))
    if array.dtype.kind not in 'biufcV':  # V: small types of others
        raise TypeError(f'tensor: elements are {array.dtype}; expected numbers or truths')
    if array.dtype.kind == 'c':
        from ._complex import complex_tensor  # which is made of tensors
        plain = not isinstance(data, (np.ndarray, np.generic)) and dtype is None
        return complex_tensor(array, np.float32 if plain else None, requires_grad)
    if dtype is None and array.dtype == np.float64 and not isinstance(data, (np.ndarray, np.generic)):
        array = array.astype(np.float32)
    return _saltern.leaf(_saltern.shared(array, 'tensor'), requires_grad)


def from_numpy(array):
    """A tensor in the memory of the array, which must not be read-only."""
    return _saltern.shared(array, 'from_numpy')


def from_dlpack(array):
    """A tensor in the memory of an array or tensor of any framework that speaks DLPack, on the CPU."""
    return _saltern.shared(array, 'from_dlpack')


def save(tensors, path, metadata=None):
    """Writes tensors by name, such as a state_dict(), as a safetensors file; until it returns the old file stays."""
    named = {name: t if isinstance(t, Tensor) else tensor(t) for name, t in tensors.items()}
    _saltern.save(str(path), named, metadata or {})


def load(path):
    """The tensors of a safetensors file by name."""
    return _saltern.load(str(path))[0]


@contextlib.contextmanager
def no_grad():
    """Inside, nothing is recorded for gradients."""
    guard = _saltern.NoGradient()
    try:
        yield
    finally:
        del guard


@contextlib.contextmanager
def batching():
    """Inside, operations are postponed until a value or a gradient is asked for; then equal ones of many small nets, such
    as one for each tree of a batch, are computed by one call."""
    guard = _saltern.Batching()
    try:
        yield
        guard.compute()
    finally:
        guard.drop()


def _array(self, dtype=None, copy=None):
    array = self.numpy()
    return np.array(array, dtype=dtype) if copy or (dtype is not None and dtype != array.dtype) else array


def _swapped(name):
    function = functions[name]
    return lambda self, other: function(other, self)


def _text(self):
    """The elements as NumPy prints them, with what a tensor has beside them; without elements shape and type."""
    try:
        elements = np.array2string(self.detach().numpy(), separator=', ', prefix='tensor(')
    except (TypeError, ValueError, RuntimeError):
        return self._outline()
    types = '' if str(self.dtype) in ('float32', 'int64', 'bool') else f', dtype={self.dtype}'
    return f'tensor({elements}{types}' + (', requires_grad=True)' if self.requires_grad else ')')


def _rows_of(self):
    if self.ndim == 0:
        raise TypeError('a tensor without dimensions has no length')
    return self.shape


Tensor.__array__ = _array
Tensor.__repr__ = _text
Tensor.__array_priority__ = 1000
Tensor.__len__ = lambda self: _rows_of(self)[0]
Tensor.__format__ = lambda self, form: format(self.item() if form and self.ndim == 0 else str(self), form)
Tensor.__bool__ = lambda self: bool(self.item())
Tensor.__float__ = lambda self: float(self.item())
Tensor.__int__ = lambda self: int(self.item())
Tensor.size = lambda self, dim=None: self.shape if dim is None else self.shape[dim]
Tensor.dim = lambda self: self.ndim
Tensor.numel = lambda self: int(np.prod(self.shape, dtype=np.int64))
Tensor.tolist = lambda self: self.numpy().tolist()

_operators = {'add': 'add', 'sub': 'sub', 'mul': 'mul', 'truediv': 'div', 'floordiv': 'floor_divide', 'mod': 'remainder',
              'pow': 'pow', 'matmul': 'matmul', 'and': 'bitwise_and', 'or': 'bitwise_or', 'xor': 'bitwise_xor'}
for _operator, _name in _operators.items():
    setattr(Tensor, f'__{_operator}__', functions[_name])
    setattr(Tensor, f'__r{_operator}__', _swapped(_name))
for _operator, _name in {'neg': 'neg', 'abs': 'abs', 'invert': 'bitwise_not'}.items():
    setattr(Tensor, f'__{_operator}__', functions[_name])


def _comparison(name):
    function = functions[name]
    return lambda self, other: NotImplemented if other is None else function(self, other)


for _operator in ('eq', 'ne', 'lt', 'le', 'gt', 'ge'):
    setattr(Tensor, f'__{_operator}__', _comparison(_operator))
Tensor.__hash__ = object.__hash__


def _iterate(self):
    if self.ndim == 0:
        raise TypeError('a tensor without dimensions has no parts')
    return iter(table.unbind(self))


Tensor.__iter__ = _iterate


# ---- Functions that take several arguments where the table has a list.

def einsum(equation, *operands):
    """einsum('ij,jk->ik', a, b)"""
    listed = len(operands) == 1 and isinstance(operands[0], (tuple, list))
    return functions['einsum'](equation, list(operands[0] if listed else operands))


def _spread(name):
    """A method whose last argument is a list, which may be given as several: x.reshape(2, -1)."""
    function = functions[name]

    def method(self, *sizes):
        return function(self, sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


for _name in ('reshape', 'view', 'permute', 'expand', 'repeat', 'flip', 'sum_to_size'):
    setattr(Tensor, _name, _spread(_name))


def _to(self, dtype):
    return table.cast(self, str(np.dtype(dtype)))


def _deepcopy(self, memo):
    copied = tensor(self.numpy(), requires_grad=self.requires_grad)
    copied.__dict__.update(self.__dict__)
    return copied


def _remade(array, requires_grad, attributes):
    made = _saltern.leaf(_saltern.shared(array, 'tensor'), requires_grad)
    made.__dict__.update(attributes)
    return made


def _reduced(self, protocol):
    """As pickle takes it: a leaf, like PyTorch's; what was computed is not taken with its history."""
    if not self.is_leaf and self.requires_grad:
        raise TypeError('a tensor that was computed, and has a history, cannot be pickled or copied; detach() it first')
    return _remade, (np.array(self.detach().numpy()), self.requires_grad, dict(self.__dict__))


Tensor.__reduce_ex__ = _reduced
Tensor.__copy__ = lambda self: _saltern.leaf(self, self.requires_grad)
Tensor.__deepcopy__ = _deepcopy
Tensor.to = _to
Tensor.double = lambda self: _to(self, np.float64)
Tensor.float = lambda self: _to(self, np.float32)
Tensor.long = lambda self: _to(self, np.int64)
Tensor.bool = lambda self: _to(self, np.bool_)
Tensor.T = property(lambda self: table.t(self))
Tensor.mT = property(lambda self: table.transpose(self, -2, -1))


def zeros(*shape, dtype=np.float32, requires_grad=False):
    return tensor(np.zeros(_shape(shape), dtype), requires_grad=requires_grad)


def ones(*shape, dtype=np.float32, requires_grad=False):
    return tensor(np.ones(_shape(shape), dtype), requires_grad=requires_grad)


def full(shape, value, dtype=np.float32, requires_grad=False):
    return tensor(np.full(shape, value, dtype), requires_grad=requires_grad)


def _shape(given):
    return given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


# Methods: functions whose first argument is the tensor.
for _name, _function in functions.items():
    _first = next(iter(_function.__signature__.parameters), None)
    if _first == 'input' and not hasattr(Tensor, _name):
        setattr(Tensor, _name, _function)
