"""Tensors, and what happens to bad input."""
import copy
import pickle

import numpy as np
import pytest

import saltern
from checks import check_gradients


def test_arrays_go_in_and_out():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    copied, shared = saltern.tensor(array), saltern.from_numpy(array)
    array[0, 0] = 9
    assert np.asarray(copied)[0, 0] == 0 and np.asarray(shared)[0, 0] == 9
    assert np.shares_memory(shared.numpy(), array)
    np.testing.assert_array_equal(np.asarray(saltern.from_numpy(array.T)), array.T)
    np.testing.assert_array_equal(np.from_dlpack(shared), array)


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'bool'])
def test_element_types(dtype):
    array = np.array([[0, 1], [1, 0]], dtype=dtype)
    t = saltern.tensor(array)
    assert np.asarray(t).dtype == array.dtype
    np.testing.assert_array_equal(np.asarray(t), array)


def test_lists_and_numbers():
    assert saltern.tensor([1.5, 2.5]).dtype == 'float32' and saltern.tensor([1, 2]).dtype == 'int64'
    assert saltern.tensor(3.0).item() == 3


def test_gradients_of_leaves():
    x = saltern.tensor([1.0, -2.0, 3.0], requires_grad=True)
    saltern.relu(x).backward(saltern.tensor([1.0, 1.0, 2.0]))
    assert x.grad.tolist() == [1, 0, 2]
    saltern.relu(x).backward(saltern.tensor([1.0, 1.0, 2.0]))
    assert x.grad.tolist() == [2, 0, 4]


def test_no_grad():
    x = saltern.tensor([1.0], requires_grad=True)
    with saltern.no_grad():
        assert not saltern.relu(x).requires_grad
    assert saltern.relu(x).requires_grad


def test_gradient_of_what_is_not_used():
    x, y = (saltern.tensor([1.0], requires_grad=True) for _ in range(2))
    assert saltern.autograd.grad(saltern.relu(x), [x, y], allow_unused=True)[1] is None
    with pytest.raises(ValueError, match='input 1'):
        saltern.autograd.grad(saltern.relu(x), [x, y])


@pytest.mark.parametrize('call, error, says', [
    (lambda x: saltern.nn.ELU(beta=2), TypeError, "ELU has no argument 'beta'"),
    (lambda x: saltern.nn.Threshold(1.0), TypeError, "Threshold needs the argument 'value'"),
    (lambda x: saltern.nn.functional.gelu(x, approximate='best'), ValueError, "'approximate' is 'best'; expected one of"),
    (lambda x: saltern.nn.functional.relu('x'), TypeError, "'input' is 'x'; expected a tensor"),
    (lambda x: saltern.nn.functional.softmax(x, 5), IndexError, 'dimension 5'),
    (lambda x: saltern.nn.PReLU().load_state_dict({}), KeyError, 'weight'),
    (lambda x: saltern.nn.PReLU().load_state_dict({'weight': np.zeros(3)}), ValueError, 'weight'),
    (lambda x: saltern.tensor(np.array(['a'])), TypeError, 'expected numbers'),
])
def test_bad_input(call, error, says):
    with pytest.raises(error, match=says):
        call(saltern.tensor([1.0, 2.0]))


RANDOM = np.random.default_rng(1)
A, B = RANDOM.standard_normal((3, 4, 5)), RANDOM.standard_normal((4, 5))


@pytest.mark.parametrize('key', [
    0, -1, slice(1, 3), (slice(None), 2), (Ellipsis, 1), (0, slice(None, None, 2)), None, (slice(None), None, 1),
    ([0, 2, 1],), ([0, 2], [1, 3]), ([0, 2], slice(None), [1, 3]), (slice(None), [[0, 1], [3, -1]]), (A[:, 0, 0] > 0,),
    (A > 0.5,), (slice(0, 0),),
], ids=str)
def test_indexing(key):
    np.testing.assert_array_equal(np.asarray(saltern.tensor(A)[key]), A[key])
    check_gradients(lambda x: x[key], [A])


@pytest.mark.parametrize('key', [3, (0, 0, 0, 0), ([5],), (A[0] > 0,), 'x', 1.5])
def test_bad_indices(key):
    with pytest.raises((IndexError, ValueError, TypeError)):
        saltern.tensor(A)[key]


@pytest.mark.parametrize('name, function', [
    ('add', lambda x, y: x + y), ('rsub', lambda x, y: 1 - x), ('mul', lambda x, y: x * y), ('div', lambda x, y: x / y),
    ('pow', lambda x, y: x**2), ('power', lambda x, y: abs(x)**1.5), ('matmul', lambda x, y: x @ y.T),
    ('neg', lambda x, y: -x), ('mean', lambda x, y: x.mean(1)), ('sum', lambda x, y: x.sum()),
    ('keepdims', lambda x, y: x.sum(1, True) if isinstance(x, saltern.Tensor) else x.sum(1, keepdims=True)),
    ('reshape', lambda x, y: x.reshape(2, -1)), ('clip', lambda x, y: x.clamp(-1, 1) if isinstance(x, saltern.Tensor) else np.clip(x, -1, 1)),
    ('less', lambda x, y: x < y), ('equal', lambda x, y: x == x), ('std', lambda x, y: x.std(1, False) if isinstance(x, saltern.Tensor) else x.std(1)),
    ('prod', lambda x, y: x.prod(0)), ('cumsum', lambda x, y: x.cumsum(1)), ('argmax', lambda x, y: x.argmax(1)),
])
def test_arithmetic_as_numpy_has_it(name, function):
    np.testing.assert_allclose(np.asarray(function(saltern.tensor(A), saltern.tensor(B))), function(A, B), rtol=1e-6)
    if np.asarray(function(A, B)).dtype.kind == 'f':
        check_gradients(lambda x, y: function(x, y), [A, B])


@pytest.mark.parametrize('equation, shapes', [
    ('ij,jk->ik', [(2, 3), (3, 4)]), ('bij,bjk->bik', [(2, 3, 4), (2, 4, 2)]), ('ij->ji', [(2, 3)]), ('ii->i', [(3, 3)]),
    ('ij,ij', [(2, 3), (2, 3)]), ('...ij,...jk->...ik', [(2, 3, 2, 3), (3, 3, 2)]), ('i,j,k->ijk', [(2,), (3,), (2,)]), ('ij->', [(2, 3)]),
])
def test_einsum(equation, shapes):
    arrays = [RANDOM.standard_normal(s) for s in shapes]
    np.testing.assert_allclose(np.asarray(saltern.einsum(equation, *map(saltern.tensor, arrays))),
                               np.einsum(equation, *arrays), rtol=1e-9)
    check_gradients(lambda *xs: saltern.einsum(equation, *xs), arrays)


def test_types_mix_as_in_pytorch():
    whole, real = saltern.tensor([1, 2]), saltern.tensor([0.5, 1.5])
    assert (whole + real).dtype == 'float32' and (whole + 1).dtype == 'int64' and (whole + 0.5).dtype == 'float32'
    assert (whole / 2).tolist() == [0.5, 1] and (saltern.tensor([True]) + 1).dtype == 'int64'
    assert (whole > 1).dtype == 'bool' and (real.double() * real).dtype == 'float64'


def test_order():
    x = saltern.tensor(A)
    values, places = x.topk(2, 1)
    np.testing.assert_array_equal(np.asarray(values), -np.sort(-A, 1)[:, :2])
    np.testing.assert_array_equal(np.asarray(places), np.argsort(-A, 1)[:, :2])
    np.testing.assert_array_equal(np.asarray(x.sort(-1)[0]), np.sort(A))
    largest, at = x.max(2)
    np.testing.assert_array_equal(np.asarray(largest), A.max(2))
    np.testing.assert_array_equal(np.asarray(at), A.argmax(2))
    check_gradients(lambda x: [x.topk(2, 1)[0], x.sort(0)[0], x.max(2)[0], x.amin((0, 2))], [A])


@pytest.mark.parametrize('name, slope', [('softplus', 0.5), ('logsigmoid', 0.5), ('relu', 0), ('silu', 0.5), ('gelu', 0.5),
                                         ('relu6', 0), ('elu', 1), ('softsign', 1), ('hardswish', 0.5), ('abs', 0)])
def test_slopes_at_0(name, slope):
    """Differences do not see what is at one point only; these are PyTorch's."""
    x = saltern.tensor([0.0], requires_grad=True)
    assert saltern.autograd.grad(getattr(saltern.nn.functional, name)(x), x)[0].tolist() == [slope]


@pytest.mark.parametrize('name', ['log1p', 'expm1'])
@pytest.mark.parametrize('dtype, error', [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_small_numbers_keep_their_digits(name, dtype, error):
    x = np.concatenate([np.logspace(-9, 1, 300), -np.logspace(-9, -0.1, 300)]).astype(dtype)
    exact = getattr(np, name)(x.astype(np.longdouble))
    np.testing.assert_allclose(np.asarray(getattr(saltern, name)(saltern.tensor(x))), exact, rtol=error)


def test_operators_of_whole_numbers_and_truths():
    x, yes, no = saltern.tensor([7, -7]), saltern.tensor([True, True]), saltern.tensor([True, False])
    assert (x // 2).tolist() == [3, -4] and (x % 4).tolist() == [3, 1] and (x & 3).tolist() == [3, 1]
    assert (yes & no).tolist() == [True, False] and (~no).tolist() == [False, True] and (yes ^ no).tolist() == [False, True]
    assert (no | yes).tolist() == [True, True]


def test_scatter_is_the_way_back_of_gather():
    index = np.array([[0, 2, 0, 1], [2, 2, 1, 0]])
    x, source = RANDOM.standard_normal((3, 4)), RANDOM.standard_normal((2, 4))
    wanted = x.copy()
    np.add.at(wanted, (index, np.arange(4)[None].repeat(2, 0)), source)
    add = lambda x, s: saltern.scatter_add(x, 0, saltern.tensor(index), s)
    np.testing.assert_allclose(np.asarray(add(saltern.tensor(x), saltern.tensor(source))), wanted)
    check_gradients(add, [x, source])
    with pytest.raises(IndexError, match="names 5; the dimension has 3"):
        saltern.scatter_add(saltern.tensor(x), 0, saltern.tensor([[5]]), saltern.tensor(source))
    with pytest.raises(ValueError, match="'src' is"):
        saltern.scatter_add(saltern.tensor(x), 0, saltern.tensor(index), saltern.tensor([[1.0]]))


def test_more_dimensions_than_kernels_take():
    """No two of the six can be one."""
    a, b = (np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 1, 3, 1, 2, 1), (1, 4, 1, 2, 1, 3)))
    np.testing.assert_array_equal(np.asarray(saltern.tensor(a) * saltern.tensor(b)), a * b)


def test_tensors_are_copied_formatted_and_refused_as_arrays_are():
    x = saltern.tensor([1.5, 2.0], requires_grad=True)
    again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == x.tolist() and again.requires_grad and copy.copy(x).tolist() == x.tolist()
    assert saltern.tensor(np.arange(3, dtype='>f4')).tolist() == [0, 1, 2]
    assert f'{saltern.tensor(1.5):.2f}' == '1.50'
    for wrong in (['a'], np.array([object()]), np.array(['2020-01-01'], dtype='datetime64[D]')):
        with pytest.raises(TypeError, match='expected numbers or truths'):
            saltern.tensor(wrong)
    with pytest.raises(TypeError, match='no length'):
        len(saltern.tensor(1.0))
