"""Callbacks that show what happens: logs, a monitor elsewhere, a bar."""
import csv
import json
import math
import pathlib
import sys
import time

from .. import _saltern
from .._tensors import tensor
from .callbacks import Callback


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
