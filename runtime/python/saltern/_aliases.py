"""Names of PyTorch for what has another one here: copies, since tensors are no views that are written through, and old names."""
from ._rows import functions
from ._saltern import Tensor
from ._tensors import table


def constant_pad_nd(input, pad, value=0):
    return table.pad(input, pad, value=value)


def fill(input, value):
    """A tensor of the shape of `input`, of one value, a number or a tensor without dimensions."""
    filled = table.mul(input, 0)
    return table.where(table.isnan(filled) | True, value, filled)


alias_copy = functions['clone']
conj_physical = resolve_conj = resolve_neg = functions['positive']
unsafe_chunk, unsafe_split = functions['chunk'], functions['split']
_copies = 'diagonal expand narrow permute split_with_sizes squeeze t transpose unbind unsqueeze view'.split()
globals().update({f'{_name}_copy': functions[_name] for _name in _copies})
unfold_copy = functions['windows_along']
Tensor.__rdiv__ = Tensor.__rtruediv__
Tensor.H = Tensor.mH = property(lambda self: table.transpose(self, -2, -1))

__all__ = ['alias_copy', 'conj_physical', 'constant_pad_nd', 'fill', 'resolve_conj', 'resolve_neg', 'unfold_copy', 'unsafe_chunk',
           'unsafe_split'] + [f'{name}_copy' for name in _copies]
