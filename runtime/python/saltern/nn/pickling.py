"""Layers of C++ as pickle takes them."""
import numpy as np

from .. import _saltern
from .._rows import layers as rows


def _remade(name, made_with, state, training):
    layer = rows[name].make(**made_with)
    for kind in {str(t.dtype) for t in state.values() if np.dtype(t.dtype).kind == 'f'}:
        layer.convert(kind)
    parameters = dict(layer.parameters())
    layer.set_parameters({n: t for n, t in state.items() if n in parameters})
    for n, t in layer.state():
        if n not in parameters:
            t.copy_(state[n])
    layer.train(training)
    return layer


def kept(p):
    """A parameter, without the history of one that is made of others (utils/parametrize.py), and is made again."""
    return p if p is None or p.is_leaf else p.detach()


def _reduced(layer, protocol):
    """As pickle takes a layer of C++: what it was made with, and what it has come to."""
    state = {**dict(layer.state()), **{n: kept(p) for n, p in layer.parameters()}}
    return _remade, (layer.name, layer.made_with(), state, layer.training)


_saltern.Layer.__reduce_ex__ = _reduced
