"""Optimizers: updates of parameters in place, by the rows and kernels that C++ has (runtime/optim/rows.h)."""
from .. import _saltern
from . import lr_scheduler, swa_utils
from .lbfgs import LBFGS
from .optimizer import Optimizer, class_of as _class_of

globals().update({_row.name: _class_of(_row, _row.name) for _row in _saltern.optimizers()
                  if '.' not in _row.name and _row.name != 'LBFGS'})
