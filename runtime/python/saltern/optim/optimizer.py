"""What all optimizers have in common: groups of parameters, steps and state. Classes are made of the rows that C++ has."""
import inspect

import numpy as np

from .._rows import signature_of
from .._saltern import Tensor
from .._tensors import tensor

# How PyTorch computes, which is no matter here.
_IGNORED = ('foreach', 'fused', 'capturable', 'differentiable')


def _name(p):
    return p._outline() if isinstance(p, Tensor) else repr(p)


class _State(dict):
    """What is kept of each parameter: state[p]. A parameter may have several handles."""

    @staticmethod
    def _key(p):
        return p._identity() if isinstance(p, Tensor) else p

    def __getitem__(self, p):
        return super().__getitem__(self._key(p))

    def __setitem__(self, p, value):
        super().__setitem__(self._key(p), value)

    def __contains__(self, p):
        return super().__contains__(self._key(p))

    def get(self, p, otherwise=None):
        return super().get(self._key(p), otherwise)


class Optimizer:
    """Parameters in groups, each with options of its own: an iterable of tensors, or of dictionaries with 'params'."""
    _row = None
    _rate = 'lr'

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(f'{type(self).__name__}: params is a tensor; expected an iterable of them, or of groups')
        groups = list(params)
        if not groups:
            raise ValueError(f'{type(self).__name__}: there are no parameters')
        if not isinstance(groups[0], dict):
            groups = [{'params': groups}]
        self.defaults, self.param_groups, self.state = defaults, [], _State()
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        given = param_group['params']
        group = {**self.defaults, **param_group, 'params': [given] if isinstance(given, Tensor) else list(given)}
        known = {p._identity() for g in self.param_groups for p in g['params']}
        for p in group['params']:
            if isinstance(p, tuple) or not p.requires_grad or not p.is_leaf:
                raise ValueError(f'{type(self).__name__}: {_name(p)} is no leaf that requires a gradient')
            if p._identity() in known:
                raise ValueError(f'{type(self).__name__}: {_name(p)} is there twice')
            known.add(p._identity())
        self._update_of(group)  # which checks the options
        self.param_groups.append(group)

    def _update_of(self, group):
        options = {name: group[name] for name in self.defaults if name in group}
        options[self._rate] = self._rate_of(group)
        return self._row.update(options)

    def _rate_of(self, group):
        rate = group[self._rate]
        return float(rate(self._steps()) if callable(rate) else rate)

    def _steps(self):
        """How many steps were taken, by the parameter that took most of them."""
        return max((int(s['step'].item()) for s in self.state.values()), default=0)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; gives what the closure gives, which may compute them."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            update, rate = self._update_of(group), tensor(np.float32(self._rate_of(group)))
            for p in group['params']:
                if p.grad is None:
                    continue
                if p not in self.state:
                    self.state[p] = {'step': tensor(np.zeros((), np.int64))}
                kept, names = self.state[p], update.slot_names(p)
                if any(name not in kept for name in names):  # the first time, or where an option has changed
                    self.state[p] = kept = {**dict(update.slots(p)), **kept}
                update.apply(p, p.grad, rate, kept['step'], [kept[name] for name in names])
        return loss

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group['params']:
                p.grad = None if set_to_none or p.grad is None else tensor(np.zeros(p.shape, p.dtype))

    def state_dict(self):
        """As PyTorch has it: {'state': {number of the parameter: {'step': ..., ...}}, 'param_groups': [...]}."""
        groups, numbers = [], {}
        for group in self.param_groups:
            for p in group['params']:
                numbers[p._identity()] = len(numbers)
            groups.append({**group, 'params': [numbers[p._identity()] for p in group['params']]})
        return {'state': {numbers[key]: dict(kept) for key, kept in self.state.items()}, 'param_groups': groups}

    def load_state_dict(self, state_dict):
        """Takes PyTorch's as well."""
        groups = state_dict['param_groups']
        if [len(g['params']) for g in groups] != [len(g['params']) for g in self.param_groups]:
            raise ValueError(f'{type(self).__name__}: the state is that of other groups of parameters')
        self.state = _State()
        for mine, theirs in zip(self.param_groups, groups):
            mine.update({name: value for name, value in theirs.items() if name != 'params'})
            update = self._update_of(mine)
            for p, number in zip(mine['params'], theirs['params']):
                if number not in state_dict['state']:
                    continue
                kept = state_dict['state'][number]
                steps = np.asarray(kept.get('step', 1))  # which PyTorch's SGD does not count
                self.state[p] = {'step': tensor(steps.astype(np.int64).reshape(()))}
                for name, slot in update.slots(p):
                    self.state[p][name] = slot.copy_(tensor(np.asarray(kept[name], slot.dtype).reshape(slot.shape)))

    # Copies and pickles have other parameters, by which state is found again.
    def __getstate__(self):
        kept = [(p, self.state[p]) for group in self.param_groups for p in group['params'] if p in self.state]
        return {**self.__dict__, 'state': kept}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.state = _State()
        for p, kept in state['state']:
            self.state[p] = kept

    def __repr__(self):
        groups = ({name: value for name, value in g.items() if name != 'params'} for g in self.param_groups)
        return f'{type(self).__name__}({", ".join(map(str, groups))})'


def class_of(row, name, base=Optimizer):
    """The class of a row, with the arguments that it has."""
    arguments = row.arguments
    signature = signature_of(arguments, leading=('params',))
    names = [argument[0] for argument in arguments]

    def __init__(self, params, *args, **kwargs):
        for ignored in _IGNORED:
            if ignored not in names:
                kwargs.pop(ignored, None)
        bound = signature.bind(params, *args, **kwargs)
        bound.apply_defaults()
        base.__init__(self, params, {n: bound.arguments[n] for n in names})

    __init__.__signature__ = signature.replace(
        parameters=[inspect.Parameter('self', inspect.Parameter.POSITIONAL_OR_KEYWORD), *signature.parameters.values()])
    return type(name, (base,), {'__init__': __init__, '_row': row, '_rate': names[0],
                                '__module__': base.__module__.removesuffix('.optimizer'),
                                '__doc__': f'{name}{signature}'})
