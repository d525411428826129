"""The schedules of Keras: functions of the step, which an optimizer takes as its learning_rate."""
from ... import _saltern
from ..._rows import signature_of


class LearningRateSchedule:
    """One of one's own has __call__(step)."""

    def __call__(self, step):
        raise NotImplementedError(f'{type(self).__name__} has no __call__()')


def _class_of(row, name):
    signature = signature_of(row.arguments)

    def __init__(self, *args, **kwargs):
        kwargs.pop('name', None)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._options = dict(bound.arguments)
        self(0)  # which checks them

    def __call__(self, step):
        return row.at(self._options, 0, float(step))

    def get_config(self):
        return dict(self._options)

    __init__.__signature__ = signature
    return type(name, (LearningRateSchedule,), {'__init__': __init__, '__call__': __call__, 'get_config': get_config,
                                                '__doc__': f'{name}{signature}'})


globals().update({_row.name[len('keras.'):]: _class_of(_row, _row.name[len('keras.'):]) for _row in _saltern.schedules()
                  if _row.name.startswith('keras.')})
