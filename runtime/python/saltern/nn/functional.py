"""Functions of tensors that layers are made of."""
from .._rows import functions

globals().update(functions)
__all__ = list(functions)
