"""Optimizers: updates of parameters in place, by the kernels that C++ uses."""
import numpy as np

from . import _saltern
from ._tensors import tensor


class Optimizer:
    """Parameters in groups, each with options of its own: an iterable of tensors, or of dictionaries with 'params'."""
    _operation = None
    _slots = ()

    def __init__(self, params, defaults):
        groups = list(params)
        if not groups:
            raise ValueError(f'{type(self).__name__}: there are no parameters')
        if not isinstance(groups[0], dict):
            groups = [{'params': groups}]
        self.param_groups = [{**defaults, **group, 'params': list(group['params'])} for group in groups]
        self.state = {}
        for group in self.param_groups:
            for p in group['params']:
                if not p.requires_grad or not p.is_leaf:
                    raise ValueError(f'{type(self).__name__}: {p!r} is no leaf that requires a gradient')

    def _options(self, group):
        raise NotImplementedError

    def _slots_of(self, group):
        return self._slots

    def step(self):
        """Updates every parameter that has a gradient."""
        for group in self.param_groups:
            options, slots = self._options(group), self._slots_of(group)
            rate = tensor(np.float32(group['lr']))
            for p in group['params']:
                if p.grad is None:
                    continue
                state = self.state.setdefault(p._identity(), {
                    'steps': tensor(np.zeros((), np.int64)),
                    **{name: tensor(np.zeros(p.shape, np.float32)) for name in slots}})
                _saltern.update(self._operation, options,
                                [p, p.grad, rate, state['steps']] + [state[name] for name in slots])

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group['params']:
                p.grad = None


class SGD(Optimizer):
    _operation = 'sgd'

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov))

    def _options(self, group):
        return {**{name: float(group[name]) for name in ('momentum', 'dampening', 'weight_decay')},
                'nesterov': int(group['nesterov'])}

    def _slots_of(self, group):
        return ('momentum',) if group['momentum'] else ()


class Adam(Optimizer):
    _operation = 'adam'
    _slots = ('mean', 'square')
    _decoupled = 0

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def _options(self, group):
        return {'beta1': float(group['betas'][0]), 'beta2': float(group['betas'][1]), 'epsilon': float(group['eps']),
                'weight_decay': float(group['weight_decay']), 'decoupled': self._decoupled}


class SparseAdam(Adam):
    """Adam of the rows that sparse gradients name (nn.Embedding(..., sparse=True)); others, and their moments, stay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr, betas, eps)

    def _options(self, group):
        return {**super()._options(group), 'only_touched': 1}


class AdamW(Adam):
    _decoupled = 1

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)
