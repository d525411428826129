"""Windows, with the names and arguments of torch.signal.windows: the rows `windows.*` of the table."""
from .._rows import family

_functions = family('windows')
globals().update(_functions)
__all__ = list(_functions)
