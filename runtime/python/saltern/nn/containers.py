"""Modules that hold others."""
from .module import Module


class Sequential(Module):
    """Modules one after another; given as arguments, or as one dictionary of names and modules."""

    def __init__(self, *modules):
        super().__init__()
        named = modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, x):
        for name, module in self.named_children():
            try:
                x = module(x)
            except (TypeError, ValueError) as e:
                raise type(e)(f'layer {name} ({type(module).__name__}): {e}') from e
        return x

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return self.children()

    def __getitem__(self, index):
        parts = list(self._modules.values())[index]
        return type(self)(*parts) if isinstance(index, slice) else parts


class ModuleList(Sequential):
    """A list of modules; not one that is called."""

    def __init__(self, modules=()):
        super().__init__(*modules)

    def forward(self, *args):
        raise NotImplementedError('a ModuleList is not called; call its modules')

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __getitem__(self, index):
        parts = list(self._modules.values())[index]
        return type(self)(parts) if isinstance(index, slice) else parts


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def update(self, modules):
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        del self._modules[name]

    def __contains__(self, name):
        return name in self._modules

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values=()):
        super().__init__()
        for value in values:
            self.append(value)

    def append(self, value):
        self.register_parameter(str(len(self)), value)
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        return list(self._parameters.values())[index]


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters=None):
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self.register_parameter(name, value)

    def __getitem__(self, name):
        return self._parameters[name]

    def __setitem__(self, name, value):
        self.register_parameter(name, value)

    def __contains__(self, name):
        return name in self._parameters

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def keys(self):
        return self._parameters.keys()

    def items(self):
        return self._parameters.items()
