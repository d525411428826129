"""A sample's layer, and what it is called with."""
import copy

import numpy as np

import saltern
from sample import Exactly


def drawn(of, sample, random):
    if isinstance(of, Exactly):
        return of.value
    if isinstance(of, np.ndarray) or of is None or isinstance(of, (bool, int, float, str)):
        return of
    if isinstance(of, (list, tuple)) and of and isinstance(of[0], (list, tuple, np.ndarray)):
        return tuple(drawn(each, sample, random) for each in of)
    return random.uniform(sample.low, sample.high, of)


class Nest:
    """Arguments as they are nested, and the real arrays among them as a list."""

    def __init__(self, nested):
        self.nested, self.arrays = nested, []
        self._find(nested)

    def _find(self, value):
        if isinstance(value, (tuple, list)):
            for each in value:
                self._find(each)
        elif isinstance(value, dict):
            for each in value.values():
                self._find(each)
        elif isinstance(value, np.ndarray) and value.dtype.kind == 'f':
            self.arrays.append(value)

    def filled(self, tensors):
        """The nest with these tensors in the place of the real arrays."""
        rest = iter(tensors)

        def fill(value):
            if isinstance(value, (tuple, list)):
                return tuple(fill(each) for each in value)
            if isinstance(value, dict):
                return {key: fill(each) for key, each in value.items()}
            if isinstance(value, np.ndarray):
                return next(rest) if value.dtype.kind == 'f' else saltern.tensor(value)
            return value

        return fill(self.nested)


def made(sample):
    saltern.manual_seed(5)
    made_with, options = copy.deepcopy((sample.made_with, sample.options))  # layers among them are converted
    return getattr(saltern.nn, sample.name)(*made_with, **options)


def arguments(sample):
    random = np.random.default_rng(3)
    return Nest([tuple(drawn(of, sample, random) for of in sample.inputs),
                 {name: drawn(of, sample, random) for name, of in sample.named.items()}])
