"""Special functions, with the names of torch.special: the rows `special.*` of the table, and others under that name."""
from ._rows import family, functions

_functions = family('special')
_functions.update({name: functions[name] for name in '''digamma erf erfc erfinv exp2 expm1 gammainc gammaincc log1p log_softmax logit
logsumexp polygamma round sinc softmax xlogy'''.split()})
_functions.update({name: functions[other] for name, other in {
    'expit': 'sigmoid', 'gammaln': 'lgamma', 'multigammaln': 'mvlgamma', 'psi': 'digamma'}.items()})
_functions.update({f'modified_bessel_{name}': _functions[name] for name in ('i0', 'i1')})
globals().update(_functions)
__all__ = list(_functions)
