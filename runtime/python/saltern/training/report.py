"""A report of a training as one HTML file."""
import time

import numpy as np

from .. import _saltern
from .._tensors import no_grad, tensor


def _picture(image):
    """(channels, height, width) as pixels: colours where there are three channels, else grey."""
    image = np.asarray(image, np.float64)
    image = image.transpose(1, 2, 0) if len(image) == 3 else image.mean(0)[:, :, None]
    low, width = image.min(), max(np.ptp(image), 1e-30)
    return tensor(np.round(255 * (image - low) / width).astype(np.uint8))


def _layers(net):
    return [(name, module) for name, module in net.named_modules() if not list(module.children())]


def _activations(net, x, layers, channels):
    """What the first layers whose results are images make of one sample, channel by channel."""
    found, hooks = [], []
    for name, module in _layers(net):
        def keep(_, __, y, name=name):
            y = np.asarray(y)
            if y.ndim == 4 and y.shape[2] * y.shape[3] > 1 and len(found) < layers:
                found.append([(_picture(y[0, c:c + 1]), f'{name}[{c}]') for c in range(min(channels, y.shape[1]))])

        hooks.append((module._hooks, module.register_forward_hook(keep)))
    try:
        with no_grad():
            net(tensor(x))
    finally:
        for kept, hook in hooks:
            kept.remove(hook)
    return ([(_picture(x[0]), 'the sample')] if found and x.ndim == 4 else []) + sum(found, [])


def _costs(net, x):
    """(name, kind, shape, parameters, bytes, milliseconds) of each layer, the best time of three."""
    layers, rows, hooks = _layers(net), [], []
    begun = [0.0]
    for name, module in layers:
        def begin(*_):
            begun[0] = time.perf_counter()

        def end(m, _, y, name=name):
            took = 1e3 * (time.perf_counter() - begun[0])
            count = sum(p.numel() for p in m.parameters())
            rows.append((name, type(m).__name__, str(list(y.shape)), count, np.asarray(y).nbytes, took))

        hooks.append((module._pre_hooks, module.register_forward_pre_hook(begin)))
        hooks.append((module._hooks, module.register_forward_hook(end)))
    try:
        runs = []
        for _ in range(3):
            rows.clear()
            with no_grad():
                net(tensor(x))
            runs.append(list(rows))
    finally:
        for kept, hook in hooks:
            kept.remove(hook)
    return [(*same[0][:5], min(row[5] for row in same)) for same in zip(*runs)]


def write_report(path, trainer, history, x, y, title='Training', classes=(), mistakes=12, filters=64, layers=4,
                 channels=8):
    """Curves of the history, time and memory by layer, filters of the first layer that has some, what the first layers whose
    results are images make of the first sample; where y is integers, the confusion matrix and the mistakes with the largest
    cross entropy."""
    x, y, net = np.asarray(x, np.float32), np.asarray(y), trainer.net
    confusion, worst = [], []
    scores = trainer.predict(x)
    if y.dtype.kind in 'iu' and scores.ndim == 2:
        count, said = scores.shape[1], scores.argmax(1)
        table = np.zeros((count, count), np.int64)
        np.add.at(table, (y, said), 1)
        confusion = table.tolist()
        most = scores.max(1, keepdims=True)
        loss = np.log(np.exp(scores - most).sum(1)) + most[:, 0] - scores[np.arange(len(y)), y]
        name = lambda c: str(classes[c]) if c < len(classes) else str(c)
        wrong = [i for i in np.argsort(-loss, kind='stable') if said[i] != y[i]][:mistakes]
        worst = [(_picture(x[i]) if x.ndim == 4 else None,
                  f'sample {i}: {name(said[i])}, not {name(y[i])} (loss {loss[i]:.4g})') for i in wrong]
    first = next(((n, p) for n, p in net.named_parameters() if p.ndim == 4 and p.shape[2] * p.shape[3] > 1), None)
    shown = [(_picture(w), f'{first[0]}[{i}]') for i, w in enumerate(np.asarray(first[1])[:filters])] if first else []
    facts = [('parameters', str(sum(p.numel() for p in net.parameters()))), ('steps', str(trainer.step)),
             *((f'last {n}', f'{v[-1]:.6g}') for n, v in history.history.items())]
    _saltern.write_report(str(path), title, facts, history.history, [str(c) for c in classes], confusion, shown, worst,
                          _activations(net, x[:1], layers, channels), _costs(net, x[:64]))
