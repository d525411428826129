"""What layers keep and change beside their results, and what random ones draw."""
import numpy as np
import pytest

import saltern
from saltern import nn
from saltern.nn import functional as F

random = np.random.default_rng(0)


def real(*shape):
    return random.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize('momentum', [0.1, 0.3, None])
def test_running_statistics_of_batches(momentum):
    norm, x = nn.BatchNorm2d(3, momentum=momentum), [real(4, 3, 2, 5) + 1 for _ in range(3)]
    mean, variance = np.zeros(3), np.ones(3)
    for i, batch in enumerate(x):
        norm(saltern.tensor(batch))
        share = 1 / (i + 1) if momentum is None else momentum
        mean = (1 - share) * mean + share * batch.mean((0, 2, 3))
        variance = (1 - share) * variance + share * batch.var((0, 2, 3), ddof=1)
    np.testing.assert_allclose(norm.running_mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(norm.running_var.numpy(), variance, rtol=1e-5)
    assert norm.num_batches_tracked.item() == 3
    y = norm.eval()(saltern.tensor(x[0])).numpy()
    beside = lambda v: v.reshape(1, 3, 1, 1)
    np.testing.assert_allclose(y, (x[0] - beside(mean)) / np.sqrt(beside(variance) + 1e-5), rtol=1e-4, atol=1e-5)
    assert norm.num_batches_tracked.item() == 3


def test_running_statistics_of_samples():
    norm, x = nn.InstanceNorm1d(3, track_running_stats=True), real(4, 3, 5) + 1
    norm(saltern.tensor(x))
    np.testing.assert_allclose(norm.running_mean.numpy(), 0.1 * x.mean(2).mean(0), rtol=1e-5)
    np.testing.assert_allclose(norm.running_var.numpy(), 0.9 + 0.1 * x.var(2, ddof=1).mean(0), rtol=1e-5)


def test_a_row_for_padding_has_no_gradient():
    table = nn.Embedding(4, 3, padding_idx=-3)
    assert table.weight.numpy()[1].tolist() == [0, 0, 0]
    table(saltern.tensor([0, 1, 1, 3, 3])).backward(saltern.tensor(np.ones((5, 3), np.float32)))
    assert table.weight.grad.numpy()[:, 0].tolist() == [1, 0, 0, 2]


def test_gradients_by_frequency():
    w = saltern.tensor(real(4, 3), requires_grad=True)
    F.embedding(saltern.tensor([0, 3, 3]), w, scale_grad_by_freq=True).backward(saltern.tensor(np.ones((3, 3), np.float32)))
    assert w.grad.numpy()[:, 0].tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize('make', [nn.Embedding, nn.EmbeddingBag])
def test_rows_that_are_used_become_shorter(make):
    table = make(4, 3, max_norm=1.0)
    table.weight.copy_(saltern.tensor(np.full((4, 3), 2, np.float32)))
    table(saltern.tensor([[0, 2]]))
    np.testing.assert_allclose(np.linalg.norm(table.weight.numpy(), axis=1), [1, np.sqrt(12), 1, np.sqrt(12)], rtol=1e-5)


def test_frozen_and_given_tables():
    given = real(4, 3)
    table = nn.Embedding(4, 3, _weight=given, _freeze=True)
    assert not table.weight.requires_grad
    np.testing.assert_array_equal(table(saltern.tensor([2])).numpy(), given[2:3])


@pytest.mark.parametrize('name, shape, mask', [
    ('Dropout', (20, 10, 30), (20, 10, 30)), ('Dropout1d', (40, 50, 3), (40, 50, 1)),
    ('Dropout2d', (40, 50, 2, 3), (40, 50, 1, 1)), ('Dropout3d', (60, 2, 2, 3), (60, 1, 1, 1))])
def test_what_dropout_leaves(name, shape, mask):
    """About a share of 1 - p of elements, or of whole channels, scaled so that the mean stays; others each time."""
    saltern.manual_seed(1)
    layer, x = getattr(nn, name)(0.3), saltern.tensor(np.ones(shape, np.float32))
    y, z = layer(x).numpy(), layer(x).numpy()
    first = y[tuple(slice(0, m) for m in mask)]
    np.testing.assert_array_equal(y, np.broadcast_to(first, shape))
    np.testing.assert_allclose(np.unique(y), [0, 1 / 0.7], rtol=1e-6)
    assert abs((first > 0).mean() - 0.7) < 4 * np.sqrt(0.21 / first.size)
    assert (y != z).any()
    np.testing.assert_array_equal(layer.eval()(x).numpy(), x.numpy())
    saltern.manual_seed(1)
    np.testing.assert_array_equal(layer.train()(x).numpy(), y)


@pytest.mark.parametrize('name', ['AlphaDropout', 'FeatureAlphaDropout'])
def test_alpha_dropout_keeps_mean_and_variance(name):
    saltern.manual_seed(2)
    y = getattr(nn, name)(0.4)(saltern.tensor(real(400, 500, 1))).numpy()
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02


def test_random_slopes_are_in_their_range():
    saltern.manual_seed(3)
    slopes = -nn.RReLU(0.2, 0.4)(saltern.tensor(np.full((500,), -1, np.float32))).numpy()
    assert slopes.min() >= 0.2 and slopes.max() <= 0.4 and abs(slopes.mean() - 0.3) < 0.02


def test_gumbel_softmax_chooses_by_probability():
    saltern.manual_seed(4)
    p = np.array([0.1, 0.6, 0.3], np.float32)
    y = F.gumbel_softmax(saltern.tensor(np.tile(np.log(p), (4000, 1)), requires_grad=True), hard=True)
    assert set(np.unique(y.numpy().round(6))) == {0, 1} and y.requires_grad
    np.testing.assert_allclose(y.numpy().mean(0), p, atol=0.04)


def test_a_lazy_layer_is_what_it_is_named_after():
    layer = nn.LazyLinear(3)
    assert list(layer.named_parameters()) == []
    layer.eval()
    assert layer(saltern.tensor(real(2, 4))).shape == (2, 3)
    assert [(n, p.shape) for n, p in layer.named_parameters()] == [('weight', (3, 4)), ('bias', (3,))]
    assert layer.in_features == 4 and not layer._layer.training
    with pytest.raises(ValueError, match='in = 4'):
        layer(saltern.tensor(real(2, 5)))


T = saltern.tensor


@pytest.mark.parametrize('call, says', [
    (lambda x: nn.BatchNorm2d(3)(x), 'BatchNorm2d.*4 dimensions'),
    (lambda x: nn.BatchNorm1d(4)(x), 'running_mean.*5 channels|one for each of 5'),
    (lambda x: nn.BatchNorm1d(5)(T(np.zeros((1, 5), np.float32))), 'more than one value'),
    (lambda x: nn.GroupNorm(2, 5), 'multiple'),
    (lambda x: F.group_norm(x, 3), 'divides 5'),
    (lambda x: nn.LayerNorm(4)(x), r'LayerNorm.*\(4\)'),
    (lambda x: nn.LocalResponseNorm(0)(T(np.zeros((1, 2, 3), np.float32))), 'at least one channel'),
    (lambda x: nn.Linear(4, 2)(x), 'in = 4'),
    (lambda x: nn.Linear(-1, 2), 'at least 0'),
    (lambda x: F.cross_entropy(x, T([0, 1, 5])), 'less than 5; one is 5'),
    (lambda x: F.cross_entropy(x, T([0, 1])), 'target'),
    (lambda x: F.cross_entropy(x, T([0, 1, 2]), weight=T([1.0])), 'weight'),
    (lambda x: F.nll_loss(x, T([0, -1, 2])), 'one is -1'),
    (lambda x: F.mse_loss(x, T([1.0, 2.0])), 'mse_loss'),
    (lambda x: F.mse_loss(x, x, reduction='average'), "expected one of 'none', 'mean', 'sum'"),
    (lambda x: F.binary_cross_entropy(x, T([1.0])), 'shape of'),
    (lambda x: F.gaussian_nll_loss(x, x, T([-1.0])), 'at least 0'),
    (lambda x: F.ctc_loss(x, T([1]), T([4]), T([1])), 'input_lengths'),
    (lambda x: F.embedding(T([7]), x), 'less than 3'),
    (lambda x: F.embedding(T([1.0]), x), 'integers'),
    (lambda x: F.embedding_bag(T([1, 2]), x), 'offsets'),
    (lambda x: F.embedding_bag(T([1, 2]), x, T([0, 5])), 'offsets'),
    (lambda x: nn.Embedding(3, 2, padding_idx=3), 'padding_idx'),
    (lambda x: nn.Dropout(1.5), 'between 0 and 1'),
    (lambda x: F.dropout2d(T([1.0])), '3 or 4 dimensions'),
    (lambda x: F.cosine_similarity(x, x, dim=2), 'dimension 2'),
    (lambda x: F.triplet_margin_loss(x, x, x, margin=-1.0), 'above 0'),
    (lambda x: F.bilinear(x, x, T(np.zeros((2, 5, 4), np.float32))), 'input2'),
])
def test_bad_input(call, says):
    with pytest.raises((TypeError, ValueError, IndexError), match=says):
        call(T(np.zeros((3, 5), np.float32)))
