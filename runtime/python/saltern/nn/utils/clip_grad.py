"""Gradients that are made less where they are too great (runtime/optim/clipping.h)."""
import math

import numpy as np

from ... import _saltern
from ..._saltern import Tensor
from ..._tensors import tensor


def _listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all of them together."""
    tensors = _listed(tensors)
    norm = _saltern.total_norm(tensors, float(norm_type))
    if error_if_nonfinite and not math.isfinite(norm):
        raise RuntimeError(f'the total norm of order {norm_type} is {norm}: it cannot be clipped')
    return tensor(np.array(norm, np.float64 if any(t.dtype == 'float64' for t in tensors) else np.float32))


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients, whose norm is known, to one of at most max_norm."""
    factor = float(max_norm) / (total_norm.item() + 1e-6)
    if not factor >= 1:
        _saltern.scale_gradients(_listed(parameters), factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients together to a norm of at most max_norm; gives the norm that they had."""
    parameters = _listed(parameters)
    norm = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, norm)
    return norm


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Each element of each gradient between -clip_value and clip_value."""
    _saltern.clip_gradient_value(_listed(parameters), float(clip_value))
