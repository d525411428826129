#!/usr/bin/env python3
"""Metrics beside torchmetrics: the value of all batches, that of one batch, and that of the function of one batch, with random
and with degenerate inputs. A class without a case is named.

    torch_metrics.py [--filter '*AUROC']

Exit 1 where a value differs. Needs PyTorch and torchmetrics: `make torch-metrics` installs them into a venv of its own.
"""
import argparse
import fnmatch
import importlib
import inspect
import sys
import warnings

import numpy as np
import torch
import torchmetrics

import saltern
from torch_metrics_cases import CASES

warnings.filterwarnings('ignore')
ROOMS = ['', *(f'.{room}' for room in '''classification regression clustering nominal image audio text segmentation detection
retrieval aggregation shape multimodal'''.split())]


def in_torchmetrics(name, of=''):
    for room in ROOMS:
        try:
            return getattr(importlib.import_module(f'torchmetrics{of}{room}'), name)
        except (AttributeError, ModuleNotFoundError):
            continue
    return None


def as_torch(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, dict):
        return {k: as_torch(v) for k, v in value.items()}
    return [as_torch(v) for v in value] if isinstance(value, list) else value


def flat(value, names=()):
    """Pairs of a path and an array."""
    if isinstance(value, dict):
        return [pair for k in value for pair in flat(value[k], (*names, k))]
    if isinstance(value, (tuple, list)):
        return [pair for i, v in enumerate(value) for pair in flat(v, (*names, i))]
    array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    return [(names, array.astype(np.float64))]


def difference(ours, theirs, tolerance):
    a, b = dict(flat(ours)), dict(flat(theirs))
    if a.keys() != b.keys():
        return f'parts {list(a)} and {list(b)}'
    for name in a:
        x, y = a[name], b[name]
        if x.size != y.size or (x.squeeze().shape != y.squeeze().shape):
            return f'shapes {x.shape} and {y.shape} of {name}'
        if not np.allclose(x.reshape(-1), y.reshape(-1), rtol=tolerance, atol=tolerance, equal_nan=True):
            return f'{x.reshape(-1)[:5]} and {y.reshape(-1)[:5]} of {name}'
    return None


def attempt(call):
    """What it gives, or that it gives none."""
    try:
        return call(), None
    except Exception as error:  # of any kind: torchmetrics refuses, and errs, in many ways
        return None, f'{type(error).__name__}: {error}'


def run(metric, batches, update):
    last = None
    for i, batch in enumerate(batches):
        if i + 1 < len(batches):
            update(metric, batch)
        else:
            last = metric(*batch)
    return metric.compute(), last


def checked(case):
    """Differences of a case."""
    theirs = in_torchmetrics(case.name)
    options = {k: as_torch(v) for k, v in case.options.items()}
    batches = [as_torch(list(b)) for b in case.batches]
    wanted, refused = attempt(lambda: run(theirs(**{**options, **case.theirs}), batches, lambda m, b: m.update(*b)))
    ours = getattr(saltern.metrics, case.name)
    if refused:
        _, error = attempt(lambda: run(ours(**case.options), case.batches, lambda m, b: m.update(*b)))
        return [] if error or case.refuses_less else [f'torchmetrics refuses: {refused[:200]}']
    found, error = attempt(lambda: run(ours(**case.options), case.batches, lambda m, b: m.update(*b)))
    if error:
        return [error]
    all = [('all', difference(found[0], wanted[0], case.tolerance))]
    if case.forward:
        all.append(('batch', difference(found[1], wanted[1], case.tolerance)))
    row = ours._row
    function = in_torchmetrics(row.function, '.functional') if row.function and case.function else None
    if function:
        accepted = inspect.signature(function).parameters
        options = {k: v for k, v in options.items() if k in accepted}
        wanted, refused = attempt(lambda: function(*batches[0], **options))
        mine = inspect.signature(getattr(saltern.metrics.functional, row.function)).parameters
        found, error = attempt(lambda: getattr(saltern.metrics.functional, row.function)(
            *case.batches[0], **{k: v for k, v in case.options.items() if k in mine}))
        all.append(('function', refused and f'torchmetrics: {refused}' or error or difference(found, wanted, case.tolerance)))
    return [f'{what}: {d}' for what, d in all if d]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--filter', default='*')
    given = parser.parse_args()
    cases = [c for c in CASES if fnmatch.fnmatch(c.name, given.filter)]
    failed = 0
    for case in cases:
        for text in checked(case):
            failed += 1
            print(f'{case.name} {case.options} {case.what}: {text}')
    untried = sorted({row.name for row in saltern.metrics._metric.rows if '.' not in row.name} - {c.name for c in CASES})
    print(f'{len(cases)} cases of {len({c.name for c in cases})} metrics, {failed} differences'
          + (f'; without a case: {" ".join(untried)}' if untried else ''))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
