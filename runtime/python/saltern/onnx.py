"""ONNX files: run or train what any framework wrote, and write what was computed here."""
from . import _saltern
from ._model import Model, listed, named, traced
from .nn import Module


class Net(Module):
    """A model of a file as a module: net(x) or net(name=x, ...), with the names that parameters have in the file. In training
    mode batch norms take the statistics of the batch, and dropouts draw."""

    def __init__(self, net, inputs, outputs):
        super().__init__()
        self.__dict__.update(_net=net, input_names=list(inputs), output_names=list(outputs))
        self.train()

    def forward(self, *args, **kwargs):
        given = named(self.input_names, args, kwargs)
        missing = [name for name in self.input_names if name not in given]
        if missing or len(given) > len(self.input_names):
            raise TypeError(f'the net takes {self.input_names}; {list(given)} were given')
        found = self._net.run(self.output_names, [given[name] for name in self.input_names])
        return found[0] if len(found) == 1 else tuple(found)

    def train(self, mode=True):
        self._net.train(mode)
        return super().train(mode)

    def _own_parameters(self):
        return self._net.parameters() + super()._own_parameters()

    def _own_state(self):
        return self._net.state() + super()._own_state()

    def _set_own(self, tensors):
        self._net.set_parameters(tensors)
        super()._set_own(tensors)

    def _convert(self, name):
        raise TypeError('a net of a file has the element types of the file')


def load(path):
    """A model that runs: model(x) or model(name=array, ...) gives its outputs, a tensor or a tuple of them."""
    model = _saltern.load_onnx(str(path))
    return Model(model, model.inputs, model.outputs)


def load_net(path, example):
    """A model as a module that trains, for inputs of the shapes of `example`: a tensor, or a list of them."""
    model = _saltern.load_onnx(str(path))
    net, outputs = model.net(named(list(model.inputs), listed(example), {}))
    return Net(net, model.inputs, outputs)


def export(net, args, path, input_names=None, output_names=None, kwargs=None):
    """Runs a module, or any function of tensors, once, in evaluation mode, and writes what it did as an ONNX file. Its
    inputs are the tensors among the arguments, its outputs those among the results, however they are nested."""
    _saltern.export_onnx(str(path), traced(net, args, input_names, output_names, kwargs))
