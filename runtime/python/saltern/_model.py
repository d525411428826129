"""What one run did, as a graph, and graphs as functions of tensors."""
import contextlib

from . import _saltern
from ._saltern import Tensor
from ._tensors import tensor


class Model:
    """A graph that runs: model(x) or model(name=array, ...) gives its outputs, a tensor or a tuple of them."""

    def __init__(self, model, inputs, outputs):
        self._model = model
        self.input_names, self.output_names = list(inputs), list(outputs)

    def __call__(self, *args, **kwargs):
        found = self._model.run(named(self.input_names, args, kwargs))
        results = tuple(found[name] for name in self.output_names)
        return results[0] if len(results) == 1 else results


def named(names, args, kwargs):
    """Inputs by name, as tensors."""
    if len(args) > len(names):
        raise TypeError(f'the model takes {len(names)} inputs, {names}; {len(args)} were given')
    given = {**dict(zip(names, args)), **kwargs}
    return {name: x if isinstance(x, Tensor) else tensor(x) for name, x in given.items()}


def listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _names(given, letter, count):
    return given or ([letter] if count == 1 else [f'{letter}{i}' for i in range(count)])


def mapped(function, value):
    """The same nest of tuples, lists and dictionaries, with other tensors."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if not isinstance(value, (tuple, list)):
        return value
    make = getattr(type(value), '_make', type(value))  # that of named ones
    return make(mapped(function, each) for each in value)


def tensors_in(value):
    found = []
    mapped(found.append, value)
    return found


@contextlib.contextmanager
def evaluating(net):
    """A net in evaluation mode; then each of its parts is in the mode again that it was in."""
    modes = [(module, module.training) for module in net.modules()] if hasattr(net, 'modules') else []
    if modes:
        net.eval()
    try:
        yield
    finally:
        for module, mode in modes:  # parts behind what they are parts of
            module.train(mode)


def traced(net, args, input_names=None, output_names=None, kwargs=None):
    """Runs a module, or any function of tensors, once, in evaluation mode: the graph of what it did."""
    args, kwargs = mapped(Tensor.detach, (listed(args), kwargs or {}))
    with evaluating(net):
        guard = _saltern.Recording()
        try:
            results = tensors_in(net(*args, **kwargs))
        finally:
            del guard
    inputs = tensors_in([args, kwargs])
    state = dict(net.state_dict()) if hasattr(net, 'state_dict') else {}
    return _saltern.traced(list(zip(_names(input_names, 'x', len(inputs)), inputs)),
                           list(zip(_names(output_names, 'y', len(results)), results)), state)
