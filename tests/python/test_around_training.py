"""What stands around optimizers: clipped gradients, averages of parameters, L-BFGS, and optimizers that are made of others."""
import numpy as np
import pytest

import saltern
from saltern import keras, nn
from saltern.nn import utils
from saltern.optim import swa_utils


def with_gradients(*gradients):
    ps = [nn.Parameter(np.zeros(np.shape(g), np.float32)) for g in gradients]
    for p, g in zip(ps, gradients):
        p.grad = saltern.tensor(np.asarray(g, np.float32))
    return ps


@pytest.mark.parametrize('order', [1, 2, 3.5, float('inf')])
def test_norms_are_clipped(order):
    gradients = np.random.default_rng(0).standard_normal((2, 3, 4)), np.arange(5) - 2.0
    ps = with_gradients(*gradients, *[])
    norm = np.linalg.norm(np.concatenate([g.reshape(-1) for g in gradients]), order)
    assert np.isclose(utils.get_total_norm([p.grad for p in ps], order).item(), norm)
    assert np.isclose(utils.clip_grad_norm_(ps, 2 * norm, order).item(), norm)
    np.testing.assert_allclose(ps[1].grad.numpy(), gradients[1])  # small enough
    utils.clip_grad_norm_(iter(ps), norm / 4, order)
    for p, g in zip(ps, gradients):
        np.testing.assert_allclose(p.grad.numpy(), g / 4, rtol=1e-5)


def test_values_are_clipped():
    p, q = with_gradients([-3.0, 0.5, 2.0], [[1.0]])
    utils.clip_grad_value_([p, q], 1.5)
    assert p.grad.tolist() == [-1.5, 0.5, 1.5] and q.grad.tolist() == [[1.0]]
    p.grad = saltern.tensor([np.nan, 0, 0])
    with pytest.raises(RuntimeError, match='nan'):
        utils.clip_grad_norm_(p, 1, error_if_nonfinite=True)


def test_gradients_that_share_memory_are_scaled_once():
    a, b = nn.Parameter(np.zeros(2, np.float32)), nn.Parameter(np.zeros(2, np.float32))
    ((a + b) * saltern.tensor([3.0, 4.0])).sum().backward()
    utils.clip_grad_norm_([a, b], 1.0)
    np.testing.assert_allclose(a.grad.numpy(), np.array([3, 4]) / np.sqrt(50), rtol=1e-5)
    np.testing.assert_allclose(b.grad.numpy(), np.array([3, 4]) / np.sqrt(50), rtol=1e-5)


def test_sparse_gradients_stay_sparse():
    table = nn.Embedding(7, 2, sparse=True)
    table(saltern.tensor(np.array([1, 1, 4]))).sum().backward()
    assert np.isclose(utils.clip_grad_norm_(table.parameters(), 1.0).item(), np.sqrt(10))
    assert table.weight.grad.is_sparse
    np.testing.assert_allclose(table.weight.grad.to_dense().numpy()[1], 2 / np.sqrt(10), rtol=1e-5)


@pytest.mark.parametrize('options, wanted', [
    ({}, [1, 1.5, 2, 2.5]), ({'multi_avg_fn': swa_utils.get_ema_multi_avg_fn(0.75)}, [1, 1.25, 1.6875, 2.265625]),
    ({'avg_fn': swa_utils.get_ema_avg_fn(0.75)}, [1, 1.25, 1.6875, 2.265625]), ({'avg_fn': swa_utils.get_swa_avg_fn()}, [1, 1.5, 2, 2.5]),
])
def test_averages(options, wanted):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    mean = swa_utils.AveragedModel(net, **options)
    for value, average in zip((1, 2, 3, 4), wanted):
        net[0].weight.copy_(saltern.full((3, 2), value))
        net[1].state_dict()['running_mean'].copy_(saltern.full((3,), value))
        mean.update_parameters(net)
        np.testing.assert_allclose(mean.module[0].weight.numpy(), average)
        assert mean.module[1].state_dict()['running_mean'].tolist() == [value] * 3
    assert mean.n_averaged.item() == 4 and net[0].weight.numpy()[0, 0] == 4
    assert mean(saltern.zeros(5, 2)).shape == (5, 3)


def test_statistics_of_batch_norms_are_computed_anew():
    net = nn.Sequential(nn.BatchNorm1d(3))
    batches = [np.random.default_rng(i).standard_normal((6, 3)).astype(np.float32) + i for i in range(3)]
    swa_utils.update_bn([(saltern.tensor(b), None) for b in batches], net)
    state = net.state_dict()
    np.testing.assert_allclose(state['0.running_mean'].numpy(), np.mean([b.mean(0) for b in batches], 0), rtol=1e-5)
    np.testing.assert_allclose(state['0.running_var'].numpy(), np.mean([b.var(0, ddof=1) for b in batches], 0), rtol=1e-5)


def rosenbrock(p):
    x, y = p[0], p[1]
    return (1 - x)**2 + 100 * (y - x * x)**2


@pytest.mark.parametrize('search, evaluations', [('strong_wolfe', 80), (None, 400)])
def test_lbfgs(search, evaluations):
    p = nn.Parameter(np.array([-0.5, 0.8], np.float32))
    steps = saltern.optim.LBFGS([p], lr=1 if search else 0.1, max_iter=10, line_search_fn=search)
    count = 0

    def closure():
        nonlocal count
        count += 1
        steps.zero_grad()
        loss = rosenbrock(p)
        loss.backward()
        return loss

    losses = [steps.step(closure) for _ in range(30)]
    assert losses[-1] < 1e-6 and abs(p[0].item() - 1) < 1e-2 and count <= evaluations
    state = steps.state_dict()['state'][0]
    assert state['func_evals'] == count and len(state['d']) == 2


def test_lbfgs_goes_on_from_its_state():
    ends = []
    for again in (False, True):
        p = nn.Parameter(np.array([-0.5, 0.8], np.float32))

        def made():
            return saltern.optim.LBFGS([p], max_iter=3, line_search_fn='strong_wolfe')

        steps = made()

        def closure():
            p.grad = None
            loss = rosenbrock(p)
            loss.backward()
            return loss

        steps.step(closure)
        if again:
            state, steps = steps.state_dict(), made()
            steps.load_state_dict(state)
        steps.step(closure)
        ends.append(p.tolist())
    assert ends[0] == ends[1]
    with pytest.raises(ValueError, match='line_search_fn'):
        saltern.optim.LBFGS([p], line_search_fn='armijo')
    with pytest.raises(ValueError, match='one group'):
        saltern.optim.LBFGS([{'params': [p]}, {'params': [nn.Parameter(np.zeros(2, np.float32))]}])


def test_a_loss_that_is_scaled():
    p, = with_gradients([1.0])
    steps = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD([p], 0.5), initial_scale=8, dynamic_growth_steps=2)
    for _ in range(2):
        steps.zero_grad()
        steps.scale_loss((p * 2).sum()).backward()
        assert p.grad.item() == 16
        steps.step()
    assert p.item() == -2 and steps.dynamic_scale == 16
    p.grad = saltern.tensor([np.inf])
    steps.step()
    assert p.item() == -2 and steps.dynamic_scale == 8


def test_optimizers_by_names():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    chosen = keras.optimizers.OptimizerMap([lambda ps: saltern.optim.SGD(ps, 0.5)], ['1[.]'])
    steps = keras.optimizers.MultiOptimizer(net.named_parameters(), chosen, lambda ps: saltern.optim.Adam(ps, 0.25))
    before = {name: p.numpy().copy() for name, p in net.named_parameters()}
    for p in net.parameters():
        p.grad = saltern.tensor(np.full(p.shape, 2, np.float32))
    steps.step()
    for name, p in net.named_parameters():
        np.testing.assert_allclose(before[name] - p.numpy(), 1 if name[0] == '1' else 0.25, rtol=1e-5)


def test_schedule_free_is_evaluated_at_its_average():
    p = nn.Parameter(np.zeros(1, np.float32))
    steps = keras.optimizers.ScheduleFreeAdamW([p], 0.5)
    for _ in range(5):
        p.grad = saltern.tensor([1.0])
        steps.step()
    at, z = p.item(), steps.state[p]['momentum'].item()
    steps.swap_to_eval()
    assert np.isclose(p.item(), np.mean([-0.5 * k for k in range(1, 6)]), rtol=1e-4) and np.isclose(z, -2.5, rtol=1e-4)
    steps.swap_to_train()
    assert np.isclose(p.item(), at)


def test_keras_clips():
    for options, wanted in (({'clipvalue': 0.5}, [-0.5, -0.5]), ({'clipnorm': 1.0}, [-0.6, -0.8]), ({'global_clipnorm': 1.0}, [-0.6, -0.8])):
        p, = with_gradients([3.0, 4.0])
        keras.optimizers.SGD([p], 1.0, **options).step()
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-5)
