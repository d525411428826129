"""Schedules of rates against closed forms, chained and in turn; C++ has the same rows."""
import collections
import math

import numpy as np
import pytest

import saltern
from saltern import keras, nn
from saltern.optim import lr_scheduler as S

BASES = (0.1, 0.4)


def made(kind=saltern.optim.SGD, **options):
    a, b = (nn.Parameter(np.ones(2, np.float32)) for _ in range(2))
    return kind([{'params': a}, {'params': b, 'lr': BASES[1]}], lr=BASES[0], **options)


def rates(steps):
    return [group['lr'] for group in steps.param_groups]


def cosine(part):
    return (1 + math.cos(math.pi * part)) / 2


def triangle(t, up, down):
    t %= up + down
    return t / up if t <= up else 1 - (t - up) / down


def one_cycle(t, most, total=20, start=0.3, way=lambda a, b, x: b + (a - b) * cosine(x)):
    first, least = most / 25, most / 25e4
    top = start * total - 1
    return way(first, most, t / top) if t <= top else way(most, least, (t - top) / (total - 1 - top))


def restarted(t, first, longer):
    while t >= first:
        t, first = t - first, first * longer
    return t / first


CASES = [
    ('StepLR', (3, 0.5), {}, lambda b, t: b * 0.5**(t // 3)),
    ('MultiStepLR', ([2, 5, 5, 9], 0.3), {}, lambda b, t: b * 0.3**sum(m <= t for m in (2, 5, 5, 9))),
    ('ConstantLR', (), {}, lambda b, t: b / 3 if t < 5 else b),
    ('LinearLR', (0.1,), {'end_factor': 0.7, 'total_iters': 9}, lambda b, t: b * (0.1 + 0.6 * min(t, 9) / 9)),
    ('ExponentialLR', (0.9,), {}, lambda b, t: b * 0.9**t),
    ('PolynomialLR', (11, 2.0), {}, lambda b, t: b * (1 - min(t, 11) / 11)**2),
    ('CosineAnnealingLR', (5, 0.01), {}, lambda b, t: 0.01 + (b - 0.01) * cosine(t / 5)),
    ('CosineAnnealingWarmRestarts', (3, 2, 0.02), {}, lambda b, t: 0.02 + (b - 0.02) * cosine(restarted(t, 3, 2))),
    ('CyclicLR', (0.01, 0.1, 4, 3), {'cycle_momentum': False}, lambda b, t: 0.01 + 0.09 * triangle(t, 4, 3)),
    ('CyclicLR', (0.01, 0.1, 4), {'mode': 'triangular2', 'cycle_momentum': False},
     lambda b, t: 0.01 + 0.09 * triangle(t, 4, 4) / 2**(t // 8)),
    ('CyclicLR', (0.01, 0.1, 4), {'mode': 'exp_range', 'gamma': 0.9, 'cycle_momentum': False},
     lambda b, t: 0.01 + 0.09 * triangle(t, 4, 4) * 0.9**t),
    ('OneCycleLR', (0.5, 20), {'cycle_momentum': False}, lambda b, t: one_cycle(t, 0.5)),
    ('OneCycleLR', ([0.5, 1.0],), {'epochs': 4, 'steps_per_epoch': 5, 'anneal_strategy': 'linear', 'cycle_momentum': False},
     lambda b, t: one_cycle(t, 0.5 if b == BASES[0] else 1.0, way=lambda u, v, x: u + (v - u) * x)),
    ('SWALR', (0.05,), {'anneal_epochs': 6}, lambda b, t: 0.05 + (b - 0.05) * cosine(min(t, 6) / 6)),
    ('LambdaLR', (lambda t: 1 / (1 + t),), {}, lambda b, t: b / (1 + t)),
    ('MultiplicativeLR', (lambda t: 0.9 + 0.01 * t,), {}, lambda b, t: b * math.prod(0.9 + 0.01 * i for i in range(1, t + 1))),
]


@pytest.mark.parametrize('name, args, options, closed', CASES)
def test_is_its_closed_form(name, args, options, closed):
    steps = made()
    schedule = getattr(S, name)(steps, *args, **options)
    for t in range(19):
        np.testing.assert_allclose(rates(steps), [closed(b, t) for b in BASES], rtol=1e-9, atol=1e-15, err_msg=f'step {t}')
        assert schedule.get_last_lr() == rates(steps)
        schedule.step()


@pytest.mark.parametrize('name, args, options', [(n, a, o) for n, a, o, _ in CASES])
def test_state_goes_out_and_in(name, args, options):
    first, second = made(), made()
    a, b = (getattr(S, name)(steps, *args, **options) for steps in (first, second))
    for _ in range(7):
        a.step()
    second.load_state_dict(first.state_dict())
    b.load_state_dict(a.state_dict())
    a.step()
    b.step()
    assert rates(first) == rates(second) and a.last_epoch == b.last_epoch == 8


def test_every_row_has_a_closed_form():
    from saltern import _saltern
    assert {row.name for row in _saltern.schedules() if '.' not in row.name} <= {case[0] for case in CASES}


def test_what_others_did_to_the_rate_stays():
    steps = made()
    schedule = S.StepLR(steps, 2, 0.5)
    schedule.step()
    steps.param_groups[0]['lr'] = 3.0
    schedule.step()
    np.testing.assert_allclose(rates(steps), [1.5, 0.2])


def test_momenta_go_the_other_way():
    for kind, momentum in ((saltern.optim.SGD, lambda g: g['momentum']), (saltern.optim.Adam, lambda g: g['betas'][0])):
        steps = made(kind)
        schedule = S.CyclicLR(steps, 0.01, 0.1, 4)
        for t in range(9):
            assert math.isclose(momentum(steps.param_groups[0]), 0.9 - 0.1 * triangle(t, 4, 4))
            schedule.step()
    with pytest.raises(ValueError, match='no momentum'):
        S.CyclicLR(made(saltern.optim.Adagrad), 0.01, 0.1)


def test_chained():
    steps = made()
    schedule = S.ChainedScheduler([S.ConstantLR(steps, 0.5, 3), S.ExponentialLR(steps, 0.9)])
    for t in range(8):
        np.testing.assert_allclose(rates(steps), [b * (0.5 if t < 3 else 1) * 0.9**t for b in BASES])
        schedule.step()


def test_in_turn():
    steps = made()
    schedule = S.SequentialLR(steps, [S.LinearLR(steps, 0.1, total_iters=5), S.CosineAnnealingLR(steps, 10)], [5])
    for t in range(15):
        wanted = [b * (0.1 + 0.9 * t / 5 if t < 5 else cosine((t - 5) / 10)) for b in BASES]
        np.testing.assert_allclose(rates(steps), wanted, rtol=1e-9, atol=1e-15)
        if t == 8:
            state, kept = schedule.state_dict(), steps.state_dict()
        schedule.step()
    again = made()
    other = S.SequentialLR(again, [S.LinearLR(again, 0.1, total_iters=5), S.CosineAnnealingLR(again, 10)], [5])
    again.load_state_dict(kept)
    other.load_state_dict(state)
    other.step()
    np.testing.assert_allclose(rates(again), [b * cosine(4 / 10) for b in BASES])


def test_on_a_plateau():
    steps = made()
    schedule = S.ReduceLROnPlateau(steps, factor=0.5, patience=1, cooldown=2, min_lr=[0.03, 0])
    seen = []
    for metric in (5, 4, 4, 4, 4, 4, 4, 4, 1, 1, 1):
        schedule.step(metric)
        seen.append(round(rates(steps)[0], 6))
    # Two that are not better, then two of rest, two again, and the least rate.
    assert seen == [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.03, 0.03, 0.03, 0.03]
    assert schedule.best == 1 and math.isclose(rates(steps)[1], 0.1)
    other = S.ReduceLROnPlateau(made())
    other.load_state_dict(schedule.state_dict())
    assert (other.best, other.num_bad_epochs) == (schedule.best, schedule.num_bad_epochs)


@pytest.mark.parametrize('name, args, wanted', [
    ('ExponentialDecay', (0.1, 4, 0.5), lambda t: 0.1 * 0.5**(t / 4)),
    ('ExponentialDecay', (0.1, 4, 0.5, True), lambda t: 0.1 * 0.5**(t // 4)),
    ('InverseTimeDecay', (0.1, 4, 0.5), lambda t: 0.1 / (1 + 0.5 * t / 4)),
    ('InverseTimeDecay', (0.1, 4, 0.5, True), lambda t: 0.1 / (1 + 0.5 * (t // 4))),
    ('PiecewiseConstantDecay', ([3, 7], [1.0, 0.5, 0.1]), lambda t: 1.0 if t <= 3 else 0.5 if t <= 7 else 0.1),
    ('PolynomialDecay', (0.1, 8, 0.01, 2.0), lambda t: 0.09 * (1 - min(t, 8) / 8)**2 + 0.01),
    ('PolynomialDecay', (0.1, 8, 0.01, 1.0, True), lambda t: 0.09 * (1 - t / (8 * max(1, math.ceil(t / 8)))) + 0.01),
    ('CosineDecay', (0.1, 8, 0.2), lambda t: 0.1 * (0.8 * cosine(min(t, 8) / 8) + 0.2)),
    ('CosineDecay', (0.0, 8, 0.2, 0.5, 4), lambda t: 0.5 * t / 4 if t < 4 else 0.5 * (0.8 * cosine(min(t - 4, 8) / 8) + 0.2)),
    ('CosineDecayRestarts', (0.1, 5, 1.0), lambda t: 0.1 * cosine(t % 5 / 5)),
    ('CosineDecayRestarts', (0.1, 3, 2.0, 0.5), lambda t: 0.1 * 0.5**sum(t >= m for m in (3, 9)) * cosine(restarted(t, 3, 2))),
])
def test_of_keras(name, args, wanted):
    schedule = getattr(keras.optimizers.schedules, name)(*args)
    np.testing.assert_allclose([schedule(t) for t in range(18)], [wanted(t) for t in range(18)], rtol=1e-9, atol=1e-12)


def test_mistakes_are_named():
    steps = made()
    with pytest.raises(TypeError, match='step_size'):
        S.StepLR(steps)
    with pytest.raises(ValueError, match="StepLR: 'step_size' is 0"):
        S.StepLR(steps, 0)
    with pytest.raises(ValueError, match="'mode' is 'up'"):
        S.ReduceLROnPlateau(steps, 'up')
    with pytest.raises(ValueError, match='total_steps'):
        S.OneCycleLR(steps, 0.1)
    with pytest.raises(ValueError, match='2 schedulers'):
        S.SequentialLR(steps, [S.StepLR(steps, 2), S.StepLR(steps, 3)], [])
    with pytest.raises(ValueError, match='another optimizer'):
        S.ChainedScheduler([S.StepLR(steps, 2), S.StepLR(made(), 2)])
    with pytest.raises(KeyError, match='initial_lr'):
        S.StepLR(made(), 2, last_epoch=3)


def test_states_of_pytorch():
    p = saltern.ones(1, requires_grad=True)
    optimizer = saltern.optim.SGD([p], lr=1.0)
    decayed = S.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    decayed.load_state_dict({'base_lrs': [1.0], 'last_epoch': 3, '_step_count': 4, '_last_lr': [0.125], 'lr_lambdas': [None]})
    decayed.step()
    assert optimizer.param_groups[0]['lr'] == 0.5**4
    optimizer = saltern.optim.SGD([p], lr=1.0)
    steps = S.MultiStepLR(optimizer, [100])
    steps.load_state_dict({'milestones': collections.Counter([2]), 'gamma': 0.1, 'last_epoch': 1, '_step_count': 2})
    steps.step()
    assert optimizer.param_groups[0]['lr'] == pytest.approx(0.1)
    for made in (lambda o: S.ExponentialLR(o, 0.5, last_epoch=4), lambda o: S.LinearLR(o, last_epoch=2), lambda o: S.CosineAnnealingLR(o, 10, last_epoch=4)):
        optimizer = saltern.optim.SGD([{'params': [p], 'initial_lr': 1.0}], lr=0.7)
        made(optimizer)
        assert optimizer.param_groups[0]['lr'] == 0.7
