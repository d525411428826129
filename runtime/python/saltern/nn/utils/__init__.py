"""What one does to modules from outside."""
from . import parametrizations, parametrize, rnn
from .parametrizations import spectral_norm, weight_norm
