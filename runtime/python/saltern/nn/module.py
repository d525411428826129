"""Module, of which one makes nets, and Layer, a module that is a row of the table that C++ has."""
import collections
import copy

import numpy as np

from .._rows import signature_of
from .._saltern import Tensor
from .._tensors import no_grad, tensor
from .pickling import kept


def Parameter(data, requires_grad=True):
    """A tensor that is a parameter of the module that it is an attribute of."""
    p = tensor(data, requires_grad=requires_grad)
    p._is_parameter = True
    return p


class Module:
    """Parameters, buffers and parts by name. A net is a subclass with forward(); what is assigned to its attributes, and is
    a Parameter or a Module, is a part of it."""

    def __init__(self):
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={}, _pre_hooks=[], _hooks=[], _fleeting=set())

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'{type(self).__name__} has no forward()')

    def __call__(self, *args, **kwargs):
        self._make_parameters()
        for hook in self._pre_hooks:
            changed = hook(self, args)
            args = args if changed is None else changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in self._hooks:
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def _make_parameters(self):
        """Those that are made of others (utils/parametrize.py)."""
        for name, parametrization in self._modules.get('parametrizations', {}).items():
            self._set_own({name: parametrization()})

    def _ordinary(self, parameters):
        made = self._modules.get('parametrizations', ())
        return [(n, p) for n, p in parameters if n not in made] if made else parameters

    def register_forward_pre_hook(self, hook):
        """hook(module, inputs) is called before forward()."""
        self._pre_hooks.append(hook)
        return hook

    def register_forward_hook(self, hook):
        """hook(module, inputs, output) is called behind forward(); what it gives, unless None, is the output."""
        self._hooks.append(hook)
        return hook

    # ---- Parts.
    def __setattr__(self, name, value):
        if '_parameters' not in self.__dict__:
            raise AttributeError(f'{type(self).__name__}: call super().__init__() before anything is assigned')
        plain = value is None or isinstance(value, Tensor) and not getattr(value, '_is_parameter', False)
        if plain and name in self._buffers:
            self._buffers[name] = value
            return
        if plain and value is not None and name in self._parameters:
            raise TypeError(f'{type(self).__name__}: {name!r} is a parameter; expected a Parameter, or None, in its place')
        for kind in (self._parameters, self._buffers, self._modules):
            kind.pop(name, None)
        self.__dict__.pop(name, None)
        if isinstance(value, Module):
            self._modules[name] = value
        elif isinstance(value, Tensor) and getattr(value, '_is_parameter', False):
            self._parameters[name] = value
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        for kind in ('_parameters', '_buffers', '_modules'):
            found = self.__dict__.get(kind, {})
            if name in found:
                return found[name]
        raise AttributeError(f'{type(self).__name__} has no attribute {name!r}')

    def register_parameter(self, name, value):
        self._parameters[name] = value

    def register_buffer(self, name, value, persistent=True):
        self._buffers[name] = value
        (self._fleeting.discard if persistent else self._fleeting.add)(name)

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    def children(self):
        return iter(self._modules.values())

    def named_children(self):
        return iter(self._modules.items())

    def named_modules(self, prefix=''):
        yield prefix, self
        for name, part in self._modules.items():
            yield from part.named_modules(f'{prefix}.{name}' if prefix else name)

    def modules(self):
        return (m for _, m in self.named_modules())

    def apply(self, function):
        for part in self.children():
            part.apply(function)
        function(self)
        return self

    # ---- Parameters and state.
    def _own_parameters(self):
        return self._ordinary([(n, p) for n, p in self._parameters.items() if p is not None])

    def _own_state(self):
        return self._own_parameters() + [(n, b) for n, b in self._buffers.items() if b is not None and n not in self._fleeting]

    def _walk(self, own, prefix=''):
        for name, value in getattr(self, own)():
            yield prefix + name, value
        for name, part in self._modules.items():
            yield from part._walk(own, f'{prefix}{name}.')

    def named_parameters(self):
        """Pairs of name and tensor, each tensor once."""
        seen = set()
        for name, p in self._walk('_own_parameters'):
            if p._identity() not in seen:
                seen.add(p._identity())
                yield name, p

    def parameters(self):
        return (p for _, p in self.named_parameters())

    def state_dict(self):
        """Parameters and buffers by name, sharing memory with the module."""
        return collections.OrderedDict(self._walk('_own_state'))

    def load_state_dict(self, state, strict=True):
        """Copies values in; with strict, names must be those of state_dict()."""
        own = self.state_dict()
        missing = [name for name in own if name not in state]
        unexpected = [name for name in state if name not in own]
        if strict and (missing or unexpected):
            raise KeyError(f'{type(self).__name__}: the state lacks {missing} and has {unexpected}, which the module has not')
        with no_grad():
            for name, to in own.items():
                if name not in state:
                    continue
                value = np.asarray(state[name])
                if tuple(value.shape) != tuple(to.shape):
                    raise ValueError(f'{type(self).__name__}: {name} is {tuple(value.shape)}; expected {tuple(to.shape)}')
                to.copy_(tensor(value, dtype=to.numpy().dtype))
        return missing, unexpected

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            p.grad = None

    def requires_grad_(self, requires_grad=True):
        """Whether its parameters get gradients: without, they stay as they are in training."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def train(self, mode=True):
        self.__dict__['training'] = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def to(self, dtype):
        """Parameters and real buffers in another element type: 'float32', 'float64' ... An optimizer goes on with them."""
        for part in self.modules():
            part._convert(str(np.dtype(dtype)))
        return self

    def double(self):
        return self.to('float64')

    def float(self):
        return self.to('float32')

    def _tied(self):
        """Names of parameters that are others, too: {name: the first name}."""
        first = {}
        return {name: known for name, p in self._walk('_own_parameters')
                if (known := first.setdefault(p._identity(), name)) != name}

    def _tie(self, tied):
        own = dict(self._walk('_own_parameters'))
        self._set_parameters({name: own[first] for name, first in tied.items()})

    def __deepcopy__(self, memo):
        made = memo[id(self)] = object.__new__(type(self))
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        made._tie(self._tied())
        return made

    def __getstate__(self):
        return {**self.__dict__, '_parameters': {n: kept(p) for n, p in self._parameters.items()}, '_ties': self._tied()}

    def __setstate__(self, state):
        self.__dict__.update({name: value for name, value in state.items() if name != '_ties'})
        self._tie(state['_ties'])

    def _convert(self, name):
        """Parameters stay the same leaves, which optimizers have."""
        for p in self._parameters.values():
            if p is not None and p.is_leaf:  # others are made again of those
                p._convert(name)
        for key, b in self._buffers.items():
            if b is not None and np.asarray(b).dtype.kind == 'f':
                self._buffers[key] = tensor(np.asarray(b).astype(name))

    def _set_parameters(self, tensors):
        """Others in the place of parameters, by their names."""
        for path, part in self.named_modules():
            prefix = f'{path}.' if path else ''
            part._set_own({name[len(prefix):]: t for name, t in tensors.items() if name.startswith(prefix)})

    def _set_own(self, tensors):
        for name in self._parameters:
            self._parameters[name] = tensors.get(name, self._parameters[name])

    # ---- Looking at it.
    def extra_repr(self):
        return ''

    def __repr__(self):
        lines = [f'({name}): ' + repr(part).replace('\n', '\n  ') for name, part in self._modules.items()]
        inside = self.extra_repr()
        if lines:
            inside = '\n  ' + '\n  '.join(([inside] if inside else []) + lines) + '\n'
        return f'{type(self).__name__}({inside})'


class Layer(Module):
    """A layer of the table: made, called and kept by C++."""
    _row = None

    def __init__(self, *args, **kwargs):
        super().__init__()
        for ignored in ('device', 'dtype'):
            kwargs.pop(ignored, None)
        from .foreign import from_torch, is_foreign  # which is made of modules
        ours = lambda a: from_torch(a) if is_foreign(a) else a
        self.__dict__['_layer'] = self._row.make(*map(ours, args), **{key: ours(a) for key, a in kwargs.items()})

    def forward(self, *args, **kwargs):
        return self._layer(*args, **kwargs)

    def train(self, mode=True):
        self._layer.train(mode)
        return super().train(mode)

    def __setattr__(self, name, value):
        layer = self.__dict__.get('_layer')
        own = dict(layer.state()) if layer is not None else {}
        if name in own and isinstance(value, Tensor):
            if name in dict(layer.parameters()):
                self._set_own({name: value})
            else:
                own[name].copy_(value)
        elif name in own or layer is not None and name in layer.made_with():
            raise AttributeError(f'{type(self).__name__}: {name!r} is what the layer was made with; make another layer')
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        layer = self.__dict__.get('_layer')
        if layer is not None and not name.startswith('_'):
            found, value = layer.own(name)
            if found:
                return value
            made_with = layer.made_with()
            if name in made_with:
                return made_with[name]
            part = layer.part(name)
            if part is not None:
                return wrapped(part)
        return super().__getattr__(name)

    def _own_parameters(self):
        return self._ordinary(self._layer.parameters()) + super()._own_parameters()

    def _own_state(self):
        return self._ordinary(self._layer.state()) + super()._own_state()

    def _convert(self, name):
        self._layer.convert(name)
        super()._convert(name)

    def _set_own(self, tensors):
        self._layer.set_parameters(tensors)
        super()._set_own(tensors)

    def extra_repr(self):
        return self._layer.options()

    def __repr__(self):
        ours = repr(self._layer)  # with the parts that C++ knows
        return super().__repr__() if self._modules else type(self).__name__ + ours[ours.index('('):]


_classes = {}
bases = {}  # of layers whose face is another than that of Layer, by name


def class_of(row):
    """The class of a row of the table."""
    if row.name not in _classes:
        _classes[row.name] = type(row.name, (bases.get(row.name, Layer),), {
            '_row': row, '__doc__': f'{row.name}({row.signature})', '__module__': 'saltern.nn',
            '__signature__': signature_of(row.made_with)})
    return _classes[row.name]


def wrapped(layer):
    """The Python face of a layer that C++ made, as a part of another."""
    module = object.__new__(_classes[layer.name])
    Module.__init__(module)
    module.__dict__['_layer'] = layer
    return module
