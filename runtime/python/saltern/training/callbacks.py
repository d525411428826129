"""What happens while a net is trained, with the names, arguments and meaning of keras.callbacks. The `model` of a callback is
the Trainer: its net, optimizer, learning_rate, and stop_training."""
import csv
import json
import math
import pathlib
import sys
import time

import numpy as np

from .. import _saltern
from .._tensors import tensor

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
        for c in sorted(self.callbacks, key=lambda c: isinstance(c, BackupAndRestore), reverse=name == 'on_train_begin'):
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


class _Monitoring(Callback):
    """One that goes by a number of the logs, which is to become low or high."""

    def __init__(self, monitor, mode, min_delta=0.0):
        super().__init__()
        if mode not in ('auto', 'min', 'max'):
            raise ValueError(f'mode is {mode!r}; expected auto, min or max')
        high = any(part in monitor for part in ('acc', 'auc', 'precision', 'recall', 'f1', 'score', 'r2'))
        self.monitor, self._sign = monitor, -1 if mode == 'max' or (mode == 'auto' and high) else 1
        self.min_delta, self.best, self.wait = abs(min_delta), None, 0

    def _current(self, logs):
        if self.monitor not in logs:
            raise KeyError(f'{type(self).__name__}: there is no {self.monitor!r} to go by; there are {", ".join(logs)}')
        return logs[self.monitor]

    def _improves(self, current, best):
        return best is None or self._sign * current < self._sign * best - self.min_delta


class EarlyStopping(_Monitoring):
    """Ends training when a number has not improved for `patience` epochs."""
    _kept = ('best', 'wait', 'best_epoch', 'stopped_epoch')

    def __init__(self, monitor='val_loss', min_delta=0, patience=0, verbose=0, mode='auto', baseline=None,
                 restore_best_weights=False, start_from_epoch=0):
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.best_epoch = self.stopped_epoch = 0
        self.best_weights = None

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


class ReduceLROnPlateau(_Monitoring):
    """Multiplies the learning rate by `factor` when a number has not improved for `patience` epochs."""
    _kept = ('best', 'wait', 'cooldown_counter')

    def __init__(self, monitor='val_loss', factor=0.1, patience=10, verbose=0, mode='auto', min_delta=1e-4, cooldown=0,
                 min_lr=0.0):
        super().__init__(monitor, mode, min_delta)
        if factor >= 1:
            raise ValueError(f'ReduceLROnPlateau: the factor is {factor}; expected one below 1')
        self.factor, self.patience, self.cooldown, self.min_lr = factor, patience, cooldown, min_lr
        self.cooldown_counter = 0

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
                self.cooldown_counter, self.wait = self.cooldown, 0


class LearningRateScheduler(Callback):
    """The learning rate of an epoch is schedule(epoch, rate)."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule = schedule

    def on_epoch_begin(self, epoch, logs=None):
        self.model.learning_rate = self.schedule(epoch, self.model.learning_rate)


class ModelCheckpoint(_Monitoring):
    """Writes the net's state as safetensors, to a path that may name numbers: 'net-{epoch:02d}-{val_loss:.2f}.safetensors'.
    save_freq is 'epoch' or a number of batches."""
    _kept = ('best',)

    def __init__(self, filepath, monitor='val_loss', verbose=0, save_best_only=False, save_weights_only=False, mode='auto',
                 save_freq='epoch', initial_value_threshold=None):
        super().__init__(monitor, mode)
        self.filepath, self.save_best_only, self.save_weights_only = str(filepath), save_best_only, save_weights_only
        self.save_freq, self.best, self._batches = save_freq, initial_value_threshold, 0

    def on_train_begin(self, logs=None):
        pathlib.Path(self.filepath).parent.mkdir(parents=True, exist_ok=True)

    def on_train_batch_end(self, batch, logs=None):
        self._batches += 1
        if self.save_freq != 'epoch' and self._batches % self.save_freq == 0:
            self._save(self.model.epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == 'epoch':
            self._save(epoch, logs)

    def _save(self, epoch, logs):
        if self.save_best_only:
            current = self._current(logs)
            if not self._improves(current, self.best):
                return
            self.best = current
        path = self.filepath.format(epoch=epoch + 1, **logs)
        tensors, metadata = self.model.state()
        if self.save_weights_only:
            tensors, metadata = dict(self.model.net.state_dict()), {}
        _saltern.save(path, tensors, metadata)


class BackupAndRestore(Callback):
    """Keeps all that training depends on in a folder, and goes on from there when it is begun again: with the same bits as
    without the break, whenever the process ended. What is kept is whole: it is written beside, and renamed."""

    def __init__(self, backup_dir, save_freq='epoch', double_checkpoint=False, delete_checkpoint=True):
        super().__init__()
        self.path = pathlib.Path(backup_dir) / 'backup.safetensors'
        self.save_freq, self.delete_checkpoint = save_freq, delete_checkpoint

    def on_train_begin(self, logs=None):
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise OSError(f'cannot write backups to the folder {self.path.parent}: {e.strerror}') from e
        if not self.path.exists():
            return
        tensors, metadata = _saltern.load(str(self.path))
        try:
            self.model.load_state(tensors, metadata)
        except (KeyError, ValueError) as e:
            raise ValueError(f'{self.path}: {e}') from e
        for callback, state in zip(self.model.callbacks.callbacks, json.loads(metadata['callbacks'])):
            callback.load_state(state)

    def _save(self):
        tensors, metadata = self.model.state()
        metadata['callbacks'] = json.dumps([c.state() for c in self.model.callbacks.callbacks])
        _saltern.save(str(self.path), tensors, metadata)

    def on_train_batch_end(self, batch, logs=None):
        # The last batch of an epoch belongs to the epoch.
        last = self.model.step % self.params['steps'] == 0
        if self.save_freq != 'epoch' and self.model.step % self.save_freq == 0 and not last:
            self._save()

    def on_epoch_end(self, epoch, logs=None):
        self._save()

    def on_train_end(self, logs=None):
        if self.delete_checkpoint:
            self.path.unlink(missing_ok=True)


class SwapEMAWeights(Callback):
    """Puts the averages of the parameters (Trainer(average=0.99)) in their place when training ends, for good, or for every
    end of an epoch. Validation has them in any case."""

    def __init__(self, swap_on_epoch=False):
        super().__init__()
        self.swap_on_epoch, self._swapped = swap_on_epoch, False

    def _swap(self, wanted):
        if self._swapped != wanted:
            self.model.swap_averages()
            self._swapped = wanted

    def on_train_begin(self, logs=None):
        if not self.model.averages:
            raise ValueError('SwapEMAWeights: the trainer keeps no averages; give it a decay, Trainer(average=0.99)')
        self._swapped = False

    def on_epoch_begin(self, epoch, logs=None):
        self._swap(False)

    def on_epoch_end(self, epoch, logs=None):
        if self.swap_on_epoch:
            self._swap(True)

    def on_train_end(self, logs=None):
        self._swap(True)


class CSVLogger(Callback):
    """A row an epoch."""

    def __init__(self, filename, separator=',', append=False):
        super().__init__()
        self.filename, self.separator, self.append = filename, separator, append

    def on_train_begin(self, logs=None):
        there = self.append and pathlib.Path(self.filename).exists() and pathlib.Path(self.filename).stat().st_size > 0
        self._names, self._with_names = None, not there
        self._file = open(self.filename, 'a' if self.append else 'w', newline='')

    def on_epoch_end(self, epoch, logs=None):
        writer = csv.writer(self._file, delimiter=self.separator)
        if self._names is None:
            self._names = list(logs)
            if self._with_names:
                writer.writerow(['epoch', *self._names])
        writer.writerow([epoch, *(logs.get(name, 'NA') for name in self._names)])
        self._file.flush()

    def on_train_end(self, logs=None):
        self._file.close()


class TensorBoard(Callback):
    """Event files for TensorBoard: numbers of epochs, of batches where update_freq is 'batch' or a number of them; every
    histogram_freq epochs how parameters and gradients are spread. A log_dir with the ending .csv or .jsonl is a file of that
    kind instead."""

    def __init__(self, log_dir='logs', histogram_freq=0, write_graph=False, update_freq='epoch', example=None):
        super().__init__()
        self.log_dir, self.histogram_freq, self.example = str(log_dir), histogram_freq, example
        self.write_graph = write_graph
        self._every = {'epoch': 0, 'batch': 1}.get(update_freq, update_freq)
        self._gradients = {}

    def on_train_begin(self, logs=None):
        self._log = _saltern.open_log(self.log_dir, self.model.step)
        if self.write_graph and self.example is not None:
            from .._model import traced
            self._log.graph(traced(self.model.net, tensor(self.example)))

    def on_gradients(self):
        if self.histogram_freq:
            self._gradients = {n: p.grad for n, p in self.model.net.named_parameters() if p.grad is not None}

    def on_train_batch_end(self, batch, logs=None):
        if self._every and self.model.step % self._every == 0:
            for name, value in logs.items():
                self._log.scalar(f'batch_{name}', self.model.step, value)
            self._log.scalar('batch_gradient_norm', self.model.step, self.model.gradient_norm)
            self._log.flush()  # a backup may follow, behind which nothing is logged again

    def on_epoch_end(self, epoch, logs=None):
        for name, value in logs.items():
            self._log.scalar(f'epoch_{name}', self.model.step, value)
        if self.histogram_freq and (epoch + 1) % self.histogram_freq == 0:
            for name, p in self.model.net.named_parameters():
                self._log.histogram(f'parameters/{name}', self.model.step, p)
            for name, g in self._gradients.items():
                self._log.histogram(f'gradients/{name}', self.model.step, g)
        self._log.flush()

    def on_train_end(self, logs=None):
        self._log.flush()
        del self._log


class RemoteMonitor(Callback):
    """Sends the numbers of each epoch to a server: POST to root + path, as JSON or as a form's field."""

    def __init__(self, root='http://localhost:9000', path='/publish/epoch/end/', field='data', headers=None,
                 send_as_json=False):
        super().__init__()
        self.address, self.field, self.headers, self.send_as_json = root + path, field, headers or {}, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        import urllib.parse
        import urllib.request
        text = json.dumps({'epoch': epoch, **(logs or {})})
        data = text if self.send_as_json else urllib.parse.urlencode({self.field: text})
        kind = 'application/json' if self.send_as_json else 'application/x-www-form-urlencoded'
        request = urllib.request.Request(self.address, data.encode(), {'Content-Type': kind, **self.headers})
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except OSError as e:
            print(f'RemoteMonitor: {self.address} cannot be reached: {e}', file=sys.stderr)


class ProgbarLogger(Callback):
    """A bar with the time left on a terminal, and a line an epoch."""

    def __init__(self, out=None):
        super().__init__()
        self.out = out or sys.stderr

    @classmethod
    def wanted(cls, verbose):
        """Those that fit() adds."""
        return [cls()] if verbose == 2 or verbose in ('auto', 1) and sys.stderr.isatty() else []

    def on_train_begin(self, logs=None):
        self._begin, self._done, self._drawn = time.monotonic(), 0, 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self._begin, self._done = time.monotonic(), 0

    def on_train_batch_end(self, batch, logs=None):
        self._done += 1
        now, steps = time.monotonic(), self.params['steps']
        if not self.out.isatty() or now - self._drawn < 0.1 and self._done < steps:
            return
        self._drawn = now
        full = 30 * self._done // steps
        left = math.ceil((now - self._begin) / self._done * (steps - self._done))
        self.out.write(f'\r\x1b[Kepoch {self.model.epoch + 1}/{self.params["epochs"]} {"#" * full}{"-" * (30 - full)} '
                       f'{self._done}/{steps}  {left // 60}:{left % 60:02d} left  loss {logs["loss"]:.4g}')
        self.out.flush()

    def on_epoch_end(self, epoch, logs=None):
        text = '  '.join(f'{name} {value:.4g}' for name, value in logs.items())
        erase = '\r\x1b[K' if self.out.isatty() else ''
        self.out.write(f'{erase}epoch {epoch + 1}/{self.params["epochs"]}  {text}\n')
        self.out.flush()
