"""Which operations layers apply to their samples, while they train and behind: apps/saltern/coverage/tried_layers.txt, out
of which `saltern coverage` tells what a layer is made of.

    PYTHONPATH=build/release/python:tests/python python3 tests/python/tried_layers.py > apps/saltern/coverage/tried_layers.txt
"""
import numpy as np

import saltern
from checks import flat
from saltern import _saltern
from samples import LAYERS
from test_onnx_layers import LEFT, NAMES
from trying import arguments, made


def operations(sample):
    layer, nest = made(sample), arguments(sample)
    args, kwargs = nest.filled([saltern.tensor(a.astype(np.float32), requires_grad=True) for a in nest.arrays])
    found = set()
    for mode in (layer.train, layer.eval):
        mode()
        guard = _saltern.Recording()
        found.update(_saltern.operations(flat(layer(*args, **kwargs))))
        del guard
    return found


def text():
    lines = ['# Layers, whether they go to ONNX and back, and the operations that they apply: tests/python/tried_layers.py']
    for name in NAMES:
        found = set().union(*(operations(sample) for sample in LAYERS if sample.name == name))
        lines.append(' '.join([name, 'no' if name in LEFT else 'onnx', *sorted(found)]))
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    print(text(), end='')
