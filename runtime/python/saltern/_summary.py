"""What a net does with inputs, part by part."""
from . import _saltern


def _tensors(result):
    if isinstance(result, _saltern.Tensor):
        return [result]
    return [t for part in result for t in _tensors(part)] if isinstance(result, (tuple, list)) else []


def summary(net, *inputs):
    """A table of the layers of a net as it is called with these tensors, in evaluation mode: results, parameters, FLOPs and
    bytes of results. print() shows it; `rows` are its rows."""
    table = _saltern.Summary()
    modes = [(m, m.training) for m in net.modules()]
    begins, ends = {}, {}
    for name, module in net.named_modules():
        if module not in begins:
            begins[module] = module.register_forward_pre_hook(
                lambda m, args, name=name: table.begin(name, type(m).__name__))
            ends[module] = module.register_forward_hook(
                lambda m, args, result: table.end(_tensors(result), list(m.parameters())))
    recording = _saltern.Recording()
    try:
        net.eval()(*inputs)
    finally:
        del recording
        for module in begins:
            module._pre_hooks.remove(begins[module])
            module._hooks.remove(ends[module])
        for module, mode in modes:  # parts behind what they are parts of
            module.train(mode)
    return table
