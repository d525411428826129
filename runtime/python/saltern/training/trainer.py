"""Trainer: batches, loss, gradients, updates, validation, and callbacks at all of these."""
import json

import numpy as np

from .. import _saltern, nn
from .._saltern import Tensor
from .._tensors import no_grad, tensor
from .callbacks import CallbackList, History
from .showing import ProgbarLogger


class NotFinite(ArithmeticError):
    """A loss or a gradient that is not finite: its text names the step and the first layer that it came from."""


class _Mean:
    """A metric that is a mean over samples of a function of a batch."""

    def __init__(self, name, function):
        self.name, self._function = name, function
        self.reset()

    def update(self, prediction, target):
        self.sum += float(self._function(prediction, target)) * len(target)
        self.weight += len(target)

    def value(self):
        return self.sum / self.weight if self.weight else 0.0

    def reset(self):
        self.sum = self.weight = 0.0


def accuracy(prediction, target):
    """The part of a batch whose largest score is that of its label."""
    return np.mean(np.argmax(prediction, -1) == target)


LOSSES = {'cross_entropy': nn.functional.cross_entropy, 'mse': nn.functional.mse_loss, 'l1': nn.functional.l1_loss,
          'binary_cross_entropy_with_logits': nn.functional.binary_cross_entropy_with_logits}
METRICS = {'accuracy': accuracy, 'mse': lambda p, t: np.mean((p - t)**2), 'mae': lambda p, t: np.mean(np.abs(p - t))}


def _metric(given):
    """An object with update(prediction, target), value() or compute(), and reset(); a function of both; or a name."""
    if isinstance(given, str):
        if given not in METRICS:
            raise ValueError(f'there is no metric {given!r}; there are {", ".join(METRICS)}')
        return _Mean(given, METRICS[given])
    return given if hasattr(given, 'update') else _Mean(given.__name__, given)


def _name_of(metric):
    name = getattr(metric, 'name', type(metric).__name__.lower())
    return name() if callable(name) else name


def _value_of(metric):
    return float((metric.value if hasattr(metric, 'value') else metric.compute)())


def _finite(t):
    return t is None or bool(np.isfinite(np.asarray(t)).all())


def _rate_in(group):
    """The name of a group's rate: PyTorch's or Keras'."""
    return 'lr' if 'lr' in group else 'learning_rate'


class Trainer:
    """Trains a net by an optimizer. The loss is a function of prediction and target, or the name of one.

    clip_norm scales gradients down whose norm is above; accumulate is how many batches a step has; average is the decay of
    averages of the parameters, which validation and predict() see; rate is a function of the step; seed decides what is
    drawn: order and dropout. The same seed gives the same bits for any number of threads.
    """

    def __init__(self, net, loss, optimizer, metrics=(), clip_norm=None, accumulate=1, average=0.0, rate=None, seed=0):
        if isinstance(loss, str) and loss not in LOSSES:
            raise ValueError(f'there is no loss {loss!r}; there are {", ".join(LOSSES)}')
        if accumulate < 1:
            raise ValueError(f'{accumulate} batches a step; at least 1 is taken')
        if not 0 <= average < 1:
            raise ValueError(f'the decay of averages is {average}; expected 0 to 1, without 1')
        if hasattr(optimizer, 'scale_loss'):
            raise TypeError('the loss is not scaled here, as a LossScaleOptimizer wants it; give its inner_optimizer')
        self.net, self.loss, self.optimizer = net, LOSSES[loss] if isinstance(loss, str) else loss, optimizer
        self.metrics = [_metric(m) for m in metrics]
        self.clip_norm, self.accumulate, self.average, self.rate, self.seed = clip_norm, accumulate, average, rate, seed
        self.averages = {n: np.array(p.numpy()) for n, p in net.named_parameters()} if average else {}
        self.stop_training, self.step, self.epoch, self.batch, self.gradient_norm = False, 0, 0, 0, 0.0
        self._loss = _Mean('loss', None)
        self._made_with = {'seed': seed, 'accumulate': accumulate, 'clip_norm': clip_norm, 'average': average}

    # ---- The rate, as callbacks change it.
    @property
    def learning_rate(self):
        rate = self.optimizer.param_groups[0][_rate_in(self.optimizer.param_groups[0])]
        return float(rate(self.step) if callable(rate) else rate)

    @learning_rate.setter
    def learning_rate(self, rate):
        for group in self.optimizer.param_groups:
            group[_rate_in(group)] = float(rate)

    # ---- Training.
    def fit(self, x, y, batch_size=32, epochs=1, validation_data=None, callbacks=(), shuffle=True, verbose='auto'):
        """Until epoch `epochs`; gives the History. verbose 'auto' draws a bar on a terminal and is quiet elsewhere, 0 is
        always quiet, 2 prints a line an epoch."""
        x, y = _arrays(x, y)
        if batch_size < 1:
            raise ValueError(f'batches of {batch_size} samples; at least 1 is taken')
        history = History()
        self.callbacks = CallbackList([*callbacks, *ProgbarLogger.wanted(verbose), history], self, {
            'epochs': epochs, 'steps': -(-len(x) // (batch_size * self.accumulate)), 'samples': len(x)})
        self.stop_training = False
        self._made_with.update(samples=len(x), batch_size=batch_size, shuffle=bool(shuffle))
        _saltern.manual_seed(self.seed)
        self.callbacks.on_train_begin()
        while self.epoch < epochs and not self.stop_training:
            if self.batch == 0:
                self.callbacks.on_epoch_begin(self.epoch)
            if not self._train_epoch(x, y, batch_size, shuffle):
                break
            self._close_epoch(validation_data, batch_size)
        self.callbacks.on_train_end()
        return history

    def _train_epoch(self, x, y, size, shuffle):
        """Whether it came to its end. The order is a function of seed and epoch."""
        order = np.random.default_rng((self.seed, self.epoch)).permutation(len(x)) if shuffle else np.arange(len(x))
        starts = range(self.batch * size, len(x), size)
        for first in range(0, len(starts), self.accumulate):
            places = [order[s:s + size] for s in starts[first:first + self.accumulate]]
            self.callbacks.on_train_batch_begin(self.batch)
            loss = self._take_step([(x[p], y[p]) for p in places])
            self.batch += len(places)
            self.callbacks.on_train_batch_end(self.batch - 1, {'loss': loss})
            if self.stop_training and self.batch * size < len(x):
                return False
        return True

    def _take_step(self, batches):
        self.net.train()
        if self.rate is not None:
            self.learning_rate = self.rate(self.step)
        count, total = sum(len(t) for _, t in batches), 0.0
        self.optimizer.zero_grad()
        for x, target in batches:
            weight = len(target) / count
            total += self._backward(x, target, weight) * weight
        if self.clip_norm and self.gradient_norm > self.clip_norm:
            _saltern.scale_gradients(list(self.net.parameters()), self.clip_norm / self.gradient_norm)
        self.callbacks.on_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        decay = self.average if self.step > 1 else 0  # they begin with the first step
        for name, p in self.net.named_parameters() if self.average else ():
            self.averages[name] = (decay * self.averages[name] + (1 - decay) * p.numpy()).astype(p.dtype)
        return total

    def _backward(self, x, target, weight):
        random = np.array(_saltern.random_stream())
        prediction = self.net(tensor(x))
        loss = self.loss(prediction, tensor(target))
        value = loss.item()
        if np.isfinite(value):
            for m in self.metrics:
                m.update(np.asarray(prediction), target)
            loss.backward(None if weight == 1 else tensor(np.asarray(weight, loss.dtype).reshape(loss.shape)))
            self.gradient_norm = _saltern.total_norm([p.grad for p in self.net.parameters() if p.grad is not None], 2.0)
        if not (np.isfinite(value) and np.isfinite(self.gradient_norm)):
            self.callbacks.on_not_finite(value)
            if self.stop_training:
                return value
            _saltern.random_stream().copy_(tensor(random))
            raise NotFinite(f'step {self.step + 1}: {self._not_finite(x, target)} is not finite')
        self._loss.sum += value * len(target)
        self._loss.weight += len(target)
        return value

    def _not_finite(self, x, target):
        """The first that is not: the input, the output of a layer, the loss, a gradient."""
        if not _finite(x):
            return 'the input'
        outputs, layers = [], [(n, m) for n, m in self.net.named_modules() if not list(m.children())]
        hooks = [(m, m.register_forward_hook(lambda _, __, y, n=n, m=m: outputs.append((n, m, y)))) for n, m in layers]
        try:
            loss = self.loss(self.net(tensor(x)), tensor(target))
        finally:
            for module, hook in hooks:
                module._hooks.remove(hook)
        outputs = [(f'layer {n!r} ({type(m).__name__})', m, y) for n, m, y in outputs if isinstance(y, Tensor)]
        for name, _, y in outputs:
            if not _finite(y):
                return f'the output of {name}'
        if not np.isfinite(loss.item()):
            return 'the loss'
        maker = 'the loss'
        gradient = lambda t: _saltern.gradients([loss], [t], [], False, True)[0] if t.requires_grad else None
        for name, module, y in reversed(outputs):
            if not _finite(gradient(y)):
                return f'the gradient that {maker} hands on'
            if not all(_finite(gradient(p)) for p in module.parameters()):
                return f'a gradient of {name}'
            maker = name
        return 'a gradient'

    def _close_epoch(self, validation, size):
        logs = {'loss': self._loss.value(), **{_name_of(m): _value_of(m) for m in self.metrics}}
        self._reset()
        if validation is not None:
            logs.update({f'val_{name}': v for name, v in self.evaluate(*validation, batch_size=size).items()})
        logs['learning_rate'] = self.learning_rate
        self.epoch, self.batch = self.epoch + 1, 0
        self.callbacks.on_epoch_end(self.epoch - 1, logs)

    def _reset(self):
        self._loss.reset()
        for m in self.metrics:
            m.reset()

    # ---- Asking it.
    def evaluate(self, x, y, batch_size=32):
        """The mean loss, and the metrics."""
        (x, y), total = _arrays(x, y), 0.0
        self._reset()
        for begin in range(0, len(x), batch_size):
            target = y[begin:begin + batch_size]
            prediction = self._predicted(x[begin:begin + batch_size])
            with no_grad():
                total += self.loss(tensor(prediction), tensor(target)).item() * len(target)
            for m in self.metrics:
                m.update(prediction, target)
        found = {'loss': total / len(x), **{_name_of(m): _value_of(m) for m in self.metrics}}
        self._reset()
        return found

    def predict(self, x, batch_size=32):
        x, _ = _arrays(x, x)
        return np.concatenate([self._predicted(x[b:b + batch_size]) for b in range(0, len(x), batch_size)])

    def _predicted(self, x):
        """In evaluation mode, with the averages where there are some."""
        modes = [(m, m.training) for m in self.net.modules()]
        self.swap_averages()
        try:
            with no_grad():
                return np.array(self.net.eval()(tensor(x)))
        finally:
            self.swap_averages()
            for module, training in modes:
                module.train(training)

    def swap_averages(self):
        """Puts the averages in the place of the parameters, and these in theirs."""
        for name, p in self.net.named_parameters() if self.averages else ():
            kept = np.array(p.numpy())
            p.copy_(tensor(self.averages[name]))
            self.averages[name] = kept

    # ---- What training depends on, as tensors by name and texts.
    def state(self):
        tensors = {f'net.{n}': t for n, t in self.net.state_dict().items()}
        tensors.update({f'average.{n}': tensor(a) for n, a in self.averages.items()})
        tensors['random'] = tensor(np.array(_saltern.random_stream()))
        tensors['counted'] = tensor(np.array([self._loss.sum, self._loss.weight], np.float64))
        for i, m in enumerate(self.metrics):
            if isinstance(m, _Mean):
                tensors[f'metric.{i}'] = tensor(np.array([m.sum, m.weight], np.float64))
            elif hasattr(m, 'state_dict'):
                tensors.update({f'metric.{i}.{n}': t for n, t in m.state_dict().items()})
        kept = {}  # in the order in which the optimizer has them
        for number, p in enumerate(self._parameters()):
            state = self.optimizer.state.get(p._identity())
            if state:
                kept[number] = list(state)
                tensors.update({f'optimizer.{number}.{name}': t for name, t in state.items()})
        rates = [g[_rate_in(g)] for g in self.optimizer.param_groups]
        facts = {'step': self.step, 'epoch': self.epoch, 'batch': self.batch, 'kept': kept, 'made_with': self._made_with,
                 'rates': [None if callable(r) else float(r) for r in rates]}
        return tensors, {'training': json.dumps(facts)}

    def load_state(self, tensors, metadata):
        if 'training' not in metadata:
            raise ValueError('no training checkpoint: its metadata has no "training"')
        facts = json.loads(metadata['training'])
        for name, was in facts['made_with'].items():
            if was != self._made_with.get(name, was):
                raise ValueError(f'the checkpoint was made with {name} {was}, not {self._made_with[name]}')
        below = lambda prefix: {n[len(prefix):]: t for n, t in tensors.items() if n.startswith(prefix)}
        self.net.load_state_dict(below('net.'))
        self.averages.update({n: np.array(t) for n, t in below('average.').items()})
        _saltern.random_stream().copy_(tensors['random'])
        self._loss.sum, self._loss.weight = map(float, tensors['counted'].numpy())
        for i, m in enumerate(self.metrics):
            if f'metric.{i}' in tensors:
                m.sum, m.weight = map(float, tensors[f'metric.{i}'].numpy())
            elif hasattr(m, 'load_state_dict'):
                m.load_state_dict(below(f'metric.{i}.'))
        states = {int(number): {name: tensors[f'optimizer.{number}.{name}'] for name in names}
                  for number, names in facts['kept'].items()}
        if hasattr(self.optimizer, 'load_state_dict'):
            self.optimizer.load_state_dict({**self.optimizer.state_dict(), 'state': states})
        else:
            parameters = self._parameters()
            self.optimizer.state.update({parameters[number]._identity(): state for number, state in states.items()})
        for group, rate in zip(self.optimizer.param_groups, facts['rates']):
            if rate is not None:
                group[_rate_in(group)] = rate
        self.step, self.epoch, self.batch = facts['step'], facts['epoch'], facts['batch']

    def _parameters(self):
        return [p for group in self.optimizer.param_groups for p in group['params']]


def _arrays(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if len(x) != len(y):
        raise ValueError(f'there are {len(x)} inputs and {len(y)} targets')
    if len(x) == 0:
        raise ValueError('there are no samples')
    return x.astype(np.float32) if x.dtype == np.float64 else x, y.astype(np.float32) if y.dtype == np.float64 else y


def fit(net, loss, optimizer, x, y, metrics=(), **options):
    """Trains a net once: Trainer(net, loss, optimizer, metrics).fit(x, y, ...)."""
    return Trainer(net, loss, optimizer, metrics).fit(x, y, **options)
