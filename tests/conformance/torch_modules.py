#!/usr/bin/env python3
"""PyTorch's own database of layers (114 modules, some 3,600 samples) through the Python module: results, gradients of
inputs and parameters, and gradients of gradients beside PyTorch's.

    torch_modules.py [--filter 'nn.Conv*'] [--known FILE] [--report FILE]

Exit 1 where a sample fails that is not in the file of known failures, which says why. Needs PyTorch: `make torch-modules`
installs it into a venv of its own.
"""
import argparse
import collections
import fnmatch
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.testing._internal.common_modules import module_db

import saltern

warnings.filterwarnings('ignore')
PARTS = {'results': 1.1e-3, 'gradients': 1.1e-3, 'second': 1.1e-2}  # of the largest element


def flat(value):
    """All tensors in a nest of tuples, lists and dictionaries."""
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in flat(v)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [value] if isinstance(value, (torch.Tensor, saltern.Tensor)) else []


class Torch:
    def made(self, info, args, kwargs, state):
        module = info.module_cls(*args, **kwargs).float()
        if state is not None:
            module.load_state_dict({name: torch.tensor(v) for name, v in state.items()})
        return module

    def tensor(self, array, wanted):
        return torch.tensor(array, requires_grad=wanted)

    def array(self, t):
        return t.detach().numpy(force=True)

    grad = staticmethod(torch.autograd.grad)


class Saltern:
    def made(self, info, args, kwargs, state):
        module = getattr(saltern.nn, info.name.split('.')[-1])(*args, **kwargs)
        if state:
            module.load_state_dict(state)
        return module

    def tensor(self, array, wanted):
        return saltern.tensor(array, requires_grad=wanted)

    def array(self, t):
        return np.asarray(t)

    grad = staticmethod(saltern.autograd.grad)


def converted(value, api):
    """PyTorch's tensors in a nest as those of an API, in f32."""
    if isinstance(value, torch.Tensor):
        array = value.detach().numpy()
        real = array.dtype.kind == 'f'
        return api.tensor(array.astype(np.float32) if real else array, real and value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(converted(v, api) for v in value)
    if isinstance(value, dict):
        return {key: converted(v, api) for key, v in value.items()}
    return value


def options(function_input):
    return {key: v for key, v in function_input.kwargs.items() if key not in ('device', 'dtype')}


def run(api, info, sample, training, state, second):
    """What PARTS names: lists of arrays."""
    module = api.made(info, sample.constructor_input.args, options(sample.constructor_input), state)
    module.train(training)
    args, kwargs = (converted(v, api) for v in (sample.forward_input.args, sample.forward_input.kwargs))
    results = flat(module(*args, **kwargs))
    found = {'results': [np.array(api.array(t)) for t in results]}
    live = [t for t in results if t.requires_grad]
    wanted = [t for t in flat((args, kwargs)) if t.requires_grad]
    wanted += [p for _, p in sorted(module.named_parameters(), key=lambda named: named[0])]
    if not live or not wanted:
        return found
    random = np.random.default_rng(7)
    drawn = lambda t, wanted: api.tensor(random.standard_normal(tuple(t.shape)).astype(np.float32), wanted)
    arrays = lambda ts, gs: [np.zeros(tuple(t.shape), np.float32) if g is None else np.array(api.array(g))
                             for t, g in zip(ts, gs)]
    weights = [drawn(t, second) for t in live]
    first = api.grad(live, wanted, weights, create_graph=second, allow_unused=True)
    found['gradients'] = arrays(wanted, first)
    again = [g for g in first if second and g is not None and g.requires_grad]
    if again:
        found['second'] = arrays(wanted + weights, api.grad(again, wanted + weights, [drawn(g, False) for g in again],
                                                            allow_unused=True))
    return found


def difference(part, expected, given):
    """What is wrong with a list of arrays; '' where nothing is."""
    if len(expected) != len(given):
        return f'{len(given)} {part} instead of {len(expected)}'
    for i, (a, b) in enumerate(zip(expected, given)):
        if a.shape != b.shape:
            return f'{part} {i}: {b.shape} instead of {a.shape}'
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)):
            return f'{part} {i}: infinite in other places'
        gap = np.abs(a[finite] - b[finite]).max(initial=0)
        if gap > PARTS[part] * max(1, np.abs(a[finite]).max(initial=0)):
            return f'{part} {i}: off by {gap:.3g}'
    return ''


def judged(info, sample, training):
    """'pass', 'left out: ...' where PyTorch has nothing to compare with, or what is wrong."""
    reference = Torch()
    try:
        if 'Lazy' in info.name:
            return 'left out: its parameters come with its first input'
        torch.manual_seed(2)
        first = reference.made(info, sample.constructor_input.args, options(sample.constructor_input), None)
        state = {name: v.detach().numpy() for name, v in first.state_dict().items()}
        for second in (True, False):  # not all of PyTorch's layers have a second derivative
            try:
                expected = run(reference, info, sample, training, state, second)
                break
            except Exception:
                if not second:
                    raise
        torch.manual_seed(4)
        again = run(reference, info, sample, training, state, second)
        if any(difference(part, expected[part], again[part]) for part in expected):
            return 'left out: random'
    except Exception as e:
        return f'left out: PyTorch: {e}'[:200]
    try:
        given = run(Saltern(), info, sample, training, state, second)
        return next(filter(None, (difference(p, expected[p], given.get(p, [])) for p in expected)), 'pass')
    except Exception as e:
        return f'{type(e).__name__}: {e}'[:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--filter', default='*', help='names of modules')
    parser.add_argument('--known', type=pathlib.Path, help='samples that may fail: a name a line, then the reason')
    parser.add_argument('--report', type=pathlib.Path, help='a file for everything that did not pass')
    given = parser.parse_args()
    known = {line.split()[0] for line in given.known.read_text().splitlines() if line and line[0] != '#'} \
        if given.known else set()
    counts, whole, failed = collections.Counter(), 0, {}
    infos = [i for i in module_db if fnmatch.fnmatch(i.name, given.filter)]
    for number, info in enumerate(infos):
        if sys.stderr.isatty():
            print(f'\r{number + 1}/{len(infos)} {info.name:40}', end='', file=sys.stderr)
        outcomes = {}
        for training in (True, False):
            torch.manual_seed(1)
            samples = info.module_inputs_func(info, device='cpu', dtype=torch.float32, requires_grad=True, training=training)
            for i, sample in enumerate(list(samples)):
                outcomes[f'{info.name}/{"train" if training else "eval"}/{i}'] = judged(info, sample, training)
        kinds = collections.Counter(o if o == 'pass' else 'left out' if o.startswith('left out') else 'fail'
                                    for o in outcomes.values())
        counts += kinds
        whole += kinds['pass'] > 0 and kinds['fail'] == 0
        failed.update({name: o for name, o in outcomes.items() if o != 'pass'})
    if sys.stderr.isatty():
        print(file=sys.stderr)
    new = [name for name, o in failed.items() if not o.startswith('left out') and name not in known]
    for name in new:
        print(f'{name}: {failed[name]}')
    if given.report:
        given.report.write_text(''.join(f'{name} {outcome}\n' for name, outcome in failed.items()))
    print(f'{counts["pass"]} of {counts["pass"] + counts["fail"]} samples pass, {counts["left out"]} left out; '
          f'{whole} of {len(infos)} modules whole')
    return 1 if new else 0


if __name__ == '__main__':
    sys.exit(main())
