"""Every optimizer against its definition, written as a loop of NumPy in f64, over steps in which the rate changes."""
import numpy as np
import pytest

import saltern
from saltern import keras, nn

STEPS = 22


def sgd(p, g, s, t, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False):
    g = (-g if maximize else g) + weight_decay * p
    if momentum:
        s['v'] = g if t == 1 else momentum * s['v'] + (1 - dampening) * g
        g = g + momentum * s['v'] if nesterov else s['v']
    return p - lr * g


def moments(s, g, b1, b2):
    s['m'] = b1 * s.get('m', 0) + (1 - b1) * g
    s['v'] = b2 * s.get('v', 0) + (1 - b2) * g * g
    return s['m'], s['v']


def adam(p, g, s, t, lr, betas=(.9, .999), eps=1e-8, weight_decay=0, amsgrad=False, maximize=False, decoupled=False):
    g = -g if maximize else g
    p, g = (p * (1 - lr * weight_decay), g) if decoupled else (p, g + weight_decay * p)
    m, v = moments(s, g, *betas)
    if amsgrad:
        v = s['most'] = np.maximum(s.get('most', 0), v)
    return p - lr * (m / (1 - betas[0]**t)) / (np.sqrt(v / (1 - betas[1]**t)) + eps)


def adamw(p, g, s, t, lr, weight_decay=1e-2, **options):
    return adam(p, g, s, t, lr, weight_decay=weight_decay, decoupled=True, **options)


def nadam(p, g, s, t, lr, betas=(.9, .999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False):
    p, g = (p * (1 - lr * weight_decay), g) if decoupled_weight_decay else (p, g + weight_decay * p)
    m, v = moments(s, g, *betas)
    mu, after = (betas[0] * (1 - 0.5 * 0.96**(k * momentum_decay)) for k in (t, t + 1))
    s['mu'] = s.get('mu', 1) * mu
    step = lr * (1 - mu) / (1 - s['mu']) * g + lr * after / (1 - s['mu'] * after) * m
    return p - step / (np.sqrt(v / (1 - betas[1]**t)) + eps)


def radam(p, g, s, t, lr, betas=(.9, .999), eps=1e-8, weight_decay=0):
    m, v = moments(s, g + weight_decay * p, *betas)
    most = 2 / (1 - betas[1]) - 1
    length = most - 2 * t * betas[1]**t / (1 - betas[1]**t)
    step = lr * m / (1 - betas[0]**t)
    if length > 5:
        step *= np.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
        step *= np.sqrt(1 - betas[1]**t) / (np.sqrt(v) + eps)
    return p - step


def adamax(p, g, s, t, lr, betas=(.9, .999), eps=1e-8, weight_decay=0):
    g = g + weight_decay * p
    s['m'] = betas[0] * s.get('m', 0) + (1 - betas[0]) * g
    s['u'] = np.maximum(betas[1] * s.get('u', 0), np.abs(g) + eps)
    return p - lr / (1 - betas[0]**t) * s['m'] / s['u']


def adagrad(p, g, s, t, lr, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10):
    g = g + weight_decay * p
    s['sum'] = s.get('sum', initial_accumulator_value) + g * g
    return p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s['sum']) + eps)


def rmsprop(p, g, s, t, lr, alpha=.99, eps=1e-8, weight_decay=0, momentum=0, centered=False):
    g = g + weight_decay * p
    s['v'] = alpha * s.get('v', 0) + (1 - alpha) * g * g
    s['a'] = alpha * s.get('a', 0) + (1 - alpha) * g
    s['b'] = momentum * s.get('b', 0) + g / (np.sqrt(s['v'] - centered * s['a']**2) + eps)
    return p - lr * s['b']


def adadelta(p, g, s, t, lr, rho=.9, eps=1e-6, weight_decay=0):
    g = g + weight_decay * p
    s['v'] = rho * s.get('v', 0) + (1 - rho) * g * g
    step = np.sqrt(s.get('a', 0) + eps) / np.sqrt(s['v'] + eps) * g
    s['a'] = rho * s.get('a', 0) + (1 - rho) * step * step
    return p - lr * step


def asgd(p, g, s, t, lr, lambd=1e-4, alpha=.75, t0=1e6, weight_decay=0):
    eta = s.setdefault('eta', lr)
    p = p * (1 - lambd * eta) - eta * (g + weight_decay * p)
    s['eta'] = lr / (1 + lambd * lr * t)**alpha
    return p


def rprop(p, g, s, t, lr, etas=(.5, 1.2), step_sizes=(1e-6, 50)):
    turn = np.sign(g * s.get('last', 0))
    s['size'] = np.clip(s.get('size', lr) * np.where(turn > 0, etas[1], np.where(turn < 0, etas[0], 1)), *step_sizes)
    s['last'] = np.where(turn < 0, 0, g)
    return p - np.sign(s['last']) * s['size']


def root_mean(x):
    return np.sqrt(np.mean(x * x))


def adafactor(p, g, s, t, lr, beta2_decay=-.8, eps=(np.finfo(np.float32).eps, 1e-3), d=1, weight_decay=0, inside=0):
    new, square = t**beta2_decay, g * g + inside
    rate = max(eps[1], root_mean(p)) * min(lr, 1 / np.sqrt(t))
    p = p * (1 - lr * weight_decay)
    if g.ndim > 1:
        s['r'] = (1 - new) * s.get('r', 0) + new * square.mean(-1, keepdims=True)
        s['c'] = (1 - new) * s.get('c', 0) + new * square.mean(-2, keepdims=True)
        variance = s['r'] * s['c'] / np.maximum(s['r'].mean(-2, keepdims=True), eps[0])
    else:
        variance = s['v'] = (1 - new) * s.get('v', 0) + new * square
    step = g / np.sqrt(np.maximum(variance, eps[0]**2))
    return p - rate * step / max(1, root_mean(step) / d)


def orthogonal(x, steps, least=0, beside=0):
    x = x / (max(np.linalg.norm(x), least) + beside)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
    return x


def muon(p, g, s, t, lr, weight_decay=.1, momentum=.95, nesterov=True, ns_steps=5):
    s['b'] = momentum * s.get('b', 0) + (1 - momentum) * g
    step = orthogonal((1 - momentum) * g + momentum * s['b'] if nesterov else s['b'], ns_steps, least=1e-7)
    return p * (1 - lr * weight_decay) - lr * np.sqrt(max(1, p.shape[0] / p.shape[1])) * step


TORCH = {
    'SGD': (sgd, [{}, {'momentum': .9, 'dampening': .3}, {'momentum': .9, 'nesterov': True, 'weight_decay': .1},
                  {'weight_decay': .1, 'maximize': True}]),
    'Adam': (adam, [{}, {'betas': (.8, .95), 'eps': 1e-3, 'weight_decay': .1}, {'amsgrad': True}, {'maximize': True}]),
    'AdamW': (adamw, [{}, {'weight_decay': .3, 'amsgrad': True}]),
    'NAdam': (nadam, [{}, {'momentum_decay': .1, 'weight_decay': .1}, {'weight_decay': .1, 'decoupled_weight_decay': True}]),
    'RAdam': (radam, [{}, {'betas': (.9, .9), 'weight_decay': .1}]),
    'Adamax': (adamax, [{}, {'weight_decay': .1, 'eps': 1e-2}]),
    'Adagrad': (adagrad, [{}, {'lr_decay': .1, 'weight_decay': .1, 'initial_accumulator_value': .5}]),
    'RMSprop': (rmsprop, [{}, {'momentum': .5, 'alpha': .9}, {'centered': True}, {'centered': True, 'momentum': .5, 'weight_decay': .1}]),
    'Adadelta': (adadelta, [{}, {'rho': .8, 'eps': 1e-3, 'weight_decay': .1}]),
    'ASGD': (asgd, [{}, {'lambd': .1, 'alpha': .5, 'weight_decay': .1}]),
    'Rprop': (rprop, [{}, {'etas': (.4, 1.5), 'step_sizes': (1e-3, .05)}]),
    'Adafactor': (adafactor, [{}, {'d': 1.5, 'beta2_decay': -.5, 'weight_decay': .1}]),
    'Muon': (muon, [{}, {'nesterov': False, 'weight_decay': .5, 'ns_steps': 3}]),
}


# ---- Keras': all decay is decoupled, before all else.

def keras_sgd(p, g, s, t, lr, momentum=0, nesterov=False):
    s['v'] = momentum * s.get('v', 0) - lr * g
    return p + (momentum * s['v'] - lr * g if nesterov else s['v'])


def keras_adam(p, g, s, t, lr, beta_1=.9, beta_2=.999, epsilon=1e-7, amsgrad=False):
    m, v = moments(s, g, beta_1, beta_2)
    if amsgrad:
        v = s['most'] = np.maximum(s.get('most', 0), v)
    return p - lr * np.sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (np.sqrt(v) + epsilon)


def keras_nadam(p, g, s, t, lr, beta_1=.9, beta_2=.999, epsilon=1e-7):
    return nadam(p, g, s, t, lr, (beta_1, beta_2), epsilon, momentum_decay=1)


def keras_adamax(p, g, s, t, lr, beta_1=.9, beta_2=.999, epsilon=1e-7):
    s['m'] = beta_1 * s.get('m', 0) + (1 - beta_1) * g
    s['u'] = np.maximum(beta_2 * s.get('u', 0), np.abs(g))
    return p - lr * s['m'] / ((1 - beta_1**t) * (s['u'] + epsilon))


def keras_adagrad(p, g, s, t, lr, initial_accumulator_value=.1, epsilon=1e-7):
    s['a'] = s.get('a', initial_accumulator_value) + g * g
    return p - lr * g / np.sqrt(s['a'] + epsilon)


def keras_rmsprop(p, g, s, t, lr, rho=.9, momentum=0, epsilon=1e-7, centered=False):
    s['v'] = rho * s.get('v', 0) + (1 - rho) * g * g
    s['a'] = rho * s.get('a', 0) + (1 - rho) * g
    s['b'] = momentum * s.get('b', 0) + lr * g / np.sqrt(s['v'] - centered * s['a']**2 + epsilon)
    return p - s['b']


def keras_adadelta(p, g, s, t, lr, rho=.95, epsilon=1e-7):
    return adadelta(p, g, s, t, lr, rho, epsilon)


def keras_adafactor(p, g, s, t, lr, clip_threshold=1):
    return adafactor(p, g, s, t, lr, eps=(0, 1e-3), d=clip_threshold, inside=1e-30)


def keras_lion(p, g, s, t, lr, beta_1=.9, beta_2=.99):
    step = np.sign(beta_1 * s.get('m', 0) + (1 - beta_1) * g)
    s['m'] = beta_2 * s.get('m', 0) + (1 - beta_2) * g
    return p - lr * step


def keras_lamb(p, g, s, t, lr, beta_1=.9, beta_2=.999, epsilon=1e-7):
    m, v = moments(s, g, beta_1, beta_2)
    step = m / (1 - beta_1**t) / (np.sqrt(v / (1 - beta_2**t)) + epsilon)
    return p - lr * np.linalg.norm(p) / np.linalg.norm(step) * step


def keras_ftrl(p, g, s, t, lr, learning_rate_power=-.5, l1_regularization_strength=0, l2_regularization_strength=0,
               l2_shrinkage_regularization_strength=0, beta=0):
    before, power = s.get('n', .1), -learning_rate_power
    s['n'] = before + g * g
    used = g + 2 * l2_shrinkage_regularization_strength * p
    s['z'] = s.get('z', 0) + used - (s['n']**power - before**power) / lr * p
    clipped = np.clip(s['z'], -l1_regularization_strength, l1_regularization_strength)
    return (clipped - s['z']) / (s['n']**power / lr + 2 * (l2_regularization_strength + beta / (2 * lr)))


def keras_muon(p, g, s, t, lr, momentum=.95, nesterov=True, rms_rate=.2):
    if p.ndim != 2:
        return keras_adam(p, g, s, t, lr)
    s['b'] = momentum * s.get('b', 0) + g
    step = orthogonal(g + momentum * s['b'] if nesterov else s['b'], 5, beside=1e-7)
    return p - lr * step * np.sqrt(max(p.shape)) * rms_rate


def keras_schedule_free(p, g, s, t, lr, beta_1=.9, beta_2=.999, epsilon=1e-8, warmup_steps=0):
    rate = lr * min(t / warmup_steps, 1) if warmup_steps else lr
    z = s.setdefault('z', s['begins'])
    s['v'] = beta_2 * s.get('v', 0) + (1 - beta_2) * g * g
    x = (p - (1 - beta_1) * z) / beta_1
    s['z'] = z - rate * g / (np.sqrt(s['v'] / (1 - beta_2**t)) + epsilon)
    x = (1 - 1 / t) * x + s['z'] / t
    return (1 - beta_1) * s['z'] + beta_1 * x


KERAS = {
    'SGD': (keras_sgd, [{}, {'momentum': .9}, {'momentum': .9, 'nesterov': True, 'weight_decay': .1}]),
    'Adam': (keras_adam, [{}, {'amsgrad': True, 'epsilon': 1e-3}, {'weight_decay': .1}]),
    'AdamW': (keras_adam, [{'weight_decay': .004}, {'weight_decay': .3, 'beta_1': .8}]),
    'Nadam': (keras_nadam, [{}, {'beta_1': .8, 'weight_decay': .1}]),
    'Adamax': (keras_adamax, [{}, {'epsilon': 1e-2}]),
    'Adagrad': (keras_adagrad, [{}, {'initial_accumulator_value': .5, 'epsilon': .1}]),
    'RMSprop': (keras_rmsprop, [{}, {'momentum': .5}, {'centered': True, 'momentum': .5, 'epsilon': 1e-3}]),
    'Adadelta': (keras_adadelta, [{}, {'rho': .8}]),
    'Adafactor': (keras_adafactor, [{}, {'clip_threshold': .5}]),
    'Lion': (keras_lion, [{}, {'beta_1': .8, 'weight_decay': .1}]),
    'Lamb': (keras_lamb, [{}, {'weight_decay': .1}]),
    'Ftrl': (keras_ftrl, [{}, {'l1_regularization_strength': .1, 'l2_regularization_strength': .1, 'beta': .1,
                               'l2_shrinkage_regularization_strength': .1, 'learning_rate_power': -.7}]),
    'Muon': (keras_muon, [{'weight_decay': .004}, {'weight_decay': .004, 'nesterov': False, 'rms_rate': .4}]),
    'ScheduleFreeAdamW': (keras_schedule_free, [{}, {'warmup_steps': 5}]),
}

CASES = [pytest.param(module, name, loop, options, id=f'{module.__name__}.{name}-{i}')
         for module, table in ((saltern.optim, TORCH), (keras.optimizers, KERAS))
         for name, (loop, cases) in table.items() for i, options in enumerate(cases)]


def test_every_optimizer_has_a_loop():
    def classes(module):
        return {n for n, c in vars(module).items() if isinstance(c, type) and getattr(c, '_row', None)}

    assert classes(saltern.optim) - {'SparseAdam', 'LBFGS'} == set(TORCH)  # which test_sparse.py and test_around_training.py have
    assert {n for n in classes(keras.optimizers)} == set(KERAS)


@pytest.mark.parametrize('module, name, loop, options', CASES)
def test_is_the_loop(module, name, loop, options):
    random = np.random.default_rng(0)
    shapes = [(3, 5)] if name == 'Muon' and module is saltern.optim else [(3, 5), (7,), (2, 3, 4)]
    wanted = [random.standard_normal(s) for s in shapes]
    ps = [nn.Parameter(w.astype(np.float32)) for w in wanted]
    wanted = [p.numpy().astype(np.float64) for p in ps]
    steps, kept = getattr(module, name)(ps, 0.02, **options), [{'begins': w} for w in wanted]
    decay = options.get('weight_decay', 0) if module is keras.optimizers else 0
    rest = {n: v for n, v in options.items() if module is saltern.optim or n != 'weight_decay'}
    rate = 0.02
    for t in range(1, STEPS + 1):
        for i, p in enumerate(ps):
            g = (random.standard_normal(p.shape) + 0.3).astype(np.float32)
            p.grad = saltern.tensor(g)
            wanted[i] = loop(wanted[i] * (1 - rate * decay), g.astype(np.float64), kept[i], t, rate, **rest)
        steps.step()
        if t == STEPS // 2:
            rate = 0.01
            steps.param_groups[0][steps._rate] = rate
    for p, w in zip(ps, wanted):
        np.testing.assert_allclose(p.numpy(), w, rtol=2e-4 if name == 'Muon' else 2e-5, atol=2e-5)


# ---- Groups, state, and mistakes.

def stepped(steps, ps, seed):
    random = np.random.default_rng(seed)
    for p in ps:
        p.grad = saltern.tensor(random.standard_normal(p.shape).astype(np.float32))
    steps.step()


@pytest.mark.parametrize('name', ['SGD', 'Adam', 'NAdam', 'Adafactor', 'RMSprop', 'ASGD', 'Rprop'])
def test_state_goes_out_and_in(name):
    def made():
        ps = [nn.Parameter(np.arange(6, dtype=np.float32).reshape(2, 3)), nn.Parameter(np.ones(4, np.float32))]
        options = {'momentum': 0.9} if name in ('SGD', 'RMSprop') else {}
        return ps, getattr(saltern.optim, name)([{'params': ps[:1]}, {'params': ps[1:], 'lr': 0.3}], **options)

    (ps, first), (qs, second) = made(), made()
    for seed in range(3):
        stepped(first, ps, seed)
    for p, q in zip(ps, qs):
        q.copy_(p)
    state = first.state_dict()
    assert list(state) == ['state', 'param_groups'] and state['param_groups'][1]['params'] == [1]
    assert int(state['state'][0]['step'].item()) == 3
    second.load_state_dict(state)
    stepped(first, ps, 7)
    stepped(second, qs, 7)
    for p, q in zip(ps, qs):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
    assert first.state[ps[0]]['step'].item() == 4


def test_a_state_of_pytorch():
    """What torch.optim.Adam([p]).state_dict() holds, in NumPy."""
    p = nn.Parameter(np.ones(2, np.float32))
    steps = saltern.optim.Adam([p], lr=0.5)
    steps.load_state_dict({'state': {0: {'step': np.float32(4), 'exp_avg': np.array([1, 2], np.float32),
                                         'exp_avg_sq': np.array([4, 1], np.float32)}},
                           'param_groups': [{'lr': 0.1, 'betas': (0.5, 0.75), 'eps': 0.0, 'weight_decay': 0, 'amsgrad': False,
                                             'foreach': None, 'params': [0]}]})
    p.grad = saltern.tensor([0.0, 0.0])
    steps.step()
    wanted = 1 - 0.1 * np.array([.5, 1]) / (1 - .5**5) / np.sqrt(np.array([3, .75]) / (1 - .75**5))
    np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-6)


def test_groups():
    a, b, c = (nn.Parameter(np.ones(2, np.float32)) for _ in range(3))
    steps = saltern.optim.SGD([{'params': a}, {'params': [b], 'lr': 0.5}], lr=0.25)
    steps.add_param_group({'params': c, 'lr': 1.0, 'weight_decay': 1.0})
    for p in (a, b, c):
        p.grad = saltern.tensor([1.0, 1.0])
    assert steps.step(lambda: 7) == 7
    assert [p.numpy()[0] for p in (a, b, c)] == [0.75, 0.5, -1]
    steps.zero_grad()
    assert a.grad is None
    with pytest.raises(ValueError, match='twice'):
        steps.add_param_group({'params': [c]})


def test_a_rate_may_be_a_schedule():
    p = nn.Parameter(np.zeros(1, np.float32))
    steps = keras.optimizers.SGD([p], keras.optimizers.schedules.PiecewiseConstantDecay([1], [1.0, 0.25]))
    for wanted in (-1, -2, -2.25):
        p.grad = saltern.tensor([1.0])
        steps.step()
        assert p.item() == wanted


@pytest.mark.parametrize('options, error, words', [
    ({'lr': -1}, ValueError, "'lr' is -1"), ({'betas': (0.9, 1.5)}, ValueError, "'betas' is 1.5"),
    ({'betas': 0.9}, ValueError, "'betas' is a number; expected a list"), ({'momentum': 1}, TypeError, 'momentum'),
    ({'eps': 'small'}, ValueError, "'eps' is a word"), ({'lr': object()}, TypeError, 'object'),
])
def test_mistakes_are_named(options, error, words):
    with pytest.raises(error, match=words):
        saltern.optim.Adam([nn.Parameter(np.ones(2, np.float32))], **options)


def test_a_momentum_that_comes_later():
    p = nn.Parameter(np.zeros(1, np.float32))
    steps = saltern.optim.SGD([p], lr=1.0)
    for momentum, wanted in ((0, -1), (0.5, -2), (0.5, -3.5)):
        steps.param_groups[0]['momentum'] = momentum
        p.grad = saltern.tensor([1.0])
        steps.step()
        assert p.item() == wanted
