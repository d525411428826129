"""What functions make of whole numbers, and of nothing."""
import numpy as np
import pytest

import saltern


def test_products_and_sums_do_not_wrap():
    x = saltern.tensor(np.array([200, 2], np.uint8))
    assert saltern.prod(x).item() == 400
    assert saltern.cumsum(x, 0).tolist() == [200, 202] and saltern.cumprod(x, 0).tolist() == [200, 400]


def test_large_ones_are_exact():
    large = 2**53 + 1
    x = saltern.tensor(np.array([large, large - 1, large]))
    assert x[0].item() == large and isinstance(x[0].item(), int)
    assert saltern.unique(x).tolist() == [large - 1, large]


def test_rounding_leaves_them():
    x = saltern.tensor(np.array([3, -2]))
    for name in ('floor', 'ceil', 'round', 'trunc'):
        assert getattr(saltern, name)(x).dtype == 'int64'


def test_bounds_may_be_real():
    assert saltern.clamp(saltern.tensor(np.array([1, 5])), 1.5, 3.5).tolist() == [1.5, 3.5]


def test_of_nothing():
    nothing = saltern.tensor(np.zeros((0,), np.float32))
    assert saltern.all(nothing).item() is True and saltern.any(nothing).item() is False
    for f in (saltern.amax, saltern.argmax):
        with pytest.raises(ValueError, match='elements to choose from'):
            f(nothing, 0)


def test_not_a_number_comes_last_and_stays():
    nan = float('nan')
    x = saltern.tensor(np.array([nan, 1, 0, 1], np.float32))
    assert saltern.unique(x).tolist()[:2] == [0, 1]
    for f in (saltern.nn.functional.hardshrink, saltern.nn.functional.softshrink):
        assert np.isnan(f(x).numpy()[0])


def test_a_vector_has_no_triangle():
    for f in (saltern.tril, saltern.triu):
        with pytest.raises(ValueError, match='matrix'):
            f(saltern.ones(3))


def test_an_index_that_is_not_there():
    with pytest.raises(IndexError):
        saltern.ones(3)[[5]]


@pytest.mark.parametrize('name', ['sign', 'sgn'])
def test_signs_are_of_the_same_type(name):
    for kind in (np.int8, np.int64, np.uint8):
        x = np.array([5, 0, -7]).astype(kind)
        found = getattr(saltern, name)(saltern.tensor(x))
        assert found.dtype == np.dtype(kind).name and found.tolist() == np.sign(x).tolist()
    assert getattr(saltern, name)(saltern.tensor([True, False])).tolist() == [True, False]


def test_activations_do_what_pytorch_does():
    """Made real, kept, or refused; never rounded without a word."""
    functional, x = saltern.nn.functional, saltern.tensor(np.array([-3, 0, 2]))
    real = np.asarray(x, np.float32)
    for name in ('softsign', 'sigmoid', 'tanh', 'tanhshrink'):
        f = getattr(functional, name)
        np.testing.assert_array_equal(np.asarray(f(x)), np.asarray(f(saltern.tensor(real))))
    for name, wanted in (('relu', [0, 0, 2]), ('relu6', [0, 0, 2]), ('hardtanh', [-1, 0, 1])):
        assert getattr(functional, name)(x).dtype == 'int64' and getattr(functional, name)(x).tolist() == wanted
    for name in ('leaky_relu', 'hardsigmoid', 'hardswish', 'hardshrink', 'softshrink', 'elu', 'softplus'):
        with pytest.raises(ValueError, match=f"{name}: 'input' is .*real numbers"):
            getattr(functional, name)(x)


def test_a_row_or_a_class_that_is_not_there():
    functional, table = saltern.nn.functional, saltern.ones(4, 4)
    places = saltern.tensor(np.array([0, 1, 2, 4]))
    for wrong in (lambda: functional.embedding(places, table), lambda: functional.cross_entropy(table, places),
                  lambda: functional.nll_loss(table, places), lambda: saltern.nn.Embedding(4, 2)(places),
                  lambda: saltern.nn.Sequential(saltern.nn.Embedding(4, 2))(places), lambda: functional.one_hot(places, 4),
                  lambda: saltern.select(table, 0, 4), lambda: saltern.softmax(table, 2)):
        with pytest.raises(IndexError, match='4|dimension 2'):
            wrong()
