"""What is found by trying: apps/saltern/coverage/tried.txt, which `saltern coverage` answers from.

    layer NAME onnx|no OPERATION ...   what a layer applies to its samples, while it trains and behind, and whether it goes to
                                       ONNX and back
    function NAME OPERATION ...        the same of a function, as it is called in test_functions.py and its like
    operation NAME CLASS ...           the classes (dsl/structure.h) of the stages of an operation's formula, as far as tried
    python MODULE NAME ...             what a module of the package has, but for modules
    gradient OPERATOR ...              operators of ONNX whose gradients are those of differences (tests/conformance/gradients.py)

    PYTHONPATH=build/release/python:tests/python python3 tests/python/tried.py > apps/saltern/coverage/tried.txt
"""
import collections
import importlib
import inspect
import pathlib

import numpy as np
import onnx
import onnx.backend.test

import saltern
import test_functions
import test_keras_functions
from checks import flat
from saltern import _saltern
from samples import LAYERS
from test_onnx_layers import LEFT, NAMES
from trying import Nest, arguments, made

MODULES = '''saltern saltern.nn saltern.nn.functional saltern.nn.init saltern.ops saltern.linalg saltern.fft saltern.keras
saltern.keras.metrics saltern.metrics saltern.signal saltern.signal.windows saltern.training saltern.optim
saltern.optim.lr_scheduler saltern.optim.swa_utils saltern.keras.optimizers saltern.keras.optimizers.schedules
saltern.transforms'''.split()
classes = collections.defaultdict(set)


def operations(call, nest):
    """The names of what a call applies to tensors in the place of arrays."""
    args, kwargs = nest.filled([saltern.tensor(a.astype(np.float32), requires_grad=True) for a in nest.arrays])
    guard = _saltern.Recording()
    found = _saltern.operations(flat(call(*args, **kwargs)))
    del guard
    for name, of in found:
        classes[name].update(of)
    return {name for name, _ in found}


def of_layer(sample):
    layer, found = made(sample), set()
    for mode in (layer.train, layer.eval):
        mode()
        found |= operations(layer, arguments(sample))
    return found


def of_function(find, name, args):
    return operations(find(name), Nest([args, {}]))


def layers():
    for name in NAMES:
        found = set().union(*(of_layer(sample) for sample in LAYERS if sample.name == name))
        yield ['layer', name, 'no' if name in LEFT else 'onnx', *sorted(found)]


def functions():
    all = collections.defaultdict(set)
    for find, table in ((lambda name: getattr(saltern, name), test_functions.FUNCTIONS),
                        (test_keras_functions.found, test_keras_functions.FUNCTIONS)):
        for name, args, _ in table:
            all[name] |= of_function(find, name, args)
    return [['function', name, *sorted(found)] for name, found in sorted(all.items())]


def names_of(module):
    found = importlib.import_module(module)
    return sorted(name for name, value in vars(found).items() if not name.startswith('_') and not inspect.ismodule(value))


def differentiated():
    """The operators of ONNX's node tests whose gradients pass, but for those that are spelt out."""
    data = pathlib.Path(onnx.backend.test.__file__).parent / 'data'
    passing = pathlib.Path(__file__).parents[1] / 'conformance/gradients_passing.txt'
    models = [data / test / 'model.onnx' for test in passing.read_text().split() if '_expanded' not in test]
    nodes = [n for m in models for n in onnx.load(m, load_external_data=False).graph.node]
    return sorted({f'{n.domain}.{n.op_type}' if n.domain else n.op_type for n in nodes})


def text():
    lines = [*layers(), *functions()]
    lines += [['operation', name, *sorted(of)] for name, of in sorted(classes.items())]
    lines += [['python', module, *names_of(module)] for module in MODULES]
    lines += [['gradient', *differentiated()]]
    return '\n'.join(' '.join(line) for line in lines) + '\n'


if __name__ == '__main__':
    print(text(), end='')
