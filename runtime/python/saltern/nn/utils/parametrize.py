"""Parameters that modules make of others, each time that they are called."""
from ..containers import ModuleDict, ModuleList
from ..module import Parameter


class ParametrizationList(ModuleList):
    """What one parameter is made of: `original`, or `original0`, `original1` ..., through one module after another."""

    def __init__(self, modules, originals):
        super().__init__(modules)
        names = ['original'] if len(originals) == 1 else [f'original{i}' for i in range(len(originals))]
        for name, value in zip(names, originals):
            self.register_parameter(name, Parameter(value))

    def forward(self):
        values = list(self._parameters.values())
        for module in self.children():
            values = [module(*values)]
        return values[0]


def register_parametrization(module, tensor_name, parametrization):
    """From now on the parameter is what the parametrization, a module, makes of its original; or of those that its
    right_inverse() gives, where it has one."""
    lists = module._modules.setdefault('parametrizations', ModuleDict())
    if tensor_name in lists:
        lists[tensor_name].append(parametrization)
        return module
    value = dict(module.named_parameters()).get(tensor_name)
    if value is None:
        raise ValueError(f'{type(module).__name__} has no parameter {tensor_name!r}')
    inverse = getattr(parametrization, 'right_inverse', None)
    originals = inverse(value) if inverse else value
    lists[tensor_name] = ParametrizationList([parametrization], originals if isinstance(originals, tuple) else (originals,))
    module._make_parameters()
    return module


def is_parametrized(module, tensor_name=None):
    lists = module._modules.get('parametrizations', {})
    return bool(lists) if tensor_name is None else tensor_name in lists


def remove_parametrizations(module, tensor_name):
    """The parameter is an ordinary one again, with the value that it has."""
    value = module._modules['parametrizations'][tensor_name]()
    del module._modules['parametrizations'][tensor_name]
    if not module._modules['parametrizations']:
        del module._modules['parametrizations']
    module._set_own({tensor_name: Parameter(value)})
    return module
