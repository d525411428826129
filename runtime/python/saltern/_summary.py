"""What a net does with inputs, part by part."""
from . import _saltern
from ._model import evaluating, tensors_in


def summary(net, *inputs):
    """A table of the layers of a net as it is called with these tensors, in evaluation mode: results, parameters, FLOPs and
    bytes of results. print() shows it; `rows` are its rows."""
    table = _saltern.Summary()
    begins, ends = {}, {}
    for name, module in net.named_modules():
        if module not in begins:
            begins[module] = module.register_forward_pre_hook(
                lambda m, args, name=name: table.begin(name, type(m).__name__))
            ends[module] = module.register_forward_hook(
                lambda m, args, result: table.end(tensors_in(result), list(m.parameters())))
    recording = _saltern.Recording()
    try:
        with evaluating(net):
            net(*inputs)
    finally:
        del recording
        for module in begins:
            module._pre_hooks.remove(begins[module])
            module._hooks.remove(ends[module])
    return table
