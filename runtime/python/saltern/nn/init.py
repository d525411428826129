"""Values to begin with: functions that write over a tensor, and give it."""
from .._rows import functions

_prefix = 'init.'
_named = {name[len(_prefix):]: function for name, function in functions.items() if name.startswith(_prefix)}
globals().update(_named)
__all__ = list(_named)
