"""What one does to modules from outside."""
from .clip_grad import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from . import parametrizations, parametrize, rnn
from .parametrizations import spectral_norm, weight_norm
