"""Functions of keras.ops that PyTorch has not, or otherwise, with Keras' names and arguments: the rows `keras.*` of the table;
and Keras' metrics and optimizers."""
from .._rows import family
from . import metrics, optimizers

_functions = family('keras')
globals().update(_functions)
__all__ = list(_functions)
