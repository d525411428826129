"""Callbacks that keep what training has come to: checkpoints, backups, averages."""
import json
import pathlib
import sys

import numpy as np

from .. import _saltern
from .._tensors import tensor
from .callbacks import Callback, Monitoring


class ModelCheckpoint(Monitoring):
    """Writes the net's state as safetensors, to a path that may name numbers: 'net-{epoch:02d}-{val_loss:.2f}.safetensors'.
    save_freq is 'epoch' or a number of batches."""
    _kept = ('best', '_batches')

    def __init__(self, filepath, monitor='val_loss', verbose=0, save_best_only=False, save_weights_only=False, mode='auto',
                 save_freq='epoch', initial_value_threshold=None):
        super().__init__(monitor, mode)
        self.filepath, self.save_best_only, self.save_weights_only = str(filepath), save_best_only, save_weights_only
        self.save_freq, self.best, self._batches, self.verbose = save_freq, initial_value_threshold, 0, verbose

    def on_train_begin(self, logs=None):
        if '{' not in str(pathlib.Path(self.filepath).parent):  # else its name is known when there is something to keep
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
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        _saltern.save(path, tensors, metadata)
        if self.verbose:
            print(f'epoch {epoch + 1}: saved {path}', file=sys.stderr)


class BackupAndRestore(Callback):
    """Keeps all that training depends on in a folder, and goes on from there when it is begun again: with the same bits as
    without the break, whenever the process ended. What is kept is whole: it is written beside, and renamed."""
    _is_backup = True

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
            self._load_callbacks(tensors, json.loads(metadata['callbacks']))
        except (KeyError, ValueError) as e:
            raise ValueError(f'{self.path}: {e}') from e

    def _keepers(self):
        """Callbacks that have something to know: those that only show may be others when training goes on."""
        return [c for c in self.model.callbacks.callbacks if c._kept or type(c).state is not Callback.state]

    def _load_callbacks(self, tensors, states):
        was, now = [name for name, _ in states], [type(c).__name__ for c in self._keepers()]
        if was != now:
            raise ValueError(f'it was made with the callbacks {", ".join(was)}, not {", ".join(now)}')
        for i, (callback, (_, state)) in enumerate(zip(self._keepers(), states)):
            callback.load_state(state)
            best = {n[len(f'best.{i}.'):]: np.array(t) for n, t in tensors.items() if n.startswith(f'best.{i}.')}
            if best:
                callback.best_weights = best

    def _save(self):
        tensors, metadata = self.model.state()
        for i, c in enumerate(self._keepers()):
            tensors.update({f'best.{i}.{n}': tensor(t) for n, t in (getattr(c, 'best_weights', None) or {}).items()})
        states = [(type(c).__name__, c.state()) for c in self._keepers()]
        metadata['callbacks'] = json.dumps(states, default=float)  # numbers of NumPy's
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
    _kept = ('_swapped',)

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
        if self.model.step == 0:  # training that goes on may have been kept while they were in place
            self._swapped = False

    def on_epoch_begin(self, epoch, logs=None):
        self._swap(False)

    def on_epoch_end(self, epoch, logs=None):
        if self.swap_on_epoch:
            self._swap(True)

    def on_train_end(self, logs=None):
        self._swap(True)
