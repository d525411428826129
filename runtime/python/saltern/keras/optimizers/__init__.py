"""The optimizers of Keras, with its arguments and meaning; what they move is given first: Adam(net.parameters(), 1e-3). Those
of Keras' base class that clip gradients (clipnorm, clipvalue, global_clipnorm) are here, too."""
from ... import _saltern
from ...nn.utils import clip_grad as _clip
from ...optim.optimizer import Optimizer as _Optimizer, class_of as _class_of
from . import schedules
from .wrappers import LossScaleOptimizer, MultiOptimizer, OptimizerMap


class Optimizer(_Optimizer):
    _clipped = {}

    @property
    def learning_rate(self):
        return self.param_groups[0]['learning_rate']

    @learning_rate.setter
    def learning_rate(self, rate):
        for group in self.param_groups:
            group['learning_rate'] = rate

    @property
    def iterations(self):
        return self._steps()

    def step(self, closure=None):
        loss = None if closure is None else closure()
        ps = [p for g in self.param_groups for p in g['params'] if p.grad is not None]
        if self._clipped.get('clipnorm'):
            for p in ps:
                _clip.clip_grad_norm_(p, self._clipped['clipnorm'])
        if self._clipped.get('global_clipnorm'):
            _clip.clip_grad_norm_(ps, self._clipped['global_clipnorm'])
        if self._clipped.get('clipvalue'):
            _clip.clip_grad_value_(ps, self._clipped['clipvalue'])
        super().step()
        return loss


def _of_row(row):
    name = row.name[len('keras.'):]
    plain = _class_of(row, name, Optimizer)

    def __init__(self, params, *args, clipnorm=None, clipvalue=None, global_clipnorm=None, **kwargs):
        kwargs.pop('name', None)
        self._clipped = {'clipnorm': clipnorm, 'clipvalue': clipvalue, 'global_clipnorm': global_clipnorm}
        plain.__init__(self, params, *args, **kwargs)

    return type(name, (plain,), {'__init__': __init__, '__doc__': plain.__doc__})


globals().update({_row.name[len('keras.'):]: _of_row(_row) for _row in _saltern.optimizers() if _row.name.startswith('keras.')})


def _moved(self, of_p, of_z):
    for group in self.param_groups:
        beta = group['beta_1']
        for p in group['params']:
            if p in self.state:
                p.copy_(p.detach() * of_p(beta) + self.state[p]['momentum'] * of_z(beta))


class ScheduleFreeAdamW(ScheduleFreeAdamW):  # noqa: F821: of the table
    __doc__ = ScheduleFreeAdamW.__doc__ + '\n\nA net is evaluated between swap_to_eval() and swap_to_train().'  # noqa: F821

    def swap_to_eval(self):
        _moved(self, lambda beta: 1 / beta, lambda beta: (beta - 1) / beta)

    def swap_to_train(self):
        _moved(self, lambda beta: beta, lambda beta: 1 - beta)

    eval, train = swap_to_eval, swap_to_train
