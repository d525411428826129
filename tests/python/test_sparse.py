"""Sparse gradients of tables: those of dense ones, and what optimizers do with them."""
import numpy as np
import pytest
import saltern
from saltern import nn
from saltern.nn import functional as F

PLACES = np.array([[1, 4, 1], [0, 6, 4]])


def table(sparse, layer=nn.Embedding, **options):
    saltern.manual_seed(3)
    return layer(7, 4, sparse=sparse, **options)


def trained(make, optimizer, steps=3):
    net = make()
    optimize = optimizer(net.parameters())
    random = np.random.default_rng(5)
    for _ in range(steps):
        optimize.zero_grad()
        rows = net(saltern.tensor(random.integers(0, 4, (2, 3))))
        (rows * saltern.tensor(random.standard_normal(rows.shape).astype(np.float32))).sum().backward()
        optimize.step()
    return net.weight.numpy()


@pytest.mark.parametrize('layer, options, calls', [
    (nn.Embedding, {}, {}),
    (nn.Embedding, {'padding_idx': 4}, {}),
    (nn.EmbeddingBag, {'mode': 'sum'}, {}),
    (nn.EmbeddingBag, {'mode': 'mean', 'padding_idx': 1}, {}),
    (nn.EmbeddingBag, {'mode': 'sum'}, {'per_sample_weights': np.arange(6, dtype=np.float32).reshape(2, 3)}),
])
def test_is_the_dense_gradient(layer, options, calls):
    found = []
    for sparse in (False, True):
        net = table(sparse, layer, **options)
        given = {name: saltern.tensor(value) for name, value in calls.items()}
        for _ in range(2):  # the second is added
            y = net(saltern.tensor(PLACES), **given)
            (y * saltern.tensor(np.arange(y.numel(), dtype=np.float32).reshape(y.shape))).sum().backward()
        found.append(net.weight.grad)
    dense, rows = found
    assert rows.is_sparse and not dense.is_sparse
    np.testing.assert_allclose(rows.to_dense().numpy(), dense.numpy(), rtol=1e-6)
    once = rows.coalesce()
    expected = [i for i in (0, 1, 4, 6) if i != options.get('padding_idx')]
    np.testing.assert_array_equal(once.indices().numpy(), [expected])
    np.testing.assert_allclose(once.values().numpy(), dense.numpy()[expected], rtol=1e-6)
    with pytest.raises(ValueError, match='coalesce'):
        rows.indices()


def test_beside_a_dense_use_it_is_dense():
    net = table(True)
    (net(saltern.tensor(PLACES)).sum() + (net.weight * 2).sum()).backward()
    expected = np.full((7, 4), 2.0)
    np.add.at(expected, PLACES, 1)
    assert not net.weight.grad.is_sparse
    np.testing.assert_array_equal(net.weight.grad.numpy(), expected)


def test_the_second_order_is_there():
    net = table(True)
    g, = saltern.autograd.grad((net(saltern.tensor(PLACES)) ** 3).sum(), net.weight, create_graph=True)
    g.sum().backward()
    counts = np.zeros((7, 1))
    np.add.at(counts, PLACES.reshape(-1), 1)
    np.testing.assert_allclose(net.weight.grad.numpy(), 6 * net.weight.numpy() * counts, rtol=1e-5)


@pytest.mark.parametrize('optimizer', [
    lambda p: saltern.optim.SGD(p, lr=0.1),
    lambda p: saltern.optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: saltern.optim.Adam(p, lr=0.1),
])
def test_optimizers_do_as_with_the_dense_one(optimizer):
    np.testing.assert_allclose(trained(lambda: table(True), optimizer), trained(lambda: table(False), optimizer), rtol=1e-5,
                               atol=1e-6)


def test_sparse_adam_moves_touched_rows_only():
    """The formula of PyTorch's SparseAdam, by NumPy."""
    net = table(True)
    p = np.array(net.weight.numpy(), np.float64)
    m, v = np.zeros_like(p), np.zeros_like(p)
    optimize = saltern.optim.SparseAdam(net.parameters(), lr=0.1, eps=0.01)
    for step, rows in enumerate([[1, 3, 1], [3, 0], [6]]):
        optimize.zero_grad()
        (net(saltern.tensor(np.array(rows))) ** 2).sum().backward()
        optimize.step()
        for row in set(rows):
            g = 2 * p[row] * rows.count(row)
            m[row], v[row] = 0.9 * m[row] + 0.1 * g, 0.999 * v[row] + 0.001 * g * g
            rate = 0.1 * np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
            p[row] -= rate * m[row] / (np.sqrt(v[row]) + 0.01)
        np.testing.assert_allclose(net.weight.numpy(), p, rtol=1e-4, atol=1e-5)


def test_mistakes_are_named():
    net = table(False)
    net(saltern.tensor(PLACES)).sum().backward()
    with pytest.raises(ValueError, match='sparse gradients only'):
        saltern.optim.SparseAdam(net.parameters()).step()
    with pytest.raises(TypeError, match='dense tensor'):
        net.weight.grad.coalesce()
    with pytest.raises(ValueError, match='scale_grad_by_freq'):
        F.embedding(saltern.tensor(PLACES), net.weight, scale_grad_by_freq=True, sparse=True)
    with pytest.raises(ValueError, match='mode'):
        F.embedding_bag(saltern.tensor(PLACES), net.weight, mode='max', sparse=True)
