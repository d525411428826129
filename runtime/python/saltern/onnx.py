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


def export(net, args, path, input_names=None, output_names=None):
    """Runs a module, or any function of tensors, once, in evaluation mode, and writes what it did as an ONNX file."""
    args = [args] if isinstance(args, Tensor) else list(args)
    inputs = [a.detach() for a in args]
    was_training = getattr(net, 'training', False)
    if was_training:
        net.eval()
    try:
        guard = _saltern.Recording()
        try:
            results = net(*inputs)
        finally:
            del guard
    finally:
        if was_training:
            net.train()
    results = [results] if isinstance(results, Tensor) else list(results)
    input_names = input_names or (['x'] if len(inputs) == 1 else [f'x{i}' for i in range(len(inputs))])
    output_names = output_names or (['y'] if len(results) == 1 else [f'y{i}' for i in range(len(results))])
    state = dict(net.state_dict()) if hasattr(net, 'state_dict') else {}
    _saltern.export_onnx(str(path), list(zip(input_names, inputs)), list(zip(output_names, results)), state)
