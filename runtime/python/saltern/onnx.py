"""ONNX files: run what any framework wrote, and write what was computed here."""
from . import _saltern
from ._saltern import Tensor
from ._tensors import tensor


def load(path):
    """A model that runs: model(x) or model(name=array, ...) gives its outputs, a tensor or a tuple of them."""
    return Model(_saltern.load_onnx(str(path)))


class Model:
    def __init__(self, model):
        self._model = model
        self.input_names, self.output_names = list(model.inputs), list(model.outputs)

    def __call__(self, *args, **kwargs):
        if len(args) > len(self.input_names):
            raise TypeError(f'the model takes {len(self.input_names)} inputs, {self.input_names}; {len(args)} were given')
        given = {**dict(zip(self.input_names, args)), **kwargs}
        found = self._model.run({name: x if isinstance(x, Tensor) else tensor(x) for name, x in given.items()})
        results = tuple(found[name] for name in self.output_names)
        return results[0] if len(results) == 1 else results


def _mapped(function, value):
    """The same nest of tuples, lists and dictionaries, with other tensors."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: _mapped(function, each) for key, each in value.items()}
    return type(value)(_mapped(function, each) for each in value) if isinstance(value, (tuple, list)) else value


def _tensors_in(value):
    found = []
    _mapped(found.append, value)
    return found


def _names(given, letter, count):
    return given or ([letter] if count == 1 else [f'{letter}{i}' for i in range(count)])


def export(net, args, path, input_names=None, output_names=None, kwargs=None):
    """Runs a module, or any function of tensors, once, in evaluation mode, and writes what it did as an ONNX file. Its
    inputs are the tensors among the arguments, its outputs those among the results, however they are nested."""
    args, kwargs = _mapped(Tensor.detach, ([args] if isinstance(args, Tensor) else list(args), kwargs or {}))
    was_training = getattr(net, 'training', False)
    if was_training:
        net.eval()
    try:
        guard = _saltern.Recording()
        try:
            results = _tensors_in(net(*args, **kwargs))
        finally:
            del guard
    finally:
        if was_training:
            net.train()
    inputs = _tensors_in([args, kwargs])
    state = dict(net.state_dict()) if hasattr(net, 'state_dict') else {}
    _saltern.export_onnx(str(path), list(zip(_names(input_names, 'x', len(inputs)), inputs)),
                         list(zip(_names(output_names, 'y', len(results)), results)), state)
