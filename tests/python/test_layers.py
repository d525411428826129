"""Every layer of the table has samples here; of each, gradients of first and second order are those of differences, and
its state goes out and in."""
import numpy as np
import pytest

import saltern
from checks import check_gradients, flat, is_real
from sample import Exactly
from samples import LAYERS

rows = {name for name, c in vars(saltern.nn).items() if isinstance(c, type) and issubclass(c, saltern.nn.Layer)} - {'Layer'}


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
    return getattr(saltern.nn, sample.name)(*sample.made_with, **sample.options)


def arguments(sample):
    random = np.random.default_rng(3)
    return Nest([tuple(drawn(of, sample, random) for of in sample.inputs),
                 {name: drawn(of, sample, random) for name, of in sample.named.items()}])


def test_every_layer_has_a_sample():
    assert rows - {s.name for s in LAYERS} == set()


@pytest.mark.parametrize('sample', LAYERS, ids=str)
def test_gradients(sample):
    module = made(sample).double()
    nest = arguments(sample)
    names = [name for name, _ in module.named_parameters()]
    values = [np.array(p) for _, p in module.named_parameters()]
    count = len(nest.arrays)

    def function(*tensors):
        saltern.manual_seed(7)
        module._set_parameters(dict(zip(names, tensors[count:])))
        positional, named = nest.filled(tensors[:count])
        return module(*positional, **named)

    check_gradients(function, nest.arrays + values, sample.orders)


@pytest.mark.parametrize('sample', LAYERS, ids=str)
def test_state_and_modes(sample):
    """Another layer with the same state gives the same results, in f32."""
    one, other = made(sample).eval(), made(sample).eval()
    nest = arguments(sample)
    positional, named = nest.filled([saltern.tensor(a.astype(np.float32)) for a in nest.arrays])

    def results(module):
        saltern.manual_seed(7)
        return flat(module(*positional, **named))

    for lazy in (one, other) if sample.name.startswith('Lazy') else ():
        results(lazy)
    other.load_state_dict({name: np.array(t) for name, t in one.state_dict().items()})
    for a, b in zip(results(one), results(other)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        assert not is_real(a) or np.asarray(a).dtype == np.float32
    assert repr(one).startswith(sample.name)
