"""Arrays of others and tensors in the same memory: NumPy's, and what speaks DLPack."""
import gc

import numpy as np
import pytest

import saltern

TYPES = ['float16', 'float32', 'float64', 'bool', *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64))]


class Foreign:
    """A tensor of another framework: nothing but DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize('dtype', TYPES)
@pytest.mark.parametrize('given', [np.array, Foreign])
def test_dlpack_shares_memory_both_ways(dtype, given):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    t = saltern.from_dlpack(given(array))
    out = np.from_dlpack(t)
    assert t.shape == (2, 3) and t.dtype == dtype and out.dtype == array.dtype
    np.testing.assert_array_equal(out, array)
    assert t.__dlpack_device__() == (1, 0)
    if given is Foreign:
        array[0, 0] = 1
        assert out[0, 0] == 1
    out[1, 1] = 1
    assert np.asarray(t)[1, 1] == 1 and np.shares_memory(out, t.numpy())


@pytest.mark.parametrize('view', [lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[:, ::-1], lambda a: a[:0],
                                  lambda a: a[0, 0], lambda a: a.reshape(2, 1, 6, 1)], ids=range(6))
def test_views(view):
    array = view(np.arange(12, dtype=np.float32).reshape(4, 3))
    if isinstance(array, np.generic):
        array = np.array(array)
    t = saltern.from_dlpack(Foreign(array))
    np.testing.assert_array_equal(np.from_dlpack(t), array)
    np.testing.assert_array_equal(np.asarray(saltern.relu(t) + t), array * 2)
    assert array.size == 0 or np.shares_memory(np.from_dlpack(t), array)


def test_memory_outlives_whoever_made_it():
    t = saltern.from_dlpack(Foreign(np.full(1000, 3.0, np.float32)))
    gc.collect()
    out = np.from_dlpack(t)
    del t
    gc.collect()
    assert (out == 3).all()


def test_copies_are_asked_for():
    t = saltern.tensor([1.0, 2.0])
    copied = np.from_dlpack(t, copy=True)
    copied[0] = 5
    assert t.tolist() == [1, 2]


def read_only():
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    return array


def test_read_only_arrays_are_copied_where_one_says_so():
    for function in (saltern.from_numpy, saltern.from_dlpack):
        with pytest.raises(ValueError, match=f'{function.__name__}.*read-only'):
            function(read_only())
    t = saltern.tensor(read_only())
    t.copy_(saltern.tensor([1.0, 2.0, 3.0]))
    assert t.tolist() == [1, 2, 3]
    assert (saltern.tensor([1.0, 2.0, 3.0]) + read_only()).tolist() == [2, 3, 4]  # an argument is read


@pytest.mark.parametrize('array, error, says', [
    (lambda: np.zeros(2, np.complex64), TypeError, 'element type'),
    (lambda: np.array(['a']), TypeError, 'element type'),
    (lambda: np.zeros(2, '>f4'), TypeError, 'element type'),
    (lambda: 'abc', TypeError, 'str'),
    (lambda: 3, TypeError, 'int'),
    (lambda: np.frombuffer(bytearray(9), np.float32, 2, 1), ValueError, 'aligned'),
], ids=['complex', 'text', 'big-endian', 'word', 'number', 'unaligned'])
def test_what_cannot_be_shared(array, error, says):
    for function in (saltern.from_numpy, saltern.from_dlpack):
        with pytest.raises(error, match=f'{function.__name__}.*{says}'):
            function(array())


def test_tensors_print_their_elements():
    assert repr(saltern.tensor([[1.0, -2.5], [0.0, 3.0]])) == 'tensor([[ 1. , -2.5],\n        [ 0. ,  3. ]])'
    assert repr(saltern.tensor([1.0], dtype=np.float64, requires_grad=True)) == 'tensor([1.], dtype=float64, requires_grad=True)'
    assert repr(saltern.tensor([1, 2]) > 1) == 'tensor([False,  True])'
    assert repr(saltern.zeros(0, 3)) == 'tensor([])'
    assert '...' in repr(saltern.zeros(100, 100))
