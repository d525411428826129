"""The optimizers of Keras, with its arguments and meaning; what they move is given first: Adam(net.parameters(), 1e-3)."""
from ... import _saltern
from . import schedules
from ...optim.optimizer import class_of as _class_of

globals().update({_row.name[len('keras.'):]: _class_of(_row, _row.name[len('keras.'):]) for _row in _saltern.optimizers()
                  if _row.name.startswith('keras.')})
