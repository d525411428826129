"""What one does to modules from outside."""
from . import parametrizations, parametrize
from .parametrizations import spectral_norm, weight_norm
