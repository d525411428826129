"""Gradients beside finite differences, in f64, along random directions: one wrong element shows in every direction."""
import numpy as np

import saltern


def flat(value):
    """All tensors of a result, however it is nested."""
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in flat(v)]
    return [value] if isinstance(value, saltern.Tensor) else []


def is_real(t):
    return np.asarray(t).dtype.kind == 'f'


def moved(arrays, direction, step):
    return [a + step * d for a, d in zip(arrays, direction)]


def compare(value_of, gradient_of, arrays, random, what, tolerance):
    """value_of(arrays): a number; gradient_of(arrays): its gradient with respect to each."""
    gradients = gradient_of(arrays)
    for _ in range(2):
        direction = [random.standard_normal(a.shape) for a in arrays]
        step = 1e-6
        numeric = (value_of(moved(arrays, direction, step)) - value_of(moved(arrays, direction, -step))) / (2 * step)
        derived = sum(float((g * d).sum()) for g, d in zip(gradients, direction))
        assert np.isclose(numeric, derived, rtol=tolerance, atol=tolerance), \
            f'{what}: {derived} by its gradient, {numeric} by differences'


def check_gradients(function, arrays, orders=2, seed=1):
    """function(*tensors) of real tensors, all in f64: its gradients of first and second order."""
    random = np.random.default_rng(seed)
    leaves = lambda values: [saltern.tensor(v, requires_grad=True) for v in values]
    results = lambda xs: [t for t in flat(function(*xs)) if is_real(t) and t.requires_grad]
    example = results(leaves(arrays))
    if not example or not arrays:
        return
    weights = [random.standard_normal(t.shape) for t in example]
    count = len(arrays)

    def value(values):
        return sum(float((np.asarray(y) * w).sum()) for y, w in zip(results(leaves(values)), weights))

    def gradients(xs, ws, create_graph=False):
        found = saltern.autograd.grad(results(xs), xs, ws, create_graph=create_graph, allow_unused=True)
        return [g if g is not None else saltern.tensor(np.zeros(x.shape)) for g, x in zip(found, xs)]

    def first(values):
        return [np.array(g) for g in gradients(leaves(values), [saltern.tensor(w) for w in weights])]

    if orders < 1:
        return
    compare(value, first, arrays, random, 'first order', 1e-5)
    if orders < 2:
        return
    seconds = [random.standard_normal(a.shape) for a in arrays]

    def value_of_gradients(values):
        found = gradients(leaves(values[:count]), [saltern.tensor(w) for w in values[count:]])
        return sum(float((np.asarray(g) * s).sum()) for g, s in zip(found, seconds))

    def second(values):
        xs, ws = leaves(values[:count]), leaves(values[count:])
        live = [(g, s) for g, s in zip(gradients(xs, ws, True), seconds) if g.requires_grad]
        found = saltern.autograd.grad([g for g, _ in live], xs + ws, [saltern.tensor(s) for _, s in live],
                                      allow_unused=True)
        return [np.zeros(v.shape) if g is None else np.array(g) for g, v in zip(found, xs + ws)]

    compare(value_of_gradients, second, list(arrays) + weights, random, 'second order', 1e-4)


def check_function(function, args, expected, orders=2, atol_of_f32=1e-9):
    """function of tensors in the place of arrays, which may be in lists, beside expected(*args); and its gradients."""
    is_wanted = lambda v: isinstance(v, np.ndarray) and v.dtype.kind == 'f' and np.isfinite(v).all()
    arrays = [a for v in args for a in (v if isinstance(v, list) else [v]) if is_wanted(a)]
    as_arrays = lambda v: [a for w in v for a in as_arrays(w)] if isinstance(v, (tuple, list)) else [np.asarray(v)]

    def of(*tensors):
        rest = iter(tensors)

        def fill(value):
            if isinstance(value, list):
                return [fill(v) for v in value]
            if isinstance(value, np.ndarray):
                return next(rest) if is_wanted(value) else saltern.tensor(value)
            return value

        return function(*(fill(v) for v in args))

    given, wanted = as_arrays(of(*(saltern.tensor(a) for a in arrays))), as_arrays(expected(*args))
    assert len(given) == len(wanted)
    for a, b in zip(given, wanted):
        np.testing.assert_allclose(a, b, atol=atol_of_f32 if a.dtype == np.float32 else 1e-9)
        assert a.shape == b.shape
    check_gradients(of, arrays, orders)
