#!/usr/bin/env python3
"""PyTorch's own database of operators through the Python module: results, gradients, and gradients of gradients beside
PyTorch's, in f32. What has no name here is counted; what has, has to be right.

    torch_operators.py [--filter 'cum*'] [--known FILE] [--report FILE]

Exit 1 where more samples of an operator fail than the file of known failures says, which also says why. Needs PyTorch: `make
torch-operators` installs it into a venv of its own.
"""
import argparse
import collections
import contextlib
import fnmatch
import functools
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import saltern
from torch_modules import Saltern, Torch, converted, difference, flat

warnings.filterwarnings('ignore')


# Where the database has another order of arguments than the function, or a property.
ADAPTED = {
    'where': lambda x, condition, other: saltern.where(condition, x, other),
    'einsum': lambda operands, equation: saltern.einsum(equation, *operands),
    'sum_to_size': lambda x, *size: x.sum_to_size(*size),
    'polygamma': lambda x, n: saltern.polygamma(n, x),
    'special.polygamma': lambda x, n: saltern.special.polygamma(n, x),
    'T': lambda x: x.T,
    'H': lambda x: x.H,
    'mH': lambda x: x.mH,
    'mT': lambda x: x.mT,
    'unfold': lambda x, *args: x.unfold(*args),
    'nn.functional.embedding': lambda weight, index, **options: saltern.nn.functional.embedding(index, weight, **options),
    'nn.functional.embedding_bag':
        lambda weight, index, **options: saltern.nn.functional.embedding_bag(index, weight, **options),
}
# Of devices, of kernels in CUDA, and what has no values.
LEFT_OUT = {'to', 'jiterator_unary', 'jiterator_binary', 'jiterator_4inputs_with_extra_args', 'jiterator_binary_return_by_ref',
            'jiterator_2inputs_2outputs', 'empty', 'empty_like', 'empty_permuted', 'empty_strided', 'new_empty',
            'new_empty_strided'}


def found(info):
    """The function of that name: of the module, of nn.functional, or a tensor's method; None where there is none."""
    if info.name in ADAPTED:
        return ADAPTED[info.name]
    for place in (saltern, saltern.nn.functional, saltern.Tensor):
        try:
            return functools.reduce(getattr, info.name.split('.'), place)
        except AttributeError:
            continue
    return None


def plain(value, api):
    """Arguments as an API takes them: element types by name."""
    if isinstance(value, torch.dtype) and isinstance(api, Saltern):
        return str(value).split('.')[1]
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return type(value)(plain(v, api) for v in value)
    if isinstance(value, dict):
        return {key: plain(v, api) for key, v in value.items() if key not in ('device', 'layout', 'memory_format', 'requires_grad')}
    if isinstance(value, torch.Size) and isinstance(api, Saltern):
        return tuple(value)
    return converted(value, api)


def in_pairs(value):
    """Complex tensors as pairs of real numbers, in a nest of results."""
    if isinstance(value, (tuple, list)):
        return [in_pairs(v) for v in value]
    if isinstance(value, torch.Tensor) and value.is_complex():
        return torch.view_as_real(value)
    return saltern.view_as_real(value) if isinstance(value, saltern.ComplexTensor) else value


def without_zeros(expected, given):
    """What is given, with zeros where a gradient is 0 and was not taken."""
    return given or ([np.zeros_like(a) for a in expected] if not any(a.any() for a in expected) else given)


def run(api, function, sample, second):
    """Lists of arrays: results, gradients, and those of second order."""
    args, kwargs = plain([sample.input, *sample.args], api), plain(sample.kwargs, api)
    wanted = [t for t in flat((args, kwargs)) if t.requires_grad]
    results = flat(in_pairs(sample.output_process_fn_grad(function(*args, **kwargs))))
    arrays = {'results': [np.array(api.array(t)) for t in results]}
    live = [t for t in results if t.requires_grad]
    if not live or not wanted:
        return arrays
    random = np.random.default_rng(7)
    drawn = lambda t, needed: api.tensor(random.standard_normal(tuple(t.shape)).astype(api.array(t).dtype), needed)
    of = lambda ts, gs: [np.zeros(tuple(t.shape), np.float32) if g is None else np.array(api.array(g))
                         for t, g in zip(ts, gs)]
    weights = [drawn(t, second) for t in live]
    first = api.grad(live, wanted, weights, create_graph=second, allow_unused=True)
    arrays['gradients'] = of(wanted, first)
    again = [g for g in first if second and g is not None and g.requires_grad]
    if again:
        arrays['second'] = of(wanted + weights, api.grad(again, wanted + weights, [drawn(g, False) for g in again],
                                                         allow_unused=True))
    return arrays


@contextlib.contextmanager
def other_numbers():
    """Other random numbers, also of operators that set the seed themselves."""
    seed = torch.manual_seed
    torch.manual_seed = torch.random.manual_seed = lambda number: seed(number + 1000)
    torch.manual_seed(4)
    yield
    torch.manual_seed = torch.random.manual_seed = seed


def judged(info, function, sample):
    """'pass', 'left out: ...' where PyTorch has nothing to compare with, or what is wrong."""
    api = Torch()
    try:
        for second in (True, False):  # not all of PyTorch's operators have a second derivative
            try:
                torch.manual_seed(2)
                expected = run(api, info.op, sample, second)
                break
            except Exception:
                if not second:
                    raise
        with other_numbers():
            again = run(api, info.op, sample, second)
        if any(difference(part, expected[part], again[part]) for part in expected):
            return 'left out: random'
    except Exception as e:
        return f'left out: PyTorch: {e}'[:200]
    try:
        given = run(Saltern(), function, sample, second)
        return next(filter(None, (difference(p, expected[p], without_zeros(expected[p], given.get(p, []))) for p in expected)), 'pass')
    except Exception as e:
        return f'{type(e).__name__}: {e}'.replace('\n', ' ')[:200]


def samples_of(info):
    torch.manual_seed(1)
    differentiable = info.supports_autograd
    return list(info.sample_inputs('cpu', torch.float32, requires_grad=differentiable))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--filter', default='*', help='names of operators')
    parser.add_argument('--known', type=pathlib.Path, help='operators that may fail: a name a line, and how many samples')
    parser.add_argument('--report', type=pathlib.Path, help='a file for everything that did not pass')
    given = parser.parse_args()
    known = {}
    for line in given.known.read_text().splitlines() if given.known else []:
        if line and line[0] != '#':
            known[line.split()[0]] = int(line.split()[1])
    infos = [i for i in op_db if fnmatch.fnmatch(i.name, given.filter) and torch.float32 in i.dtypes and i.name not in LEFT_OUT]
    infos = list({i.name: i for i in reversed(infos)}.values())[::-1]  # variants of one name are tried once
    counts, lines, new, better = collections.Counter(), [], [], []
    for number, info in enumerate(infos):
        if sys.stderr.isatty():
            print(f'\r{number + 1}/{len(infos)} {info.name:40}', end='', file=sys.stderr)
        function = found(info)
        if function is None:
            counts['missing'] += 1
            lines.append(f'{info.name} missing')
            continue
        try:
            samples = samples_of(info)
        except Exception:
            samples = []
        outcomes = [judged(info, function, sample) for sample in samples]
        wrong = [o for o in outcomes if o != 'pass' and not o.startswith('left out')]
        passed = outcomes.count('pass')
        counts['samples'] += passed + len(wrong)
        counts['passed'] += passed
        kind = 'wrong' if wrong else 'right' if passed else 'left out'
        counts[kind] += 1
        if len(wrong) < known.get(info.name, 0):
            better.append(f'{info.name} {len(wrong)}')
        if kind == 'right':
            continue
        lines.append(f'{info.name} {kind}: {passed} of {passed + len(wrong)}: {(wrong or outcomes or ["no samples"])[0]}')
        if len(wrong) > known.get(info.name, 0):
            new.append(lines[-1])
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print('\n'.join(new))
    if better:
        print('fewer fail than are known to:', ', '.join(better))
    if given.report:
        given.report.write_text(''.join(f'{line}\n' for line in lines))
    print(f'{counts["right"]} of {len(infos)} operators are right, {counts["wrong"]} wrong in some samples, '
          f'{counts["missing"]} missing, {counts["left out"]} left out; {counts["passed"]} of {counts["samples"]} samples pass')
    return 1 if new else 0


if __name__ == '__main__':
    sys.exit(main())
