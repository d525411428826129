"""Values to begin with: functions that write over a tensor, and give it."""
from .._rows import family

globals().update(family('init'))
__all__ = list(family('init'))
