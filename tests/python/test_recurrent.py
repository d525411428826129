"""Recurrent layers by kernels, in f32, beside their formulas in f64, which are checked against differences elsewhere."""
import copy

import numpy as np
import pytest

import saltern

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize('kind', ['LSTM', 'GRU'])
@pytest.mark.parametrize('options, shape, states', [
    ({}, (5, 3, 7), True), ({'bias': False}, (1, 1, 7), False), ({'bidirectional': True, 'num_layers': 2}, (4, 2, 7), True),
    ({'batch_first': True}, (3, 17, 7), False), ({}, (6, 7), False),
], ids=str)
def test_kernels_compute_what_formulas_do(kind, options, shape, states):
    size = 19
    layer = getattr(saltern.nn, kind)(7, size, **options)
    exact = copy.deepcopy(layer).double()
    rows = options.get('num_layers', 1) * (2 if options.get('bidirectional') else 1)
    before = [RANDOM.standard_normal((rows, shape[1], size)) for _ in range(2 if kind == 'LSTM' else 1)] if states else []
    x, results = RANDOM.standard_normal(shape), []
    for net, dtype in ((layer, np.float32), (exact, np.float64)):
        given = [saltern.tensor(a.astype(dtype), requires_grad=True) for a in (x, *before)]
        hx = () if not before else (tuple(given[1:]),) if kind == 'LSTM' else (given[1],)
        y, last = net(given[0], *hx)
        all_results = [y, *(last if kind == 'LSTM' else [last])]
        seeds = [np.cos(np.arange(r.numel())).reshape(r.shape).astype(dtype) for r in all_results]
        wanted = [*given, *net.parameters()]
        gradients = saltern.autograd.grad(all_results, wanted, [saltern.tensor(s) for s in seeds])
        results.append([np.asarray(t) for t in (*all_results, *gradients)])
    for found, expected in zip(*results):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize('kind', ['LSTM', 'GRU'])
def test_second_order(kind):
    layer = getattr(saltern.nn, kind)(3, 5)
    exact, found = copy.deepcopy(layer).double(), []
    x = RANDOM.standard_normal((4, 2, 3))
    for net, dtype in ((layer, np.float32), (exact, np.float64)):
        given = saltern.tensor(x.astype(dtype), requires_grad=True)
        g, = saltern.autograd.grad((net(given)[0] ** 2).sum(), given, create_graph=True)
        found.append([np.asarray(d) for d in saltern.autograd.grad((g ** 2).sum(), [given, *net.parameters()])])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
