"""Optimizers of Keras that are made of others."""
import re

from ... import _saltern
from ..._saltern import Tensor
from ...optim.optimizer import _State


class LossScaleOptimizer:
    """scale_loss(loss) before backward(), so that small gradients are not lost; step() divides them again. Where one is not
    finite, the step is left out and the scale halved; after so many good steps it is doubled."""

    def __init__(self, inner_optimizer, initial_scale=2.0**15, dynamic_growth_steps=2000):
        self.inner_optimizer = inner_optimizer
        self._scale = _saltern.LossScale(float(initial_scale), dynamic_growth_steps)

    def __getattr__(self, name):
        if name == 'inner_optimizer':
            raise AttributeError(name)
        return getattr(self.inner_optimizer, name)

    @property
    def dynamic_scale(self):
        return self._scale.scale

    def scale_loss(self, loss):
        return self._scale.scaled(loss)

    def step(self):
        if self._scale.unscale([p for g in self.inner_optimizer.param_groups for p in g['params']]):
            self.inner_optimizer.step()

    def state_dict(self):
        return {'inner': self.inner_optimizer.state_dict(), 'dynamic_scale': self._scale.scale,
                'step_counter': self._scale.good_steps}

    def load_state_dict(self, state_dict):
        self.inner_optimizer.load_state_dict(state_dict['inner'])
        self._scale.scale, self._scale.good_steps = state_dict['dynamic_scale'], state_dict['step_counter']


class OptimizerMap:
    """Which optimizer a parameter has: identifiers are patterns of names, parameters, lists of them, or functions of name and
    parameter. Optimizers are functions of parameters: `lambda ps: SGD(ps, 0.1)`."""

    def __init__(self, optimizer, variable_identifier):
        if len(optimizer) != len(variable_identifier):
            raise ValueError(f'OptimizerMap: {len(optimizer)} optimizers for {len(variable_identifier)} identifiers')
        self.optimizer, self.variable_identifier = list(optimizer), list(variable_identifier)

    def __call__(self, name, p):
        found = {id(o): o for o, i in zip(self.optimizer, self.variable_identifier) if self._is(i, name, p)}
        if len(found) > 1:
            raise ValueError(f'OptimizerMap: {name} has {len(found)} optimizers')
        return next(iter(found.values()), None)

    @staticmethod
    def _is(identifier, name, p):
        if isinstance(identifier, str):
            return re.match(identifier, name) is not None
        if callable(identifier):
            return bool(identifier(name, p))
        each = [identifier] if isinstance(identifier, Tensor) else identifier
        return any(p._identity() == other._identity() for other in each)


class MultiOptimizer:
    """Optimizers of parameters that an OptimizerMap gives them, given as net.named_parameters(); the default has the others."""

    def __init__(self, params, obj_map, default_optimizer):
        of = {}
        for name, p in params:
            make = obj_map(name, p) or default_optimizer
            of.setdefault(id(make), (make, []))[1].append(p)
        self.optimizers = [make(ps) for make, ps in of.values()]

    @property
    def param_groups(self):
        return [group for o in self.optimizers for group in o.param_groups]

    def step(self):
        for o in self.optimizers:
            o.step()

    def zero_grad(self, set_to_none=True):
        for o in self.optimizers:
            o.zero_grad(set_to_none)

    @property
    def state(self):
        """What is kept of each parameter, by whichever optimizer."""
        all = _State()
        for o in self.optimizers:
            all.update(o.state)
        return all

    def state_dict(self):
        """That of one optimizer which has all of the groups: parameters are numbered through."""
        state, groups, first = {}, [], 0
        for o in self.optimizers:
            own = o.state_dict()
            state.update({first + number: kept for number, kept in own['state'].items()})
            groups += [{**group, 'params': [first + number for number in group['params']]} for group in own['param_groups']]
            first += sum(len(group['params']) for group in own['param_groups'])
        return {'state': state, 'param_groups': groups}

    def load_state_dict(self, state_dict):
        groups = list(state_dict['param_groups'])
        if len(groups) != len(self.param_groups):
            raise ValueError(f'MultiOptimizer: the state is that of {len(groups)} groups; there are {len(self.param_groups)}')
        for o in self.optimizers:
            count = len(o.param_groups)
            o.load_state_dict({'state': state_dict['state'], 'param_groups': groups[:count]})
            groups = groups[count:]
