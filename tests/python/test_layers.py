"""Every layer of the table has samples here; of each, gradients of first and second order are those of differences, and
its state goes out and in."""
import numpy as np
import pytest

import saltern
from checks import check_gradients, flat, is_real
from samples import LAYERS
from trying import arguments, made

rows = {name for name, c in vars(saltern.nn).items() if isinstance(c, type) and issubclass(c, saltern.nn.Layer)} - {'Layer'}


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
