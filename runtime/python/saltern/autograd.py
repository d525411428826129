"""Gradients of tensors with respect to tensors."""
from . import _saltern
from ._complex import ComplexTensor
from ._saltern import Tensor


def _listed(tensors):
    """Complex ones by their pairs."""
    listed = [tensors] if isinstance(tensors, (Tensor, ComplexTensor)) else list(tensors)
    return [t._pairs if isinstance(t, ComplexTensor) else t for t in listed]


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of outputs, weighted by grad_outputs, with respect to inputs: a tuple, with None for an input that
    outputs do not depend on. With create_graph they can be differentiated again."""
    wanted = [inputs] if isinstance(inputs, (Tensor, ComplexTensor)) else list(inputs)
    outputs, inputs = _listed(outputs), _listed(wanted)
    weights = [] if grad_outputs is None else _listed(grad_outputs)
    if weights and len(weights) != len(outputs):
        raise ValueError(f'grad: {len(weights)} grad_outputs for {len(outputs)} outputs')
    found = _saltern.gradients(outputs, inputs, weights, create_graph,
                               create_graph if retain_graph is None else retain_graph)
    if not allow_unused and any(g is None for g in found):
        raise ValueError(f'grad: outputs do not depend on input {found.index(None)}; say allow_unused=True for None')
    return tuple(ComplexTensor(g) if isinstance(x, ComplexTensor) and g is not None else g for g, x in zip(found, wanted))


def backward(tensors, grad_tensors=None, retain_graph=False):
    """Adds the gradients to .grad of every leaf that requires them."""
    tensors = _listed(tensors)
    for i, t in enumerate(tensors):
        t.backward(None if grad_tensors is None else _listed(grad_tensors)[i],
                   retain_graph or i + 1 < len(tensors))
