"""Averages of a net's parameters over its training, with PyTorch's names."""
import copy

import numpy as np

from .. import _saltern
from .._tensors import no_grad, tensor
from ..nn import Module
from .lr_scheduler import SWALR


def get_ema_multi_avg_fn(decay=0.999):
    """For AveragedModel: recent parameters more."""
    if not 0 <= decay <= 1:
        raise ValueError(f'the decay is {decay}; expected between 0 and 1')

    def update(averages, parameters, count):
        for average, p in zip(averages, parameters):
            _saltern.blend_into(average, p, 1 - decay)

    return update


def get_swa_multi_avg_fn():
    """For AveragedModel, and what it does if not told: all alike."""
    def update(averages, parameters, count):
        for average, p in zip(averages, parameters):
            _saltern.blend_into(average, p, 1 / (int(count) + 1))

    return update


def get_ema_avg_fn(decay=0.999):
    """The same for one parameter, which comes back."""
    if not 0 <= decay <= 1:
        raise ValueError(f'the decay is {decay}; expected between 0 and 1')
    return lambda average, p, count: average * decay + p * (1 - decay)


def get_swa_avg_fn():
    return lambda average, p, count: average + (p - average) / (int(count) + 1)


class AveragedModel(Module):
    """A copy of a net whose parameters are averages of the net's: update_parameters(net) behind each step."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn and multi_avg_fn:
            raise ValueError('AveragedModel: avg_fn and multi_avg_fn are both given; expected one')
        self.module = copy.deepcopy(model)
        self.register_buffer('n_averaged', tensor(np.zeros((), np.int64)))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, net):
        state, names = net.state_dict(), {name for name, _ in net.named_parameters()}
        return [t for name, t in state.items() if name in names or (self.use_buffers and t.dtype.startswith('float'))]

    def update_parameters(self, model):
        mine, theirs, count = self._averaged(self.module), self._averaged(model), int(self.n_averaged.item())
        with no_grad():
            if count == 0:
                for average, p in zip(mine, theirs):
                    average.copy_(p)
            elif self.avg_fn:
                for average, p in zip(mine, theirs):
                    average.copy_(self.avg_fn(average.detach(), p.detach(), count))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(mine, theirs, count)
            if not self.use_buffers:
                parameters, others = {name for name, _ in model.named_parameters()}, model.state_dict()
                for name, t in self.module.state_dict().items():
                    if name not in parameters:
                        t.copy_(others[name])
            self.n_averaged.copy_(tensor(np.int64(count + 1)))


def update_bn(loader, model, device=None):
    """Running statistics of batch norms as the mean over the loader's batches: with averaged parameters they are others."""
    state, norms = model.state_dict(), []
    for path, part in model.named_modules():
        names = [f'{path}.{name}' if path else name for name in ('running_mean', 'running_var', 'num_batches_tracked')]
        if names[0] in state:
            norms.append((part.momentum, [state[name] for name in names]))
    if not norms:
        return
    totals, was_training = {}, model.training
    model.train()
    with no_grad():
        for count, batch in enumerate(loader, start=1):
            for _, kept in norms:  # so that what comes out is momentum times the batch's own
                for t in kept:
                    t.copy_(tensor(np.zeros(t.shape, t.dtype)))
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
            for i, (momentum, kept) in enumerate(norms):
                totals[i] = [total + t.numpy() / (momentum or 1) for total, t in zip(totals.get(i, (0, 0)), kept)]
        for i, sums in totals.items():
            for t, value in zip(norms[i][1], (*(total / count for total in sums), count)):
                t.copy_(tensor(np.asarray(value, t.dtype)))
    model.train(was_training)
