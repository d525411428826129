"""ONNX files: run what any framework wrote, and write what was computed here."""
from . import _saltern
from ._model import Model, traced


def load(path):
    """A model that runs: model(x) or model(name=array, ...) gives its outputs, a tensor or a tuple of them."""
    model = _saltern.load_onnx(str(path))
    return Model(model, model.inputs, model.outputs)


def export(net, args, path, input_names=None, output_names=None, kwargs=None):
    """Runs a module, or any function of tensors, once, in evaluation mode, and writes what it did as an ONNX file. Its
    inputs are the tensors among the arguments, its outputs those among the results, however they are nested."""
    _saltern.export_onnx(str(path), traced(net, args, input_names, output_names, kwargs))
