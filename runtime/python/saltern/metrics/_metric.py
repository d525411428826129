"""Python classes and functions from the rows of metrics that C++ has (runtime/metrics)."""
import copy

from .. import _saltern
from .._rows import signature_of

rows = _saltern.metrics()


def plain(result):
    """Results by name are a list of pairs in the table."""
    parts = [r for r in result if isinstance(r, tuple)] if isinstance(result, tuple) else []
    if parts and all(len(r) == 2 and isinstance(r[0], str) for r in parts):
        return dict(parts)
    return list(result) if parts else result


class Metric:
    """What batches add up to: update() with each, compute() the value of all; a call does both, and gives the batch's."""
    _row = None

    def __init__(self, *args, **kwargs):
        self._metric = self._row.make(*args, **kwargs)

    def update(self, *args, **kwargs):
        self._metric.update(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """Updates, and gives the value of this batch alone."""
        return plain(self._metric.step(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def compute(self):
        """The value of all that was seen since the last reset(); NaN of nothing."""
        return plain(self._metric.compute())

    def value(self):
        """The same, where it is one number."""
        return float(self.compute())

    def reset(self):
        self._metric.reset()

    def merge_state(self, other):
        """From here on, this one has seen what the other has, too."""
        self._metric.merge(other._metric)

    @property
    def name(self):
        return self._metric.name

    def state_dict(self):
        return self._metric.state()

    def load_state_dict(self, state):
        self._metric.set_state(state)

    def clone(self):
        return copy.deepcopy(self)

    def __deepcopy__(self, memo):
        other = type(self).__new__(type(self))
        other.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != '_metric'})
        other._metric = self._metric.copy()
        return other

    def __repr__(self):
        return f'{self.name}({", ".join(f"{k}={v!r}" for k, v in self._metric.options().items())})'


class KerasMetric(Metric):
    """The same with Keras' names of what is done with it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{k: v for k, v in kwargs.items() if k != 'dtype'})

    def update_state(self, *args, **kwargs):
        self.update(*args, **kwargs)

    def result(self):
        return self.compute()

    def reset_state(self):
        self.reset()

    @property
    def name(self):
        return self._metric.options().get('name') or self._metric.name.rpartition('.')[2]


def class_of(row, base=Metric):
    made = type(row.name.rpartition('.')[2], (base,), {'_row': row, '__signature__': signature_of(row.made_with)})
    made.__doc__ = f'{made.__name__}{made.__signature__}; updated with {signature_of(row.updated_with)}.'
    return made


def function_of(row):
    def function(*args, **kwargs):
        return plain(row.call(*args, **kwargs))

    function.__name__ = function.__qualname__ = row.function
    function.__signature__ = signature_of(row.called_with)
    function.__doc__ = f'{row.function}{function.__signature__}: the value of {row.name} of one batch.'
    return function
