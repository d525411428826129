"""Layers with PyTorch's names, arguments, parameters and defaults: one class for each row of the table that C++ has."""
from . import functional, init
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .foreign import from_torch
from .linear_cross_entropy_options import LinearCrossEntropyOptions
from .module import Layer, Module, Parameter, class_of
from . import packed  # noqa: F401: what recurrent layers take
from .._rows import layers

for _name, _row in layers.items():
    globals()[_name] = class_of(_row)

from . import utils  # noqa: E402: which needs the classes
