"""Saltern: neural networks as linkable kernels. Names and meaning are PyTorch's, where PyTorch has them.

    import saltern
    x = saltern.tensor(array, requires_grad=True)
    net = saltern.nn.Sequential(saltern.nn.Linear(784, 64), saltern.nn.ReLU(), saltern.nn.Linear(64, 10))
    loss = saltern.nn.functional.cross_entropy(net(x), labels)
    loss.backward()

Functions and layers come from the tables that C++ has (runtime/nn): `help(saltern.nn.Linear)` shows their arguments.
"""
from ._rows import functions as _functions
from ._saltern import Tensor, get_num_threads, manual_seed, set_num_threads
from ._tensors import batching, einsum, from_dlpack, from_numpy, full, load, no_grad, ones, save, tensor, zeros
from . import autograd, distributions, fft, keras, linalg, masked, metrics, nn, onnx, ops, optim, signal, special, training, transforms
from ._summary import summary

globals().update({_name: _function for _name, _function in _functions.items() if _name != 'einsum'})
from ._making import *  # noqa: E402, F403: some of which take several tensors where the table has a list
from ._aliases import *  # noqa: E402, F403
from .special import i0
from ._complex import ComplexTensor, abs, angle, complex, conj, imag, is_complex, polar, real, view_as_complex, view_as_real
from .signal import bartlett_window, blackman_window, hamming_window, hann_window, istft, kaiser_window, stft


def compile(net, example, threads=None):
    """A net, or a model that was loaded, with kernels for the exact shapes of an example: help(saltern.compiler)."""
    from .compiler import compile as compile_now  # which loads Halide

    return compile_now(net, example, threads)
