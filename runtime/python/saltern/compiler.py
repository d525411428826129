"""The compiler: kernels for exact shapes, made while a program runs and kept on disk (SALTERN_CACHE).

    net = saltern.compile(net, x)        # x says which shapes
    y = net(x)

Once this is imported, formulas without a library kernel are compiled just in time as well, where that pays. It needs
Halide's library, which `pip install saltern[compiler]` brings, and a C compiler to link with.
"""
try:
    from . import _compiler
except ImportError as error:
    raise ImportError(f"saltern.compile needs Halide's library: pip install 'saltern[compiler]' ({error})") from error

from ._model import Model, listed, named, traced
from ._saltern import get_num_threads


def compile(net, example, threads=None):
    """A module, a function of tensors or a model of saltern.onnx.load, in evaluation mode, compiled for inputs of the types
    and shapes of `example`: a tensor, or a list of them. What comes back is called as `net` is, and has no gradients."""
    if isinstance(net, Model):
        graph = net._model.lowered(named(net.input_names, listed(example), {}))
    else:
        graph = traced(net, example)
    kernels = _compiler.CompiledGraph(graph, get_num_threads() if threads is None else threads)
    return Model(kernels, graph.inputs, graph.outputs)
