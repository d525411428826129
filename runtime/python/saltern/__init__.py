"""Saltern: neural networks as linkable kernels. Names and meaning are PyTorch's, where PyTorch has them.

    import saltern
    x = saltern.tensor(array, requires_grad=True)
    net = saltern.nn.Sequential(saltern.nn.Linear(784, 64), saltern.nn.ReLU(), saltern.nn.Linear(64, 10))
    loss = saltern.nn.functional.cross_entropy(net(x), labels)
    loss.backward()

Functions and layers come from the tables that C++ has (runtime/nn): `help(saltern.nn.Linear)` shows their arguments.
"""
from ._rows import functions as _functions
from ._saltern import Tensor, manual_seed
from ._tensors import arange, einsum, from_numpy, full, load, no_grad, ones, save, tensor, zeros
from . import autograd, nn, onnx, ops, optim

globals().update({_name: _function for _name, _function in _functions.items() if _name != 'einsum'})
