"""Linear algebra, with the names and meaning of torch.linalg: the rows `linalg.*` of the table."""
import collections
import functools

from ._rows import family

_results = {'slogdet': 'sign logabsdet', 'qr': 'Q R', 'svd': 'U S Vh', 'eigh': 'eigenvalues eigenvectors',
            'lstsq': 'solution residuals rank singular_values'}


def _named(name, function):
    """The function, whose results have names."""
    results = collections.namedtuple(name, _results[name])

    @functools.wraps(function)
    def named(*args, **kwargs):
        return results(*function(*args, **kwargs))

    return named


_functions = {name: _named(name, f) if name in _results else f for name, f in family('linalg').items()}
globals().update(_functions)
__all__ = list(_functions)
