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
            except (TypeError, ValueError, IndexError) as e:
                if type(e) not in (TypeError, ValueError, IndexError):
                    raise  # one that is made of more than a text
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


class _Named(Module):
    """Parts by name, as a dictionary has them: _parts is where they are."""

    def __init__(self, parts=None):
        super().__init__()
        self.update(parts or {})

    @property
    def _parts(self):
        raise NotImplementedError

    def update(self, parts):
        for name, part in dict(parts).items():
            self[name] = part

    def __setitem__(self, name, part):
        self._parts[name] = part

    def __getitem__(self, name):
        return self._parts[name]

    def __delitem__(self, name):
        del self._parts[name]

    def __contains__(self, name):
        return name in self._parts

    def __len__(self):
        return len(self._parts)

    def __iter__(self):
        return iter(self._parts)

    def keys(self):
        return self._parts.keys()

    def values(self):
        return self._parts.values()

    def items(self):
        return self._parts.items()


class ModuleDict(_Named):
    """Modules by name."""
    _parts = property(lambda self: self._modules)


class ParameterDict(_Named):
    """Parameters by name."""
    _parts = property(lambda self: self._parameters)


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
