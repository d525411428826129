"""What happens while a net is trained, with the names, arguments and meaning of keras.callbacks. The `model` of a callback is
the Trainer: its net, optimizer, learning_rate, and stop_training."""
import sys

import numpy as np

from .. import _saltern

_MOMENTS = ('train_begin', 'train_end', 'epoch_begin', 'epoch_end', 'train_batch_begin', 'train_batch_end')


class Callback:
    """Its methods are called at the moments that their names say; `params` has epochs, steps and samples."""

    def __init__(self):
        self.model, self.params = None, {}

    def set_model(self, model):
        self.model = model

    def set_params(self, params):
        self.params = params

    def on_train_begin(self, logs=None):
        pass

    def on_train_end(self, logs=None):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass

    def on_train_batch_begin(self, batch, logs=None):
        pass

    def on_train_batch_end(self, batch, logs=None):
        pass

    def on_gradients(self):
        """Gradients are there, and parameters not yet updated."""

    def on_not_finite(self, loss):
        """A loss or a gradient is not finite. Unless somebody sets stop_training, an error ends training."""

    # What it has to know when training is resumed (BackupAndRestore).
    _kept = ()
    _is_backup = False

    def state(self):
        return {name: getattr(self, name) for name in self._kept}

    def load_state(self, state):
        self.__dict__.update(state)


class CallbackList(Callback):
    """Calls several, in their order."""

    def __init__(self, callbacks=(), model=None, params=None):
        super().__init__()
        self.callbacks = list(callbacks)
        self.set_model(model)
        self.set_params(params or {})

    def append(self, callback):
        self.callbacks.append(callback)

    def set_model(self, model):
        self.model = model
        for c in self.callbacks:
            c.set_model(model)

    def set_params(self, params):
        self.params = params
        for c in self.callbacks:
            c.set_params(params)


def _of_all(name):
    def called(self, *args, **kwargs):
        # Backups come last, to keep what the others have come to; but others begin where a backup goes on from.
        for c in sorted(self.callbacks, key=lambda c: c._is_backup, reverse=name == 'on_train_begin'):
            getattr(c, name)(*args, **kwargs)
    return called


for _name in (*(f'on_{m}' for m in _MOMENTS), 'on_gradients', 'on_not_finite'):
    setattr(CallbackList, _name, _of_all(_name))


class LambdaCallback(Callback):
    """Functions as a callback: LambdaCallback(on_epoch_end=lambda epoch, logs: ...)."""

    def __init__(self, **functions):
        super().__init__()
        for name, function in functions.items():
            if name not in [f'on_{m}' for m in _MOMENTS]:
                raise TypeError(f'LambdaCallback: there is no moment {name!r}')
            if function is not None:
                setattr(self, name, function)


class History(Callback):
    """`history` has a list of values, one an epoch, for each name; `epoch` their numbers."""
    _kept = ('history', 'epoch')

    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class TerminateOnNaN(Callback):
    """Ends training, without an error, where the loss is not finite."""

    def on_not_finite(self, loss):
        print(f'step {self.model.step + 1}: the loss is {loss}; training ends', file=sys.stderr)
        self.model.stop_training = True


class Monitoring(Callback):
    """One that goes by a number of the logs, which is to become low or high."""

    def __init__(self, monitor, mode, min_delta=0.0):
        super().__init__()
        if mode not in ('auto', 'min', 'max'):
            raise ValueError(f'mode is {mode!r}; expected auto, min or max')
        high = mode == 'max' or (mode == 'auto' and _saltern.is_to_be_high(monitor))
        self.monitor, self._sign = monitor, -1 if high else 1
        self.min_delta, self.best, self.wait = abs(min_delta), None, 0

    def _current(self, logs):
        if self.monitor not in logs:
            raise KeyError(f'{type(self).__name__}: there is no {self.monitor!r} to go by; there are {", ".join(logs)}')
        return logs[self.monitor]

    def _improves(self, current, best):
        return best is None or self._sign * current < self._sign * best - self.min_delta


class EarlyStopping(Monitoring):
    """Ends training when a number has not improved for `patience` epochs."""
    _kept = ('best', 'wait', 'best_epoch', 'stopped_epoch')

    def __init__(self, monitor='val_loss', min_delta=0, patience=0, verbose=0, mode='auto', baseline=None,
                 restore_best_weights=False, start_from_epoch=0):
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.best_epoch = self.stopped_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        if self.model.step == 0:  # another training; one that goes on has what it had
            self.best, self.wait, self.best_epoch, self.stopped_epoch, self.best_weights = None, 0, 0, 0, None

    def on_epoch_end(self, epoch, logs=None):
        current = self._current(logs)
        if epoch < self.start_from_epoch:
            return
        self.wait += 1
        if self._improves(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = {n: np.array(t) for n, t in self.model.net.state_dict().items()}
            if self.baseline is None or self._improves(current, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.verbose:
                print(f'epoch {epoch + 1}: {self.monitor} has not improved since epoch {self.best_epoch + 1}',
                      file=sys.stderr)

    def on_train_end(self, logs=None):
        if self.best_weights is not None:
            self.model.net.load_state_dict(self.best_weights)


class ReduceLROnPlateau(Monitoring):
    """Multiplies the learning rate by `factor` when a number has not improved for `patience` epochs."""
    _kept = ('best', 'wait', 'cooldown_counter')

    def __init__(self, monitor='val_loss', factor=0.1, patience=10, verbose=0, mode='auto', min_delta=1e-4, cooldown=0,
                 min_lr=0.0):
        super().__init__(monitor, mode, min_delta)
        if factor >= 1:
            raise ValueError(f'ReduceLROnPlateau: the factor is {factor}; expected one below 1')
        self.factor, self.patience, self.cooldown, self.min_lr, self.verbose = factor, patience, cooldown, min_lr, verbose
        self.cooldown_counter = 0

    def on_train_begin(self, logs=None):
        if self.model.step == 0:
            self.best, self.wait, self.cooldown_counter = None, 0, 0

    def on_epoch_end(self, epoch, logs=None):
        current = self._current(logs)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._improves(current, self.best):
            self.best, self.wait = current, 0
        elif self.cooldown_counter == 0:
            self.wait += 1
            if self.wait >= self.patience and self.model.learning_rate > self.min_lr:
                self.model.learning_rate = max(self.model.learning_rate * self.factor, self.min_lr)
                if self.verbose:
                    print(f'epoch {epoch + 1}: the learning rate is {self.model.learning_rate:g} from here on', file=sys.stderr)
                self.cooldown_counter, self.wait = self.cooldown, 0


class LearningRateScheduler(Callback):
    """The learning rate of an epoch is schedule(epoch, rate)."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        self.model.learning_rate = self.schedule(epoch, self.model.learning_rate)
        if self.verbose:
            print(f'epoch {epoch + 1}: the learning rate is {self.model.learning_rate:g}', file=sys.stderr)
