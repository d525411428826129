"""Schedules of rates, with PyTorch's names and meaning: classes of the rows that C++ has (runtime/optim/schedules.h), and those
that take others, or functions."""
import bisect
import collections

from .. import _saltern
from .._rows import signature_of


class LRScheduler:
    """Moves the rates of an optimizer's groups: step() behind each step, or epoch, of the optimizer."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault('initial_lr', self._rate(group))
            elif 'initial_lr' not in group:
                raise KeyError(f"{type(self).__name__}: param_groups[{i}] has no 'initial_lr', which goes on from a last_epoch")
        self.base_lrs = [group['initial_lr'] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def _rate(self, group):
        return group[self.optimizer._rate]

    def get_lr(self):
        raise NotImplementedError(f'{type(self).__name__} has no get_lr()')

    def get_last_lr(self):
        """The rates that it set last."""
        return self._last_lr

    def step(self, epoch=None):
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr() if epoch is None else self._closed()):
            group[self.optimizer._rate] = rate
        self._last_lr = [self._rate(group) for group in self.optimizer.param_groups]

    def _closed(self):
        """The rates at last_epoch whatever they are now."""
        return self.get_lr()

    def state_dict(self):
        return {name: value for name, value in self.__dict__.items() if name != 'optimizer'}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)


def _of_group(options, i):
    """Options of one group: those that are rates or momenta may be lists, one for each."""
    return {name: value[i] if isinstance(value, (list, tuple)) and name.split('_')[-1] in ('lr', 'momentum') else value
            for name, value in options.items()}


# Made with a last_epoch, they leave the rates that they find; so has PyTorch it.
_GO_ON = ('LinearLR', 'ExponentialLR', 'PolynomialLR', 'CosineAnnealingLR')


class _RowScheduler(LRScheduler):
    _row = None

    def _set_momenta(self):
        for i, group in enumerate(self.optimizer.param_groups):
            momentum = self._row.momentum(_of_group(self._options, i), self.last_epoch)
            if momentum is None:
                return
            if 'betas' in group:
                group['betas'] = (momentum, *group['betas'][1:])
            elif 'momentum' in group:
                group['momentum'] = momentum
            else:
                raise ValueError(f'{type(self).__name__}: {type(self.optimizer).__name__} has no momentum to cycle')

    def get_lr(self):
        self._set_momenta()
        if self._is_initial and self.last_epoch > 0 and self._row.name in _GO_ON:
            return [self._rate(group) for group in self.optimizer.param_groups]
        return [self._row.next(_of_group(self._options, i), base, self._rate(group), self.last_epoch)
                for i, (base, group) in enumerate(zip(self.base_lrs, self.optimizer.param_groups))]

    def _closed(self):
        self._set_momenta()
        return [self._row.at(_of_group(self._options, i), base, self.last_epoch) for i, base in enumerate(self.base_lrs)]

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        for name in self._options.keys() & state_dict.keys():  # where PyTorch has them
            given = state_dict[name]
            self._options[name] = sorted(given.elements()) if isinstance(given, collections.Counter) else given

    def __getattr__(self, name):
        options = self.__dict__.get('_options', {})
        if name not in options:
            raise AttributeError(f'{type(self).__name__} has no attribute {name!r}')
        return options[name]


def _class_of(row):
    arguments = row.arguments
    signature = signature_of([*arguments, ('last_epoch', False, -1, False)], leading=('optimizer',))
    names = [argument[0] for argument in arguments]

    def __init__(self, *args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._options = {name: bound.arguments[name] for name in names}
        LRScheduler.__init__(self, bound.arguments['optimizer'], bound.arguments['last_epoch'])

    __init__.__signature__ = signature
    return type(row.name, (_RowScheduler,), {'__init__': __init__, '_row': row, '__doc__': f'{row.name}{signature}'})


globals().update({_row.name: _class_of(_row) for _row in _saltern.schedules() if '.' not in _row.name})


class _Lambdas(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f'{type(self).__name__}: {len(self.lr_lambdas)} functions for {count} groups')
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        return {name: value for name, value in super().state_dict().items() if name != 'lr_lambdas'}

    def load_state_dict(self, state_dict):
        super().load_state_dict({name: value for name, value in state_dict.items() if name != 'lr_lambdas'})


class LambdaLR(_Lambdas):
    """The first rate times lr_lambda(epoch)."""

    def get_lr(self):
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_Lambdas):
    """The rate times lr_lambda(epoch), each time."""

    def get_lr(self):
        if self._is_initial:
            return [self._rate(group) for group in self.optimizer.param_groups]
        return [self._rate(group) * f(self.last_epoch) for f, group in zip(self.lr_lambdas, self.optimizer.param_groups)]


class _Several:
    def get_last_lr(self):
        return self._last_lr

    def state_dict(self):
        kept = {name: value for name, value in self.__dict__.items() if name not in ('optimizer', '_schedulers')}
        return {**kept, '_schedulers': [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        self.__dict__.update({name: value for name, value in state_dict.items() if name != '_schedulers'})
        for scheduler, state in zip(self._schedulers, state_dict['_schedulers']):
            scheduler.load_state_dict(state)

    def _expect_one_optimizer(self):
        for i, scheduler in enumerate(self._schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f'{type(self).__name__}: scheduler {i} is a ReduceLROnPlateau, which needs a metric')
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(f'{type(self).__name__}: scheduler {i} is of another optimizer')


class ChainedScheduler(_Several):
    """All of them at each step."""

    def __init__(self, schedulers, optimizer=None):
        if not schedulers:
            raise ValueError('ChainedScheduler: there are no schedulers')
        self._schedulers, self.optimizer = list(schedulers), optimizer or schedulers[0].optimizer
        self._expect_one_optimizer()
        self._last_lr = self._schedulers[-1].get_last_lr()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._schedulers[-1].get_last_lr()

    _initial_step = step


class SequentialLR(_Several):
    """One after another, from each milestone on the next."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self._schedulers, self._milestones, self.optimizer = list(schedulers), list(milestones), optimizer
        if len(self._schedulers) != len(self._milestones) + 1:
            raise ValueError(f'SequentialLR: {len(self._milestones)} milestones are between {len(self._schedulers)} schedulers')
        self._expect_one_optimizer()
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group[optimizer._rate] = group['initial_lr']
        self._undo(self)
        first = self._schedulers[bisect.bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _undo(self, scheduler):
        """The step that schedulers take when they are made."""
        if isinstance(scheduler, _Several):
            for each in scheduler._schedulers:
                self._undo(each)
        else:
            scheduler.last_epoch -= 1

    def _initial_step(self):
        self._schedulers[0]._initial_step()

    def step(self):
        self.last_epoch += 1
        turn = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ReduceLROnPlateau:
    """Makes rates less when step(metric) has seen nothing better for some time."""
    __signature__ = signature_of(_saltern.Plateau.arguments(), leading=('optimizer',))

    def __init__(self, *args, **kwargs):
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        options = dict(bound.arguments)
        self.optimizer, least = options.pop('optimizer'), options.pop('min_lr')
        groups = self.optimizer.param_groups
        self.min_lrs = list(least) if isinstance(least, (list, tuple)) else [least] * len(groups)
        if len(self.min_lrs) != len(groups):
            raise ValueError(f'ReduceLROnPlateau: {len(self.min_lrs)} values of min_lr for {len(groups)} groups')
        self._plateau, self.last_epoch = _saltern.Plateau(options), 0
        self._last_lr = [group[self.optimizer._rate] for group in groups]

    def step(self, metrics, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        name = self.optimizer._rate
        if self._plateau.step(float(metrics)):
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                group[name] = self._plateau.reduced(group[name], least)
        self._last_lr = [group[name] for group in self.optimizer.param_groups]

    def get_last_lr(self):
        return self._last_lr

    @property
    def best(self):
        return self._plateau.best

    @property
    def num_bad_epochs(self):
        return self._plateau.bad_epochs

    @property
    def cooldown_counter(self):
        return self._plateau.cooling

    def state_dict(self):
        return {'best': self.best, 'num_bad_epochs': self.num_bad_epochs, 'cooldown_counter': self.cooldown_counter,
                'last_epoch': self.last_epoch, 'min_lrs': self.min_lrs, '_last_lr': self._last_lr}

    def load_state_dict(self, state_dict):
        self._plateau.best, self._plateau.bad_epochs, self._plateau.cooling = (
            float(state_dict['best']), int(state_dict['num_bad_epochs']), int(state_dict['cooldown_counter']))
        self.last_epoch, self.min_lrs, self._last_lr = (state_dict[n] for n in ('last_epoch', 'min_lrs', '_last_lr'))
