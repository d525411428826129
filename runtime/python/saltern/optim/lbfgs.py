"""L-BFGS (runtime/optim/lbfgs.h), which computes the loss as often as it needs."""
from .. import _saltern
from .optimizer import Optimizer, class_of

_FIELDS = ('n_iter', 'func_evals', 'd', 'prev_flat_grad', 't', 'prev_loss', 'H_diag', 'old_dirs', 'old_stps')


class _OneGroup(Optimizer):
    def __init__(self, params, defaults):
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError('LBFGS: parameters are in one group')
        group, = self.param_groups
        self._steps_of = _saltern.Lbfgs(group['params'], {name: group[name] for name in defaults})

    def _update_of(self, group):
        """It has none: options are checked where they are all known."""

    def step(self, closure):
        """closure() clears gradients, computes the loss and its gradients, and gives the loss. The first loss comes back."""
        group, = self.param_groups
        self._steps_of.set_rate(float(group['lr']))
        return self._steps_of.step(lambda: float(closure()))

    def state_dict(self):
        kept = self._steps_of.state
        return {**super().state_dict(), 'state': {0: {name: getattr(kept, name) for name in _FIELDS}}}

    def load_state_dict(self, state_dict):
        super().load_state_dict({**state_dict, 'state': {}})
        for name, value in state_dict['state'].get(0, {}).items():
            setattr(self._steps_of.state, name, value)


LBFGS = class_of(next(row for row in _saltern.optimizers() if row.name == 'LBFGS'), 'LBFGS', _OneGroup)
